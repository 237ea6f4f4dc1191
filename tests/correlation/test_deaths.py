"""A death that only the host's log tells is told with confidence where a name or a number shows that it is the job's.

What nothing but time or place ties to the job may be named first, and never with confidence.

All logs here are made for these tests.
"""

from collections.abc import Callable

import pytest

from forensics.decision.unlinked import UNKNOWN_OWNER_MAX_PROBABILITY
from forensics.model import Report

HEAD = "[Fri Aug 22 {time} 2025] python invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n"
USAGE = "[Fri Aug 22 {time} 2025] memory: usage 307200kB, limit 307200kB, failcnt 90\n"
KILL = (
    "[Fri Aug 22 {time} 2025] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg={group},"
    "task_memcg={group},task=python,pid={pid},uid=1000\n"
    "[Fri Aug 22 {time} 2025] Memory cgroup out of memory: Killed process {pid} (python) total-vm:9kB, anon-rss:7kB, file-rss:0kB\n"
)
SEGFAULT = (
    "[Fri Aug 22 {time} 2025] python[8]: segfault at 0 ip 00007f9a40970a89 sp 00007ffc1ccf0558 error 4 in libc.so.6[7f9a+1000]\n"
)
RAISED = 'Traceback (most recent call last):\n  File "/home/u/train.py", line 6, in load\n    row["label"]\nKeyError: \'label\'\n'
RESTARTED = "[W 2025-08-22 {time}.100 ServerApp] kernel a029d92a-d966-4ab2-a3e0-fda7ac247091 restarted\n"
SAVING = "[I 2025-08-22 {time}.508 ServerApp] Saving file at /train.ipynb\n"


def killed(time: str, group: str = "/job_7", pid: int = 7) -> str:
    return (HEAD + USAGE + KILL).format(time=time, group=group, pid=pid)


def steps(first: int, last: int) -> str:
    """A step of training at each second of the minute 03:40."""
    return "".join(f"2025-08-22 03:40:{s:02d},000 INFO train: step {s} loss 0.5\n" for s in range(first, last + 1))


def told(report: Report) -> float:
    """How probable the kill is."""
    return max((f.probability for f in report.causes if f.id == "host_memory.oom_cgroup"), default=0.0)


def test_a_death_hours_behind_the_last_line_of_a_log_is_not_its_own(analyze: Callable[..., Report]) -> None:
    """A log may break off where its process was killed; a job that lived two hours longer would have printed a line."""
    soon = analyze(dmesg_txt=killed("03:49:03"), train_log=steps(0, 59))
    assert (soon.causes[0].id, told(soon) <= UNKNOWN_OWNER_MAX_PROBABILITY) == ("host_memory.oom_cgroup", True)
    for late in (killed("05:49:03"), killed("03:40:03").replace("Aug 22", "Aug 23")):
        report = analyze(dmesg_txt=late, train_log=steps(0, 59))
        assert report.causes[0].id != "host_memory.oom_cgroup"
        assert "others" in {n.owner for n in report.notices}
    container = analyze(dmesg_txt=killed("06:41:03"), train_log=steps(0, 59))  # in UTC, and the kernel in local time
    assert (container.causes[0].id, told(container) <= UNKNOWN_OWNER_MAX_PROBABILITY) == ("host_memory.oom_cgroup", True)


@pytest.mark.parametrize(
    "log",
    [
        pytest.param(steps(30, 40), id="began after it"),
        pytest.param(steps(30, 40) + RAISED.split("KeyError")[0], id="began after it, its reason cut off"),
        pytest.param(steps(30, 40) + "KeyError: 'label'\n", id="began after it, and only the last line of its traceback is left"),
        pytest.param("step 1 loss 0.5\nstep 2 loss 0.4\nKeyError: 'label'\n", id="no times, and an end of its own"),
        pytest.param("step 1 loss 0.5\nstep 2 loss 0.4\n", id="no times, and no end"),
        pytest.param("", id="nothing"),
        pytest.param(steps(0, 59), id="goes on"),
    ],
)
def test_a_death_that_nothing_shows_to_be_the_jobs_is_not_told_with_confidence(analyze: Callable[..., Report], log: str) -> None:
    assert told(analyze(dmesg_txt=killed("03:40:03"), train_log=log)) <= UNKNOWN_OWNER_MAX_PROBABILITY


@pytest.mark.parametrize(
    "log",
    [
        pytest.param(steps(0, 40), id="breaks off then"),
        pytest.param(steps(0, 40) + "Killed\n", id="tells it then"),
        pytest.param("step 1 loss 0.5\nKilled\n", id="tells it without a time"),
    ],
)
def test_a_death_that_only_time_ties_to_the_job_is_named_and_not_sure(analyze: Callable[..., Report], log: str) -> None:
    report = analyze(dmesg_txt=killed("03:40:41"), train_log=log)
    assert report.causes[0].id == "host_memory.oom_cgroup"
    assert 0.5 < told(report) <= UNKNOWN_OWNER_MAX_PROBABILITY


def test_a_death_whose_pid_the_job_tells_is_the_jobs(analyze: Callable[..., Report]) -> None:
    log = "step 1\nRuntimeError: DataLoader worker (pid 7) is killed by signal: Killed.\n"
    report = analyze(dmesg_txt=killed("03:40:41"), train_log=log)
    assert report.causes[0].id == "host_memory.oom_cgroup"
    assert told(report) > 0.9


def test_what_would_show_it_is_told(analyze: Callable[..., Report]) -> None:
    report = analyze(dmesg_txt=killed("03:40:03"), train_log="step 1 loss 0.5\nstep 2 loss 0.4\n")
    assert report.causes[0].id == "host_memory.oom_cgroup"
    assert "whether the process that died belonged to the job" in [m.what for m in report.missing]


def test_a_hosts_log_alone_needs_no_job(analyze: Callable[..., Report]) -> None:
    assert told(analyze(dmesg_txt=killed("03:40:03"))) > 0.9


def test_of_two_deaths_the_one_at_the_moment_is_the_jobs(analyze: Callable[..., Report]) -> None:
    server = SAVING.format(time="03:39:00") + RESTARTED.format(time="03:40:30")
    both = killed("03:40:06") + SEGFAULT.format(time="03:40:30")
    assert told(analyze(dmesg_txt=both, jupyter_log=server)) <= UNKNOWN_OWNER_MAX_PROBABILITY
    assert told(analyze(dmesg_txt=killed("03:40:29"), jupyter_log=server)) > 0.5


def test_the_pieces_of_a_report_are_one(analyze: Callable[..., Report]) -> None:
    """A piece that does not say whose death it tells is no evidence of its own against us."""
    log = steps(0, 40)
    assert told(analyze(dmesg_txt=killed("03:40:41", "/slurm/uid_1/job_1"), slurm_2_out=log)) > 0.5  # not called slurm-2.out
    pieces = HEAD + USAGE + KILL.format(time="{time}", group="/slurm/uid_1/job_1", pid=7).splitlines(keepends=True)[0]
    given = {"dmesg.txt": pieces.format(time="03:40:41"), "slurm-2.out": log}
    assert told(analyze(**given)) <= UNKNOWN_OWNER_MAX_PROBABILITY
    assert told(analyze(**{"dmesg.txt": given["dmesg.txt"], "slurm-1.out": log})) > 0.9


def test_an_attempt_that_was_killed_and_followed_by_another_is_not_the_end(analyze: Callable[..., Report]) -> None:
    later = "".join(
        f"2025-08-22 03:4{m}:{s:02d},000 INFO train: step {s} loss 0.5\n" for m in range(1, 5) for s in range(0, 60, 9)
    )
    full = "OSError: [Errno 28] No space left on device: 'step9.npy'\n"
    report = analyze(
        dmesg_txt=killed("03:40:41"), train_log=steps(0, 40) + "the attempt ended with exit status 137\n" + later + full
    )
    assert report.causes[0].id == "storage.full"


@pytest.mark.parametrize(
    "end",
    [
        pytest.param(RAISED, id="a mistake of its own"),
        pytest.param("2025-08-22 03:40:41,000 INFO train: training finished\nexit status 0\n", id="ended well"),
    ],
)
def test_a_death_at_the_jobs_end_that_does_not_explain_it_is_anothers(analyze: Callable[..., Report], end: str) -> None:
    report = analyze(dmesg_txt=killed("03:40:37"), train_log=steps(0, 40) + end)
    assert report.causes[0].id in ("code.exception", "none.healthy")


def test_a_job_that_began_after_a_death_and_worked_for_a_while_died_of_another(analyze: Callable[..., Report]) -> None:
    report = analyze(dmesg_txt=killed("03:40:01"), train_log=steps(20, 40) + "Killed\n")
    assert report.causes[0].id == "process.worker_died"


@pytest.mark.parametrize("stamp", ["[Fri Aug 22 {time} 2025]", "[{up}.000000]"])
def test_without_a_time_in_the_jobs_log_the_last_death_counts(analyze: Callable[..., Report], stamp: str) -> None:
    def kernel(text: str, time: str, up: int) -> str:
        head = "[Fri Aug 22 {time} 2025]"
        return text.replace(head, stamp).format(time=time, up=up, group="/job_7", pid=7)

    log = kernel(SEGFAULT, "03:01:01", 9061) + kernel(HEAD + USAGE + KILL, "03:02:01", 9121)
    report = analyze(dmesg_txt=log, nbconvert_log="nbclient.exceptions.DeadKernelError: Kernel died\n")
    assert report.causes[0].id == "host_memory.oom_cgroup"


@pytest.mark.parametrize(("pid", "first"), [(50119, "process.worker_died"), (57, "host_memory.oom_cgroup")])
def test_a_death_beside_one_that_the_job_tells_by_another_pid_is_anothers(
    analyze: Callable[..., Report], pid: int, first: str
) -> None:
    """A small number is a container's own, which the kernel knows by another."""
    log = steps(0, 40) + f"RuntimeError: DataLoader worker (pid {pid}) is killed by signal: Killed.\n"
    assert analyze(dmesg_txt=killed("03:40:39", pid=50117), train_log=log).causes[0].id == first


def test_where_a_log_breaks_off_its_own_pid_tells_whether_the_killed_process_was_its_program(
    analyze: Callable[..., Report],
) -> None:
    def probability(log: str, kernel: str) -> float:
        return told(analyze(dmesg_txt=kernel, train_log=log))

    named, kernel = "2025-08-22 03:40:00,000 INFO train: pid {pid} trains\n" + steps(1, 20), killed("03:40:21", pid=10598)
    assert probability(named.format(pid=10598), kernel) > 0.8
    assert probability(named.format(pid=10578), kernel) <= UNKNOWN_OWNER_MAX_PROBABILITY
    assert probability(named.format(pid=23), kernel) > 0.8  # in a container
    cut = (
        kernel[: kernel.index("oom-kill:")] + HEAD.split("python")[0].format(time="03:40:21") + "CPU: 1 PID: 10598 Comm: python\n"
    )
    assert probability(named.format(pid=10578), cut) <= UNKNOWN_OWNER_MAX_PROBABILITY


FULL = (
    "[rank1]: OSError: [Errno 28] No space left on device: 'dump/140.pt'\n"
    "[rank0]: RuntimeError: [gloo/transport/tcp/pair.cc:547] Connection closed by peer [127.0.0.1]:27124\n"
)


@pytest.mark.parametrize(
    ("end", "first"), [(FULL, "storage.full"), (FULL.splitlines(keepends=True)[1], "host_memory.oom_cgroup")]
)
def test_what_follows_from_a_reason_in_the_same_log_ties_no_death(analyze: Callable[..., Report], end: str, first: str) -> None:
    stamped = "".join(f"2025-08-22 03:40:41,{i}00 ERROR train: {line}\n" for i, line in enumerate(end.splitlines()))
    assert analyze(dmesg_txt=killed("03:40:41"), train_log=steps(0, 40) + stamped).causes[0].id == first


def test_a_crash_of_another_pid_is_no_evidence(analyze: Callable[..., Report]) -> None:
    crash = "[Fri Aug 22 03:40:40 2025] python[88000]: segfault at 20 ip 00007fa6 sp 00007fa6 error 4 in libc.so.6[156219]\n"
    log = steps(0, 40) + "2025-08-22 03:40:41,000 INFO distributed.nanny: Worker process 50117 was killed by signal 11\n"
    report = analyze(dmesg_txt=crash, train_log=log)
    assert report.causes[0].evidence
    assert not any(p.source.endswith("dmesg.txt") for p in report.causes[0].evidence)


@pytest.mark.parametrize(
    ("end", "first"), [(RAISED, "code.exception"), ("2025-08-22 03:40:40,000 INFO train: step 41\n", "process.segfault")]
)
def test_a_mistake_in_one_ranks_log_is_why_the_others_miss_it(analyze: Callable[..., Report], end: str, first: str) -> None:
    lost = "RuntimeError: [gloo/transport/tcp/pair.cc:547] Connection closed by peer [127.0.0.1]:27124\n"
    report = analyze(dmesg_txt=SEGFAULT.format(time="03:40:40"), rank0_log=steps(0, 40) + lost, rank1_log=steps(0, 40) + end)
    assert report.causes[0].id == first


@pytest.mark.parametrize("message", ["[enforce fail at store.cc:47] . no room in the index", "remote process exited"])
def test_a_crash_beside_ranks_that_tell_of_peers_is_never_told_with_confidence(
    analyze: Callable[..., Report], message: str
) -> None:
    raised = RAISED.replace("KeyError: 'label'", f"RuntimeError: {message}")
    lost = "[rank1]: RuntimeError: [gloo/transport/tcp/pair.cc:547] Connection closed by peer [127.0.0.1]:27124\n"
    log = steps(0, 40) + "".join(f"[rank0]: {line}\n" for line in raised.splitlines()) + lost
    report = analyze(dmesg_txt=SEGFAULT.format(time="03:40:40"), train_log=log)
    crash = next((c for c in report.causes if c.id == "process.segfault"), None)
    assert crash is None or crash.probability <= UNKNOWN_OWNER_MAX_PROBABILITY


def test_a_worker_that_its_supervisor_names_is_not_another_that_was_killed(analyze: Callable[..., Report]) -> None:
    log = "[2025-08-22 03:40:41 +0000] [50114] [CRITICAL] WORKER TIMEOUT (pid:50117)\n"
    assert analyze(dmesg_txt=killed("03:40:40", pid=50167), server_log=log).causes[0].id == "process.stalled"


def test_of_two_deaths_the_one_whose_pid_the_log_has_is_the_jobs(analyze: Callable[..., Report]) -> None:
    """Although the other's number is near enough to be a thread's."""
    crash = SEGFAULT.replace("python[8]", "python[50160]").format(time="03:40:38")
    log = (
        steps(0, 40) + "2025-08-22 03:40:41,000 ERROR torch: failed (exitcode: -9) local_rank: 1 (pid: 50117) of binary: python\n"
    )
    report = analyze(dmesg_txt=crash + killed("03:40:40", pid=50117), train_log=log)
    assert report.causes[0].id == "host_memory.oom_cgroup"


def test_a_file_that_one_rank_misses_is_why_the_launcher_ends_the_others(analyze: Callable[..., Report]) -> None:
    end = RAISED.replace("KeyError: 'label'", "FileNotFoundError: [Errno 2] No such file or directory: '/data/rank1.json'")
    aborted = "MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD\nwith errorcode 1.\n"
    report = analyze(dmesg_txt=killed("03:40:38"), mpi_log=steps(0, 40) + end + aborted)
    assert report.causes[0].id == "data.missing"


@pytest.mark.parametrize(
    ("end", "first"),
    [
        ("exit status 0\n", "none.healthy"),
        ('papermill.exceptions.PapermillExecutionError: \nException encountered at "In [3]":\n' + RAISED, "code.exception"),
    ],
)
def test_a_notebook_does_not_break_off(analyze: Callable[..., Report], end: str, first: str) -> None:
    cell = '{"cell_type": "code", "execution_count": 1, "metadata": {"papermill": {"end_time": "2025-08-22T03:40:41.1"}}, '
    cell += '"outputs": [{"name": "stdout", "output_type": "stream", "text": ["saved\\n"]}], "source": ["fit()"]}'
    book = f'{{"cells": [{cell}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 5}}'
    report = analyze(dmesg_txt=killed("03:40:40"), out_ipynb=book, papermill_log=end)
    assert report.causes[0].id == first


MISSED = 'Traceback (most recent call last):\n  File "/home/u/evaluate.py", line 6, in main\n    open("last.ckpt")\n'
NO_FILE = "FileNotFoundError: [Errno 2] No such file or directory: 'last.ckpt'\n"


def test_a_file_that_one_of_two_programs_misses_leads_a_death_that_nothing_ties(analyze: Callable[..., Report]) -> None:
    other = "2025-08-22 03:39:40,500 INFO evaluate: evaluating\n2025-08-22 03:40:11,600 ERROR evaluate: gone\n" + MISSED + NO_FILE
    report = analyze(dmesg_txt=killed("03:40:10"), train_log=steps(0, 10), evaluate_log=other)
    assert report.causes[0].id == "data.missing"
