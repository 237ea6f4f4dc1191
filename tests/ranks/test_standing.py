"""Processes of a running job that stand at one place are told once."""

from forensics.model.stacks import LiveHost, LiveProcess
from forensics.ranks.doing import IN_COLLECTIVE, standings
from forensics.report.ranks import stacks_text

WAITS = """Process {pid}: python train.py
Python v3.11.7 (/usr/bin/python3.11)

Thread {pid} (idle): "MainThread"
    all_reduce (/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py:3252)
    wrapper (/venv/lib/python3.11/site-packages/torch/distributed/c10d_logger.py:83)
    train (/run/train.py:212)
    <module> (/run/train.py:300)
"""
READS = """Process {pid}: python train.py
Python v3.11.7 (/usr/bin/python3.11)

Thread {pid} (idle): "MainThread"
    readinto (/usr/lib/python3.11/socket.py:706)
    fetch (/run/data.py:88)
    <module> (/run/train.py:300)
"""


def process(rank: int, text: str, ppid: int = 1, **more: object) -> LiveProcess:
    pid = 100 + rank
    return LiveProcess(pid, ppid, "python", "python train.py", "S", rank, text=text.format(pid=pid), **more)  # type: ignore[arg-type]


def test_equal_places_are_folded_over_hosts_and_the_odd_rank_stands_alone() -> None:
    hosts = [
        LiveHost("a", tuple(process(r, WAITS, call="futex") for r in range(32))),
        LiveHost("b", (*(process(r, WAITS, call="futex") for r in range(32, 63)), process(63, READS, call="recvfrom"))),
    ]
    most, odd = standings(hosts)
    assert (most.who, most.called, most.doing, most.hosts) == ("ranks 0-62", "all_reduce", IN_COLLECTIVE, ("a", "b"))
    assert most.place is not None and most.place.place == "train.py:212"
    assert (odd.who, odd.doing, odd.place and odd.place.place) == ("rank 63", "it waits for the network", "data.py:88")
    assert odd.frames[0] == "fetch (/run/data.py:88)"  # the program's own first
    text = stacks_text(hosts, (most, odd))
    assert "ranks 0-62: all_reduce at train (train.py:212)" in text and "rank 63: readinto at fetch (data.py:88)" in text


def test_without_stacks_the_kernel_tells_for_what_a_process_waits() -> None:
    waiting = process(0, "", call="read", file="/mnt/lustre/x")
    loader = LiveProcess(200, 100, "python", "python train.py", "S", 0, call="futex")
    launcher = LiveProcess(1, 0, "torchrun", "torchrun train.py", "R")
    rank, helper, other = standings([LiveHost("a", (waiting, loader, launcher))])
    assert (rank.who, rank.kernel) == ("rank 0", "read of /mnt/lustre/x")
    assert (helper.who, helper.doing) == ("1 process of rank 0", "it waits for a lock or another thread")
    assert (other.who, other.doing) == ("pid 1 (torchrun)", "it computes")


def test_a_launcher_is_no_rank_and_in_no_call() -> None:
    agent = READS.replace("socket.py", "site-packages/torch/distributed/elastic/agent/server/api.py").replace(
        "readinto", "_invoke_run"
    )
    child = LiveProcess(150, 100, "python", "python train.py", "S", 0, text=WAITS.format(pid=150))
    rank, launcher = standings([LiveHost("a", (process(0, agent, call="clock_nanosleep"), child))])
    assert (rank.who, rank.doing) == ("rank 0", IN_COLLECTIVE)
    assert (launcher.who, launcher.doing) == ("pid 100 (python)", "the launcher waits for its workers")


def test_a_process_that_imports_says_so() -> None:
    imports = READS.replace("readinto", "_find_and_load").replace(
        "/usr/lib/python3.11/socket.py", "<frozen importlib._bootstrap>"
    )
    (place,) = standings([LiveHost("a", (process(0, imports.replace("(idle)", "(active)")),))])
    assert (place.called, place.doing) == ("import", "it imports modules")


def test_each_thread_that_runs_the_program_is_shown_with_its_own_frames_first() -> None:
    beside = """Thread 9 (idle): "writer"
    wait (/usr/lib/python3.11/threading.py:320)
    write (/run/save.py:12)
Thread 10 (idle): "pin"
    wait (/usr/lib/python3.11/threading.py:320)
"""
    hosts = [LiveHost("a", (process(0, READS + beside, stuck=3),))]
    (place,) = standings(hosts)
    assert place.threads == (("writer", ("write (/run/save.py:12)", "wait (/usr/lib/python3.11/threading.py:320)")),)
    text = stacks_text(hosts, (place,))
    assert "each of its 3 threads waits for another one of them" in text
    assert "pid 100, thread MainThread\n    fetch (" in text and "  thread writer\n    write (/run/save.py:12)\n" in text
