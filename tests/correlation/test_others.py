"""What a host's log tells of other processes is not blamed for the job's death."""

from collections.abc import Callable

import pytest

from forensics import pipeline
from forensics.database import Database
from forensics.model import Report
from tests.conftest import text_source

KILL = (
    "[Fri Aug 22 {time} 2025] oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,"
    "task_memcg=/user.slice,task=browser,pid=991,uid=1000\n"
    "[Fri Aug 22 {time} 2025] Out of memory: Killed process 991 (browser) total-vm:9kB, anon-rss:7kB, file-rss:0kB, shmem-rss:0kB\n"
)
SEGFAULT = "[Fri Aug 22 {time} 2025] browser[991]: segfault at 0 ip 00007f9a40970a89 sp 00007ffc1ccf0558 error 4 in libc.so.6[7f9a+1000]\n"
JOB = "2025-08-22 03:{minute:02d}:00,000 INFO step {minute} loss 0.5\n"
ERROR = "2025-08-22 03:40:01,000 ERROR RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 16x2)\n"


def job(*more: str) -> str:
    return "".join(JOB.format(minute=m) for m in range(41)) + "".join(more)


@pytest.mark.parametrize("other", [KILL, SEGFAULT])
def test_another_process_of_the_same_hour_is_no_cause(analyze: Callable[..., Report], other: str) -> None:
    report = analyze(dmesg_txt=other.format(time="03:10:00"), train_log=job(ERROR))
    assert report.causes[0].id == "code.shape"
    assert report.causes[0].probability > 0.6


def test_a_job_that_went_on_to_its_end_was_not_killed(analyze: Callable[..., Report]) -> None:
    end = "2025-08-22 03:41:00,000 INFO done, exit status 0\nexit status 0\n"
    assert analyze(dmesg_txt=KILL.format(time="03:10:00"), train_log=job(end)).causes[0].id == "none.healthy"


def test_a_kill_at_the_moment_the_log_ends_is_the_cause(analyze: Callable[..., Report]) -> None:
    report = analyze(dmesg_txt=KILL.format(time="03:40:02"), train_log=job("Killed\n"))
    assert report.causes[0].id == "host_memory.oom_global"


def test_a_pid_links_whatever_the_time(analyze: Callable[..., Report]) -> None:
    died = "2025-08-22 03:40:01,000 ERROR RuntimeError: DataLoader worker (pid 991) is killed by signal: Killed.\n"
    report = analyze(dmesg_txt=KILL.format(time="03:10:00"), train_log=job(died))
    assert report.causes[0].id == "host_memory.oom_global"


def test_hardware_may_ail_for_a_while_before_the_job_feels_it(analyze: Callable[..., Report]) -> None:
    xid = "[Fri Aug 22 03:10:00 2025] NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=python, GPU has fallen off the bus.\n"
    late = (
        "2025-08-22 03:40:01,000 ERROR [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9, OpType=ALLREDUCE, "
        "NumelIn=1, NumelOut=1, Timeout(ms)=1800000) ran for 1800012 milliseconds before timing out.\n"
    )
    report = analyze(dmesg_txt=xid, train_log=job(late))
    assert report.causes[0].id == "gpu_hardware.fallen_off_bus"
    assert {f.id: f.role for f in report.causes}["distributed.timeout"] == "symptom"


def test_a_hosts_log_alone_concerns_us_whole(analyze: Callable[..., Report]) -> None:
    assert analyze(dmesg_txt=KILL.format(time="03:10:00")).causes[0].id == "host_memory.oom_global"


MEMCG = (
    "[Fri Aug 22 {time} 2025] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg={group},"
    "task_memcg={group},task=python,pid={pid},uid=1000\n"
    "[Fri Aug 22 {time} 2025] Memory cgroup out of memory: Killed process {pid} (python) total-vm:9kB, anon-rss:7kB, file-rss:0kB\n"
)
KEY_ERROR = (
    "2025-08-22 03:00:00,000 INFO start\n"
    'Traceback (most recent call last):\n  File "/home/u/train.py", line 6, in load\n    row["label"]\nKeyError: \'label\'\n'
)


def memcg(time: str, group: str, pid: int = 7) -> str:
    return MEMCG.format(time=time, group=group, pid=pid)


def test_a_kill_before_the_job_began_is_anothers(analyze: Callable[..., Report]) -> None:
    assert analyze(dmesg_txt=memcg("02:59:30", "/a"), train_log=KEY_ERROR).causes[0].id == "code.exception"


def test_an_attempt_that_was_killed_is_not_why_a_later_one_failed(analyze: Callable[..., Report]) -> None:
    first = "2025-08-22 03:00:00,000 INFO start\njob.sh: line 2:  7 Killed   python train.py\n"
    later = (
        "2025-08-22 03:08:00,000 INFO start\n"
        "2025-08-22 03:{minute}:00,000 ERROR OSError: [Errno 28] No space left on device: '/scratch/ckpt'\n"
    )
    kill = memcg("03:00:01", "/a")
    assert analyze(dmesg_txt=kill, train_log=first + later.format(minute="09")).causes[0].id == "storage.full"
    assert analyze(dmesg_txt=kill, train_log=first).causes[0].id == "host_memory.oom_cgroup"


def test_a_job_that_went_over_another_limit_is_another(analyze: Callable[..., Report]) -> None:
    own = "2025-08-22 03:00:05,000 INFO step 1\njob.sh: line 2:  7 Killed   python train.py\n"
    report = analyze(dmesg_txt=memcg("03:00:00", "/b", 6) + memcg("03:00:05", "/a"), train_log=own)
    assert (report.causes[0].id, report.causes[0].facts["pid"]) == ("host_memory.oom_cgroup", 7)


def test_what_both_logs_tell_outweighs_what_the_host_alone_tells(analyze: Callable[..., Report]) -> None:
    own = (
        "2025-08-22 03:00:05,000 INFO step 1\nslurmstepd: error: Detected 1 oom_kill event in StepId=1.0. "
        "Some of the step tasks have been OOM Killed.\n"
    )
    host = SEGFAULT.format(time="03:00:04") + memcg("03:00:05", "/a")
    assert analyze(dmesg_txt=host, train_log=own).causes[0].id == "host_memory.oom_cgroup"


def test_a_nan_that_stays_is_not_healed_by_a_good_end(analyze: Callable[..., Report]) -> None:
    steps = [f"step {i} loss {'nan' if i > 20 else 2.0 - i / 100}" for i in range(60)]
    assert analyze(train_log="\n".join([*steps, "exit status 0", ""])).causes[0].id == "numerics.nan"


def test_a_note_behind_a_traceback_is_no_work_that_its_program_went_on_with(analyze: Callable[..., Report]) -> None:
    trace = 'Traceback (most recent call last):\n  File "/home/u/train.py", line 7, in <module>\n    y = jnp.zeros((1 << 17, 1 << 15))\n'
    raised = "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory allocating 17179869184 bytes.\n"
    note = "-" * 20 + "\nFor simplicity, JAX has removed its internal frames from the traceback of the following exception.\n"
    report = analyze(train_log=trace + raised + note + "exit status 0\n")
    assert report.causes[0].id == "host_memory.alloc_refused"


def test_the_status_behind_a_pipe_does_not_heal_an_exception(analyze: Callable[..., Report]) -> None:
    failed = KEY_ERROR.replace("KeyError: 'label'", "ModuleNotFoundError: No module named 'einops'")
    assert analyze(train_log=failed + "exit status 0\n").causes[0].id == "code.import"


ID, OTHER = ("3f2a91c07d55" + "0" * 52), ("77aa91c07d55" + "0" * 52)


def step(minute: int, second: int) -> str:
    return f"2025-08-22 03:{minute:02d}:{second:02d},000 INFO step {minute} loss 0.5\n"


def test_a_task_of_an_array_has_a_number_that_its_file_does_not_tell(knowledge: Database) -> None:
    sources = [text_source("dmesg.txt", memcg("03:40:00", "/slurm/uid_1000/job_127/step_0"))]
    sources += [text_source("slurm-123_4.out", step(39, 58) + "Killed\n")]
    report = pipeline.analyze(sources, "case", knowledge)
    assert report.causes[0].id == "host_memory.oom_cgroup"


@pytest.mark.parametrize(("group", "cause"), [(f"/docker/{ID}", "host_memory.oom_cgroup"), (f"/docker/{OTHER}", "none.healthy")])
def test_a_kill_in_another_container_is_not_ours(analyze: Callable[..., Report], group: str, cause: str) -> None:
    report = analyze(**{"dmesg.txt": memcg("03:40:00", group), f"{ID}-json.log": step(39, 58) + step(39, 59)})
    assert report.causes[0].id == cause


@pytest.mark.parametrize(("host", "is_ours"), [("gpu-1", True), ("gpu-2", False)])
def test_a_pid_of_another_host_is_another_process(analyze: Callable[..., Report], host: str, is_ours: bool) -> None:
    kernel = memcg("03:11:00", "/a", 4711).replace("[Fri Aug 22 03:11:00 2025]", f"Aug 22 03:11:00 {host} kernel:")
    table = (
        "Root Cause (first observed failure):\n[0]:\n  time      : 2025-08-22_03:40:00\n  host      : gpu-1.cluster\n"
        "  rank      : 1 (local_rank: 1)\n  exitcode  : -9 (pid: 4711)\n  error_file: <N/A>\n"
        "  traceback : Signal 9 (SIGKILL) received by PID 4711\n"
    )
    report = analyze(kern_log=kernel, train_log=job() + table)
    killed = max((f.probability for f in report.causes if f.id == "host_memory.oom_cgroup"), default=0.0)
    assert (killed > 0.9) == is_ours


def test_a_script_that_worked_for_long_could_do_without_what_its_shell_could_not_run(analyze: Callable[..., Report]) -> None:
    log = "nightly.sh: line 2: torchrun: command not found\n" + "publishing\n" * 60 + "exit status 0\n"
    assert analyze(nightly_log=log).causes[0].id == "none.healthy"


DESCRIBED = """\
Name:             fit-0
Namespace:        ml
Containers:
  main:
    Last State:     Terminated
      Reason:       OOMKilled
      Exit Code:    137
      Finished:     Sun, 29 Nov 2026 10:29:03 +0000
    Limits:
      memory:          16Gi
"""
EVENTS = """\
LAST SEEN   TYPE      REASON             OBJECT       MESSAGE
9m40s       Warning   BackOff            pod/fit-0    Back-off restarting failed container main in pod fit-0_ml(0d2f)
12m         Warning   FailedScheduling   pod/eval-7   0/12 nodes are available: 12 Insufficient nvidia.com/gpu.
"""


def test_what_kept_another_pod_from_its_node_is_no_rival_of_this_pods_death(analyze: Callable[..., Report]) -> None:
    found = analyze(describe_txt=DESCRIBED, events_txt=EVENTS)
    assert [f.id for f in found.causes if f.id == "gpu_driver.unavailable"] == []
    assert [n.owner for n in found.notices if "eval-7" in n.text] == ["others"]
    alone = analyze(events_txt=EVENTS)  # where only a table of events was given, all of its pods are asked about
    assert {n.owner for n in alone.notices if "eval-7" in n.text} <= {"mine"}


def test_of_what_happened_to_others_the_nearest_to_the_end_is_told_first(analyze: Callable[..., Report]) -> None:
    hours = ("00:10:00", "01:15:00", "02:40:30", "02:59:50")
    deaths = "".join(KILL.replace("991", str(991 + i)).format(time=time) for i, time in enumerate(hours))
    report = analyze(dmesg_txt=deaths, train_log=job(ERROR))
    told = [(n.text[12:20], n.why) for n in report.notices if n.owner == "others"]
    assert [time for time, _ in told] == [*reversed(hours)]
    assert [why for _, why in told][:3] == [
        "not this job's: 10.0 s before the first line of the job's log",
        "not this job's: 19 min 30 s before the first line of the job's log",
        "not this job's: 1 h 45 min before the first line of the job's log",
    ]


def test_a_death_that_nothing_links_is_not_said_to_be_anothers(analyze: Callable[..., Report]) -> None:
    hours = ("00:10:00", "01:15:00", "02:40:30")
    deaths = "".join(SEGFAULT.replace("991", str(991 + i)).format(time=time) for i, time in enumerate(hours))
    report = analyze(dmesg_txt=deaths, train_log="step 1 loss 0.5\nstep 2 loss 0.5\nFatal Python error: Segmentation fault\n")
    whys = {n.why for n in report.notices if n.owner == "others"}
    assert whys == {"one of several in the hosts' logs, and nothing links it to the job"}
