"""Of several deaths in one kernel log the last ones speak; a crash that follows from a refusal is a symptom."""

from collections.abc import Callable

import pytest

from forensics.model import Report
from forensics.report.course import first_shown


def killed(at: float, pid: int) -> str:
    sizes = "total-vm:900000kB, anon-rss:300000kB, file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:900kB oom_score_adj:0"
    return f"[{at:12.6f}] Memory cgroup out of memory: Killed process {pid} (python) {sizes}"


def crashed(at: float, pid: int) -> str:
    return f"[{at:12.6f}] python[{pid}]: segfault at 0 ip 00007f00 sp 00007f10 error 4 in libx.so[1000+2000]"


def test_the_last_of_several_deaths_speaks(analyze: Callable[..., Report]) -> None:
    for before in (500, 100):
        first = analyze(dmesg="\n".join([killed(before, 11), killed(900, 22), killed(901, 23)])).causes[0]
        assert first.facts["pid"] == 22
        lines = [p.line for p in first.evidence]
        assert lines[0] == 2
        assert 3 in lines


def test_an_error_after_which_the_program_continued_does_not_speak_for_the_last_one(analyze: Callable[..., Report]) -> None:
    steps = [f"2026-11-22 10:{i // 60:02d}:{i % 60:02d} INFO step {i} loss 0.{i % 10}1" for i in range(240)]
    tracebacks = [
        ["Traceback (most recent call last):", f'  File "/job/train.py", line {line}, in {where}', "    run()", error]
        for line, where, error in ((12, "save", "AttributeError: no saver"), (40, "step", "ZeroDivisionError: division by zero"))
    ]
    first = analyze(job="\n".join([*steps[:60], *tracebacks[0], *steps[60:], *tracebacks[1]])).causes[0]
    assert first.id == "code.exception"
    assert first.facts["exc_type"] == "ZeroDivisionError"
    assert first.evidence[0].text == "ZeroDivisionError: division by zero"


def test_a_crash_right_behind_a_refused_fork_is_a_consequence_of_it(analyze: Callable[..., Report]) -> None:
    refused = "[  100.000000] cgroup: fork rejected by pids controller in /job"
    causes = analyze(dmesg="\n".join([refused, crashed(101, 22)])).causes
    assert next(c.role for c in causes if c.id == "process.segfault") == "symptom"


def test_a_fact_about_another_device_completes_no_sentence(analyze: Callable[..., Report]) -> None:
    """`Reading or writing nvme0 failed at sector 9`: nvme0 stopped answering, and the sector is one of nvme1n1."""
    first = analyze(
        dmesg="[65421.815294] nvme nvme0: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0xffff\n"
        "[65425.950019] print_req_error: I/O error, dev nvme1n1, sector 895222784\n"
    ).causes[0]
    assert first.id == "storage.io_error"
    assert not ("nvme0" in first.summary and "895222784" in first.summary)


def run(place: int, device: str, steps: int = 12) -> list[str]:
    """An attempt that ends at train.py:`place`: the message is the same in each, the place is not."""
    told = f"Expected all tensors to be on the same device, but found at least two devices, {device} and cpu!"
    frame = [f'  File "/job/train.py", line {place}, in step', "    y = adj @ x"]
    return [
        "loading the data from /job/data",
        "building the model of 12 layers",
        *(f"step {i} loss 0.{i}1" for i in range(steps)),
        *("Traceback (most recent call last):", *frame, f"RuntimeError: {told}"),
    ]


def test_message_place_and_line_are_of_the_last_attempt(analyze: Callable[..., Report]) -> None:
    """The same message at another place in each attempt: no sentence has the one's message and the other's place."""
    lines = run(410, "cuda:0") + run(106, "cuda:0")
    first = analyze(job="\n".join(lines)).causes[0]
    assert first.facts["line_no"] == 106
    assert first.evidence[0].line == len(lines)
    assert [p.line for p in first.evidence if "410" in p.text] == []


def test_the_time_told_is_that_of_the_death_told(analyze: Callable[..., Report]) -> None:
    report = analyze(dmesg="\n".join(crashed(at, pid) for at, pid in ((6437, 11), (7665, 22), (8193, 33))))
    first = report.causes[0]
    assert first.facts["pid"] == 33
    assert [(p.line, p.earlier) for p in first.evidence] == [(3, False), (1, True), (2, True)]
    assert first_shown(report) == "2 h 16 min after boot"
    assert "It is the last of 3 such deaths" in first.summary


def test_the_remedy_is_for_the_error_of_the_last_attempt(analyze: Callable[..., Report]) -> None:
    numpy = (
        "TypeError: can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
    )
    lines = [*run(410, "cuda:0")[:-1], numpy, *run(106, "cuda:0")]
    first = analyze(job="\n".join(lines)).causes[0]
    assert "NumPy" not in first.summary
    assert not any("NumPy" in a.action for a in first.remediations)


def dated_kill(time: str, pid: int, task: str, rss_kb: int, group: str = "/batch") -> str:
    head = f"[Tue Jun  2 {time} 2026] "
    victim = f"oom_memcg={group},task_memcg={group},task={task},pid={pid},uid=1000\n"
    sizes = f"total-vm:9900000kB, anon-rss:{rss_kb}kB, file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:900kB oom_score_adj:0\n"
    constraint = f"{head}oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,{victim}"
    return f"{constraint}{head}Memory cgroup out of memory: Killed process {pid} ({task}) {sizes}"


@pytest.mark.parametrize("named, rss_kb, time", [(6120, 102400, "10:05:31"), (6188, 204800, "10:05:38")])
def test_of_two_kills_of_one_group_the_one_is_told_whose_pid_the_job_names(
    analyze: Callable[..., Report], named: int, rss_kb: int, time: str
) -> None:
    kills = dated_kill("10:05:31", 6120, "python", 102400) + dated_kill("10:05:38", 6188, "python", 204800)
    job = f"2026-06-02 10:05:30,118 INFO fit: pid {named}\nbash: line 12: {named} Killed                  python fit.py\n"
    report = analyze(dmesg=kills, job=job)
    first = report.causes[0]
    assert (first.id, first.facts["pid"], first.facts["anon_rss_bytes"]) == ("host_memory.oom_cgroup", named, rss_kb * 1024)
    assert f"Killed process {named}" in first.evidence[0].text
    assert first_shown(report) == f"2026-06-02 {time}"
    assert str(named) in first.where
    assert not any(str(pid) in first.where + first.summary for pid in {6120, 6188} - {named})
    assert "such deaths" not in first.summary or named == 6188  # 6120 did not die last


def test_a_death_at_the_limit_of_another_group_is_no_such_death(analyze: Callable[..., Report]) -> None:
    others = "".join(dated_kill(f"10:0{i}:00", 5000 + i, "python", 102400, f"/other-{i}") for i in range(4))
    report = analyze(dmesg=others + dated_kill("10:09:00", 6188, "python", 102400))
    assert report.causes[0].facts["pid"] == 6188
    assert "such deaths" not in report.causes[0].summary
    again = analyze(dmesg=dated_kill("10:08:00", 6120, "python", 102400) + dated_kill("10:09:00", 6188, "python", 102400))
    assert "It is the last of 2 such deaths" in again.causes[0].summary


@pytest.mark.parametrize("told, workers", [("python3", False), ("pt_data_worker", True)])
def test_advice_is_on_the_process_that_is_told_not_on_one_killed_hours_before(
    analyze: Callable[..., Report], told: str, workers: bool
) -> None:
    other = "python3" if workers else "pt_data_worker"
    kills = dated_kill("08:10:04", 5310, other, 102400) + dated_kill("11:25:47", 6188, told, 204800)
    first = analyze(dmesg=kills).causes[0]
    assert first.facts["task"] == told
    assert any("loader workers" in a.action for a in first.remediations) == workers


def reported(at: float, pid: int, limit_kib: int) -> list[str]:
    """The kernel's report of a kill at the limit of the group /lab."""
    return [
        f"[{at:12.6f}] python invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
        f"[{at:12.6f}] memory: usage {limit_kib}kB, limit {limit_kib}kB, failcnt 39",
        f"[{at:12.6f}] Memory cgroup stats for /lab:",
        f"[{at:12.6f}] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/lab,"
        f"task_memcg=/lab,task=python,pid={pid},uid=0",
        killed(at, pid),
    ]


@pytest.mark.parametrize(("limit_kib", "deaths"), [(409600, 2), (307200, 0)])
def test_a_kill_at_another_limit_of_the_same_group_is_no_evidence_and_not_counted(
    analyze: Callable[..., Report], limit_kib: int, deaths: int
) -> None:
    first = analyze(dmesg="\n".join([*reported(500, 4321, limit_kib), *reported(520, 4400, 409600)])).causes[0]
    assert first.facts["pid"] == 4400
    assert ("last of 2 such deaths at this limit" in first.summary) == bool(deaths)
    assert any(p.line <= 5 for p in first.evidence) == bool(deaths)


def test_an_earlier_kill_in_the_group_of_the_job_is_not_its_own_by_the_group(analyze: Callable[..., Report]) -> None:
    """A memory group outlives a job: what ran in it before is another's."""
    job = (
        "E1201 04:52:07.564000 10613 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: -9) "
        "local_rank: 1 (pid: 10669) of binary: python\n"
    )
    kernel = "\n".join([*reported(500, 26260, 409600), *reported(1320, 10669, 409600)])
    found = analyze(job_log=job, kern_log=kernel)
    assert found.causes[0].facts["pid"] == 10669
    assert all(p.line > 5 for p in found.causes[0].evidence if p.source == "kern.log")
    assert 5 in {n.line for n in found.notices if n.owner == "others"}


def test_who_sent_a_signal_is_told_where_a_capture_names_it(analyze: Callable[..., Report]) -> None:
    mark = "[2026-12-01T04:46:00.705909+00:00] forensics run: "
    log = (
        f"{mark}signal 15 (SIGTERM) was sent to pid 31446 (python) by pid 31439 (guard.sh): sh /opt/guard.sh\n"
        f"{mark}the command, pid 31446 (python), was ended by signal 15 (SIGTERM) after 1.9 s\n"
    )
    first = analyze(job_log=log).causes[0]
    assert first.id == "stopped.user"
    assert first.summary == (
        "guard.sh (pid 31439) sent SIGTERM to python (pid 31446). What sent it was started as `sh /opt/guard.sh`."
    )
    assert sum(a.action.startswith("If this was you") for a in first.remediations) == 1
    assert any("31439" in a.action for a in first.remediations)


def test_what_the_kernel_ended_is_told_with_the_step_that_it_had_reached(analyze: Callable[..., Report]) -> None:
    job = [f"2026-11-22 10:00:{i:02d} INFO epoch 2 step {200 + i} loss 0.5" for i in range(20)]
    job.append("./run.sh: line 3: 22 Killed                  python train.py")
    first = analyze(job="\n".join(job), dmesg=killed(900, 22)).causes[0]
    assert first.id.startswith("host_memory.oom_")
    assert "pid 22" in first.where and "step 219" in first.where
