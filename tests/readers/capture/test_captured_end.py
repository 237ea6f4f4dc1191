"""What the account of a captured run proves. The lines are those that captures of these endings wrote, with other numbers."""

import pytest

from forensics.readers.base import Record
from forensics.readers.capture import captured_end
from tests.readers.regions import proven, regions

AT = "[2026-08-22T03:00:07.120000+00:00] forensics run: "
WORKER = "pid 4713 (python3), child of pid 4711, was ended by signal 9 (SIGKILL) after 12.3 s; it held 196.0 MiB"
COUNTED = "memory group /job counted 1 kill and 35 refusals; limit 200.0 MiB, peak 200.0 MiB (100 %)"
UNCOUNTED = "memory group /job counted no kill; limit 200.0 MiB, peak 80.0 MiB (40 %)"
HOST = "the host counted {} memory kill; at least {} % of its 23.5 GiB were available"
FAILED = "the command, pid 4711 (python3), ended with exit status 1 after 14.2 s"
KILLED = "the command, pid 4711 (python3), was ended by signal 9 (SIGKILL) after 14.2 s"
STUCK = (
    "pid 4711 (python3) could not go on: each of its 4 threads waited for another one of them, without a time limit; "
    "its main thread stood in Thread.join (threading.py:1119), called from <module> (train.py:17)"
)
SENT = "signal {} was sent to pid {} (python3) by {}"


def record(*lines: str) -> Record | None:
    text = "\n".join(AT + line for line in lines)
    (region,) = regions(text, captured_end.TRIGGER)
    return proven(captured_end.read(region))


@pytest.mark.parametrize(
    ("lines", "cause", "weight"),
    [
        ([WORKER, COUNTED, HOST.format(1, 71), FAILED], "host_memory.oom_cgroup", "proof"),
        ([WORKER, "memory group / counted 1 kill; no limit", HOST.format(1, 1), FAILED], "host_memory.oom_global", "proof"),
        ([STUCK, "the command, pid 4711, was still running when this was written"], "process.stalled", "proof"),
        ([SENT.format("15 (SIGTERM)", 4711, "pid 880 (bash)"), STUCK, KILLED], "process.stalled", "proof"),
        ([UNCOUNTED, HOST.format("no", 71), KILLED], "stopped.user", "strong"),
        ([UNCOUNTED, HOST.format("no", 2), KILLED], "host_memory.oom_daemon", "strong"),
        ([WORKER, UNCOUNTED, HOST.format("no", 71), FAILED], "process.worker_died", "strong"),
        ([WORKER, SENT.format("9 (SIGKILL)", 4713, "pid 880 (earlyoom)"), UNCOUNTED, FAILED], "host_memory.oom_daemon", "proof"),
        ([WORKER, SENT.format("9 (SIGKILL)", 4713, "pid 880 (bash)"), UNCOUNTED, FAILED], "stopped.user", "strong"),
        ([WORKER, SENT.format("9 (SIGKILL)", 4713, "pid 4713 (python3)"), UNCOUNTED, FAILED], "code.exception", "strong"),
        ([SENT.format("9 (SIGKILL)", 4711, "pid 4711 (python3)"), KILLED], "code.exception", "strong"),
        (
            [
                SENT.format("2 (SIGINT)", 4711, "pid 880 (bash)"),
                SENT.format("2 (SIGINT)", 4711, "pid 4711 (python3)"),
                KILLED.replace("9 (SIGKILL)", "2 (SIGINT)"),
            ],
            "stopped.user",
            "strong",
        ),
        (
            [
                SENT.format("15 (SIGTERM)", 4711, "pid 9 (pt_elastic): /usr/bin/torchrun train.py"),
                KILLED.replace("9 (SIGK", "15 (SIGT"),
            ],
            "stopped.user",
            "hint",  # torchrun ends the others when one has failed, and its own log tells which
        ),
        ([SENT.format("15 (SIGTERM)", 4711, "pid 9 (timeout, user 0): timeout 5"), FAILED], "stopped.time_limit", "proof"),
        ([KILLED.replace("9 (SIGKILL)", "11 (SIGSEGV)")], "process.segfault", "strong"),
        (
            ["/dev/shm was full: 0.1 MiB of 64.0 MiB were free", KILLED.replace("9 (SIGKILL)", "7 (SIGBUS)")],
            "host_memory.shm",
            "proof",
        ),
        (["the scheduler's time limit was at 2026-08-22T03:00:06+00:00", KILLED], "stopped.time_limit", "proof"),
        (
            [WORKER, "pid 4712 (timeout), child of pid 4711, ended with exit status 137", UNCOUNTED, FAILED],
            "stopped.time_limit",
            "proof",
        ),
        (["pid 4711 (python3) had used its limit of 60 s of processor time", KILLED], "process.resource_limit", "proof"),
        (["pid 4711 (python3), rank 1 had used its limit of 60 s of processor time", KILLED], "process.resource_limit", "proof"),
        (
            [
                "no output came for 15 min 0 s before the end",
                SENT.format("15 (SIGTERM)", 4711, "pid 9 (pt_elastic): /usr/bin/torchrun train.py"),
                KILLED.replace("9 (SIGKILL)", "15 (SIGTERM)"),
            ],
            "process.stalled",
            "hint",  # it may have waited for the rank that failed
        ),
        (
            ["no output came for 15 min 0 s before the end", KILLED.replace("9 (SIGKILL)", "15 (SIGTERM)")],
            "process.stalled",
            "strong",
        ),
        (["the command, pid 4711, could not be started: trian: No such file or directory"], "code.config", "proof"),
    ],
)
def test_the_facts_of_an_end_name_its_cause(lines: list[str], cause: str, weight: str) -> None:
    found = record(*lines)
    assert found is not None
    assert (found.cause, found.weight) == (cause, weight)


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        ([FAILED], 1),  # an exit status alone tells no cause
        (
            [WORKER, SENT.format("9 (SIGKILL)", 4713, "pid 4711 (python3)"), UNCOUNTED, FAILED],
            1,
        ),  # a program ends its own workers
        (["the command, pid 4711 (python3), is gone, and nothing told its exit status after 14.2 s"], "unknown"),
        (["the command, pid 4711, was still running when this was written"], "running"),
        (["the capture has no end: the job runs still, or both were ended together"], "unknown"),
    ],
)
def test_where_nothing_is_proven_the_end_alone_is_told(lines: list[str], status: int | str) -> None:
    found = record(*lines)
    assert found is not None
    assert (found.cause, found.fields) == (None, {"command_status": status})
    assert found.quote[-1].text.endswith(lines[-1])


def test_nothing_is_said_of_a_command_that_ended_well() -> None:
    assert record(WORKER, COUNTED, FAILED.replace("status 1", "status 0")) is None


def test_the_status_is_that_of_the_command_and_not_of_a_worker() -> None:
    found = record(WORKER, COUNTED, FAILED)
    assert found is not None
    assert (found.fields["command_status"], found.fields["signal"]) == (1, 9)


def test_the_number_of_a_child_that_was_killed_is_told_with_its_parent() -> None:
    found = record(WORKER.replace("child of", "child 2 of"), UNCOUNTED, HOST.format("no", 71), FAILED)
    assert found is not None
    assert {name: found.fields[name] for name in ("pid", "child_no", "ppid")} == {"pid": 4713, "child_no": 2, "ppid": 4711}
    limit = record("pid 4713 (python3), rank 1 had used its limit of 60 s of processor time", KILLED)
    assert limit is not None
    assert (limit.fields["rank"], limit.fields["cpu_limit_s"]) == (1, 60.0)
