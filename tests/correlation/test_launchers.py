"""What launchers, notebook servers and scripts tell of the processes they miss sets the deaths of others aside.

All logs here are made for these tests.
"""

from collections.abc import Callable

import pytest

from forensics.model import Report

KILL = (
    "[Fri Aug 22 {time} 2025] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/job_7,"
    "task_memcg=/job_7,task=python,pid={pid},uid=1000\n"
    "[Fri Aug 22 {time} 2025] Memory cgroup out of memory: Killed process {pid} (python) total-vm:9kB, anon-rss:7kB, file-rss:0kB\n"
)
TRAP = (
    "[Fri Aug 22 {time} 2025] traps: python[{pid}] trap invalid opcode ip:7f15c1f93110 sp:7ffc error:0 in k.so[1110,7f15c+1000]\n"
)
SEGFAULT = "[Fri Aug 22 {time} 2025] python[{pid}]: segfault at 0 ip 00007f9a sp 00007ffc error 4 in libc.so.6[7f9a+1000]\n"
TABLE = """\
============================================================
train.py FAILED
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2025-08-22_03:40:42
  host      : node-1
  rank      : {rank} (local_rank: 0)
  exitcode  : {code} (pid: 50110)
  error_file: <N/A>
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html
============================================================
"""
TIMEOUT = "RuntimeError: [Rank 0]: Ranks 1 failed to pass monitoredBarrier in 6000 ms\n"


def steps(first: int, last: int) -> str:
    """A step of training at each second of the minute 03:40."""
    return "".join(f"2025-08-22 03:40:{s:02d},000 INFO train: step {s} loss 0.5\n" for s in range(first, last + 1))


def test_of_the_workers_that_a_loader_misses_one_was_killed(analyze: Callable[..., Report]) -> None:
    log = steps(0, 40) + "RuntimeError: DataLoader worker (pid(s) 50119, 50117) exited unexpectedly\n"
    assert analyze(dmesg_txt=KILL.format(time="03:40:39", pid=50117), train_log=log).causes[0].id == "host_memory.oom_cgroup"


def test_where_a_launcher_saw_an_exception_first_no_rank_of_its_host_was_killed(analyze: Callable[..., Report]) -> None:
    log = steps(0, 40) + TIMEOUT + TABLE.format(rank=0, code=1)
    assert analyze(dmesg_txt=KILL.format(time="03:40:40", pid=50170), train_log=log).causes[0].id == "distributed.timeout"


def test_a_notebook_server_does_not_miss_what_died_after_it_told(analyze: Callable[..., Report]) -> None:
    kernel = KILL.format(time="03:40:39", pid=50117) + TRAP.format(time="03:40:55", pid=50119)
    server = "[I 2025-08-22 03:40:41.731 ServerApp] AsyncIOLoopKernelRestarter: restarting kernel (1/5), keep random ports\n"
    assert analyze(dmesg_txt=kernel, jupyter_log=server).causes[0].id == "host_memory.oom_cgroup"


def test_a_scripts_log_ends_with_the_training_that_tells_its_own_end(analyze: Callable[..., Report]) -> None:
    raised = 'Traceback (most recent call last):\n  File "/home/u/train.py", line 6, in load\n    np.load(f)\n'
    raised += "FileNotFoundError: [Errno 2] No such file or directory: 's/41.npy'\n"
    report = analyze(
        dmesg_txt=SEGFAULT.format(time="03:40:39", pid=50117),
        train_log=steps(0, 40) + raised,
        job_log="[2025-08-22 03:40:00] job starts\n[2025-08-22 03:40:41] training ended\n",
    )
    assert report.causes[0].id == "data.missing"


def test_a_rank_that_was_aborted_had_no_thread_that_segfaulted(analyze: Callable[..., Report]) -> None:
    log = steps(0, 40) + "free(): double free detected in tcache 2\n" + TABLE.format(rank=0, code=-6)
    assert analyze(dmesg_txt=SEGFAULT.format(time="03:40:40", pid=50170), train_log=log).causes[0].id == "process.abort"


@pytest.mark.parametrize(("pid", "first"), [(50117, "stopped.user"), (50111, "host_memory.oom_cgroup")])
def test_a_launcher_that_is_told_to_stop_ends_what_had_not_died(analyze: Callable[..., Report], pid: int, first: str) -> None:
    stop = "W0822 03:40:41.000000 50100 torch/distributed/elastic/agent/server/api.py:723] "
    log = steps(0, 40) + stop + "Received Signals.SIGTERM death signal, shutting down workers\n"
    log += stop + "Sending process 50111 closing signal SIGTERM\n"
    assert analyze(dmesg_txt=KILL.format(time="03:40:40", pid=pid), train_log=log).causes[0].id == first


def test_a_log_that_ends_with_its_script_ends_well_as_that_does(analyze: Callable[..., Report]) -> None:
    job = "[2025-08-22 03:40:00] job starts\n[2025-08-22 03:40:41] training ended with status 0\n"
    report = analyze(dmesg_txt=KILL.format(time="03:40:36", pid=50117), train_log=steps(0, 40), job_log=job)
    assert report.causes[0].id == "none.healthy"


@pytest.mark.parametrize(
    ("told", "first"), [("", "none.healthy"), ("AsyncIOLoopKernelRestarter: restarting kernel (1/5)", "host_memory.oom_cgroup")]
)
def test_a_server_that_is_shut_down_missed_no_kernel_that_it_does_not_tell_of(
    analyze: Callable[..., Report], told: str, first: str
) -> None:
    line = "[I 2025-08-22 03:40:{time} ServerApp] {text}\n"
    log = line.format(time="30.100", text="Saving file at /train.ipynb")
    log += line.format(time="39.100", text=told) if told else ""
    log += line.format(time="41.100", text="Shutting down on /api/shutdown request.")
    assert analyze(dmesg_txt=KILL.format(time="03:40:38", pid=50117), jupyter_log=log).causes[0].id == first


@pytest.mark.parametrize("name", ["RecursionError", "RuntimeError"])
def test_a_mistake_is_no_consequence_of_a_crash_that_nothing_ties_to_the_job(analyze: Callable[..., Report], name: str) -> None:
    raised = f'Traceback (most recent call last):\n  File "/home/u/train.py", line 6, in load\n    walk(n)\n{name}: too deep\n'
    log = "2025-08-22 03:40:00,000 INFO train: pid 50117 trains\n" + steps(1, 40) + raised
    assert analyze(dmesg_txt=SEGFAULT.format(time="03:40:36", pid=61170), train_log=log).causes[0].id == "code.exception"


def test_who_had_waited_for_long_did_not_wait_for_what_died_just_now(analyze: Callable[..., Report]) -> None:
    log = steps(0, 40) + "2025-08-22 03:40:47,000 CRITICAL train: watchdog: no progress for 6 s in step 40, aborting\n"
    assert analyze(dmesg_txt=KILL.format(time="03:40:45", pid=50117), train_log=log).causes[0].id == "process.stalled"


@pytest.mark.parametrize(("told", "first"), [("Bus error", "process.bus_error"), ("", "host_memory.oom_cgroup")])
def test_what_misses_a_process_that_tells_its_own_crash_ties_no_death(
    analyze: Callable[..., Report], told: str, first: str
) -> None:
    stack = "Current thread 0x00007f115b9fa6c0 (most recent call first):\n"
    stack += '  File "/home/u/fit.py", line 3 in fit\n'
    fault = f"Fatal Python error: {told}\n\n{stack}" if told else stack
    book = "nbclient.exceptions.DeadKernelError: Kernel died\n"
    report = analyze(dmesg_txt=KILL.format(time="03:40:20", pid=50117), papermill_log=book, fault_txt=fault)
    assert report.causes[0].id == first


@pytest.mark.parametrize(("status", "first"), [(0, "none.healthy"), (137, "host_memory.oom_cgroup")])
def test_an_attempt_that_the_next_one_made_good_ties_no_death(analyze: Callable[..., Report], status: int, first: str) -> None:
    log = steps(0, 20) + f"Terminated\nattempt 1 exit status 143\n{steps(21, 59)}attempt 2 exit status {status}\n"
    assert (
        analyze(dmesg_txt=KILL.format(time="03:40:58" if status else "03:40:20", pid=50117), train_log=log).causes[0].id == first
    )
