"""Limits of processor time: the kernel ends a process by ticks, and tells what it used exactly."""

from types import SimpleNamespace
from typing import Any

import pytest

from forensics.capture import account


@pytest.mark.parametrize(
    ("limit_s", "used_s", "ended", "told"),
    [
        (1, 0.86, {"signal": 9}, True),
        (60, 59.9, {"signal": 9}, True),
        (60, 3.0, {"signal": 24}, True),
        (60, 40.0, {"signal": 9}, False),
        (0, 40.0, {"signal": 9}, False),
    ],
)
def test_a_limit_of_processor_time_is_told_where_it_was_reached(
    limit_s: int, used_s: float, ended: dict[str, int], told: bool
) -> None:
    root: dict[str, Any] = {"pid": 7, "comm": "python3", "end": 9.0, "cpu_limit_s": limit_s, "cpu_s": used_s, **ended}
    collector: Any = SimpleNamespace(options=SimpleNamespace(time_limit_s=0.0), tree=SimpleNamespace(ends=[root]), root=7)
    lines = account._limits(collector, [], 9.0, root, {root["pid"]: "3"})
    assert lines == ([f"pid 7 (python3), rank 3 had used its limit of {limit_s} s of processor time"] if told else [])


SENT = {"signal": 15, "to": 7, "to_comm": "python3", "code": 0}


@pytest.mark.parametrize(
    ("sent", "by"),
    [
        ({"code": 128}, "by the kernel"),
        ({"from": 0}, "by a process that cannot be seen from here"),
        ({"from": 9}, "by pid 9 (unknown)"),
        ({"from": 9, "from_comm": "slurmstepd", "uid": 0}, "by pid 9 (slurmstepd, user 0)"),
        ({"from": 9, "from_comm": "timeout", "from_command": "timeout 5 sh"}, "by pid 9 (timeout): timeout 5 sh"),
    ],
)
def test_the_sender_of_a_signal_is_told_as_far_as_it_is_known(sent: dict[str, Any], by: str) -> None:
    assert account._signal({**SENT, **sent}) == f"signal 15 (SIGTERM) was sent to pid 7 (python3) {by}"


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ({"signal": 11, "core": True}, "was ended by signal 11 (SIGSEGV), memory was dumped to a core file"),
        ({"signal": 40}, "was ended by signal 40 (signal 40)"),
        ({"exit_code": 3}, "ended with exit status 3"),
        ({}, "is gone, and nothing told its exit status"),
    ],
)
def test_how_a_process_ended(end: dict[str, Any], said: str) -> None:
    assert account._how(end) == said


def test_a_long_silence_before_the_end_is_told_with_what_each_process_waited_in() -> None:
    stack = {"pid": 7, "comm": "python3", "at": "train (train.py:6)"}
    collector: Any = SimpleNamespace(
        silence=SimpleNamespace(spell=(100.0, 7300.0)), stacks=[stack, {**stack, "at": ""}], unavailable=[]
    )
    assert account._silence(collector, 7301.0) == [
        "no output came for 2 h 0 min before the end",
        "in that silence pid 7 (python3) stood in train (train.py:6)",
    ]
    collector.unavailable = [{"what": "stacks", "why": "py-spy is not installed"}]
    assert len(account._silence(collector, 7301.0)) == 2  # stacks were taken: that one process gave none is no news
    collector.stacks = []
    assert account._silence(collector, 7301.0) == [
        "no output came for 2 h 0 min before the end",
        "no stacks were taken: py-spy is not installed",
    ]
    assert account._silence(collector, 7300.0 + account.MAX_STALL_TO_END_S + 1) == []


def test_the_schedulers_time_limit_is_told_where_the_job_reached_it() -> None:
    collector: Any = SimpleNamespace(options=SimpleNamespace(time_limit_s=1000.0), tree=SimpleNamespace(ends=[]), root=7)
    assert account._limits(collector, [], 1000.5, None, {}) == [
        "the scheduler's time limit was at 1970-01-01T00:16:40.000000+00:00"
    ]
    assert account._limits(collector, [], 100.0, None, {}) == []


def test_a_rank_that_ended_well_is_told_where_others_went_on() -> None:
    ends = [{"pid": pid, "ppid": parent, "exit_code": code, "end": at} for pid, parent, code, at in
            [(11, 8, 0, 2.0), (8, 1, 0, 3.0), (9, 1, 0, 4.0), (10, 1, 1, 5.0)]]  # fmt: skip
    collector: Any = SimpleNamespace(tree=SimpleNamespace(ends=ends, living={}))
    ranks = {8: "0", 9: "1", 10: "2", 11: "0"}
    assert [e["pid"] for e in account._well_ended(collector, ranks)] == [8, 9]  # 11 is a helper of rank 0
    collector.tree.ends = ends[:3]
    assert [e["pid"] for e in account._well_ended(collector, ranks)] == [8]  # nobody went on when the last one ended
    collector.tree.living = {10: None}
    assert [e["pid"] for e in account._well_ended(collector, ranks)] == [8, 9]


@pytest.mark.parametrize(
    ("end", "told"),
    [
        ({"exit_code": 3}, True),
        ({"exit_code": 0}, False),
        ({"exit_code": 3, "pid": 10}, False),  # no rank, and no process that multiprocessing started
        ({"exit_code": 3, "pid": 9}, True),
    ],
)
def test_a_process_that_may_be_a_rank_is_told_by_its_exit_status(end: dict[str, Any], told: bool) -> None:
    collector: Any = SimpleNamespace(tree=SimpleNamespace(ends=[{"pid": 8, "comm": "python3", "end": 9.0, **end}]), root=7)
    assert bool(account._notable_ends(collector, {8, 9})) == told
