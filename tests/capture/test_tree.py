"""How the end of a process is learned where the kernel does not tell it through a pidfd."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from forensics.capture import proc
from forensics.capture.tree import ProcessTree

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
KILLED = 9


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> tuple[ProcessTree, subprocess.Popen[bytes]]:
    """A tree that holds a process, on a kernel before Linux 6.15."""
    monkeypatch.setattr(proc, "exit_status", lambda _pidfd: None)
    running = subprocess.Popen(["/bin/sleep", "600"])
    return ProcessTree([running.pid], False), running


def test_of_a_process_that_was_reaped_unseen_it_is_said_that_nothing_told_how(
    held: tuple[ProcessTree, subprocess.Popen[bytes]],
) -> None:
    watched, running = held
    running.kill()
    running.wait()
    watched.look()
    assert [e["how"] for e in watched.ends] == ["vanished"]
    assert "signal" not in watched.ends[0]


def test_process_events_tell_it_before_and_after_it_is_gone(held: tuple[ProcessTree, subprocess.Popen[bytes]]) -> None:
    watched, running = held
    running.kill()
    running.wait()
    watched.look()
    watched.connector(running.pid, 0, KILLED)
    assert [(e["how"], e["signal"]) for e in watched.ends] == [("connector", 9)]
    watched.connector(running.pid, 0, KILLED)
    assert len(watched.ends) == 1


def test_a_zombie_tells_its_status(held: tuple[ProcessTree, subprocess.Popen[bytes]]) -> None:
    watched, running = held
    running.kill()
    until = time.monotonic() + 60
    while not watched.living[running.pid].zombie and time.monotonic() < until:
        watched.ended_now()
        time.sleep(0.01)
    running.wait()
    watched.look()
    assert [(e["how"], e["signal"]) for e in watched.ends] == [("zombie", 9)]


def test_a_shell_that_became_another_program_is_called_by_its_last_name() -> None:
    running = subprocess.Popen(["/bin/sh", "-c", "read x; exec sleep 600"], stdin=subprocess.PIPE)
    watched = ProcessTree([running.pid], False)
    assert running.stdin is not None
    running.stdin.write(b"\n")
    running.stdin.flush()
    until = time.monotonic() + 60
    while watched.living[running.pid].comm != "sleep" and time.monotonic() < until:
        watched.name(running.pid)
    running.kill()
    running.wait()
    assert watched.living[running.pid].comm == "sleep"


def test_a_limit_of_processor_time_that_a_program_sets_itself_is_read_at_its_end() -> None:
    program = (
        "import os, resource, signal; input(); resource.setrlimit(resource.RLIMIT_CPU, (77, 77)); os.kill(0, signal.SIGKILL)"
    )
    job = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, start_new_session=True)
    tree = ProcessTree([job.pid], False)
    assert job.stdin is not None
    job.stdin.write(b"\n")
    job.stdin.close()
    until = time.monotonic() + 30
    while (found := proc.stat(job.pid)) and found.state != "Z" and time.monotonic() < until:
        time.sleep(0.01)
    tree.ended_now()
    job.wait()
    tree.look()
    tree.ended_now()
    tree.close()
    (end,) = tree.ends
    assert end["cpu_limit_s"] == 77


def test_children_are_numbered_as_they_were_found_whatever_the_clock_says() -> None:
    code = "import time, multiprocessing as m; [m.Process(target=time.sleep, args=(600,)).start() for _ in range(4)]; time.sleep(600)"
    running = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    try:
        watched = ProcessTree([running.pid], False)
        until = time.monotonic() + 60
        while len(watched.living) < 5 and time.monotonic() < until:
            watched.look()
            time.sleep(0.01)
        children = [pid for pid in watched.living if pid != running.pid]  # as they were found: numbers of processes begin anew
        for pid, started in zip(children, (3.0, 1.0, 2.0, 0.0), strict=True):
            watched.living[pid].started = started  # as two looks at a clock may tell it of what started within 10 ms
        assert watched.child_numbers() == {pid: (n, running.pid) for n, pid in enumerate(children)}
    finally:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
