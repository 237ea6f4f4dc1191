"""The processes of a job that runs now: who they are, and where they wait in the kernel, without py-spy."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from forensics.capture import live_stacks

JOB = f"test-{os.getpid()}"


@pytest.fixture(scope="module")
def sleeper() -> Iterator[int]:
    child = subprocess.Popen(["sleep", "60"], env={"RANK": "3", "LOCAL_RANK": "1", "TORCHELASTIC_RUN_ID": JOB})
    end = time.monotonic() + 10
    while live_stacks._about(child.pid, (0, "", "S"))["call"] != "clock_nanosleep" and time.monotonic() < end:
        time.sleep(0.01)
    yield child.pid
    child.kill()
    child.wait()


@pytest.mark.parametrize("kind", ["pid", "job"])
def test_a_process_is_found_by_its_pid_and_by_its_job(sleeper: int, kind: str) -> None:
    seen: dict[str, Any] = live_stacks.look(kind, str(sleeper) if kind == "pid" else JOB)
    (one,) = seen["processes"]
    assert (one["pid"], one["ppid"], one["rank"], one["state"]) == (sleeper, os.getpid(), 3, "S")
    assert one["call"] == "clock_nanosleep"
    assert one["text"] == ""  # no Python program


def test_the_one_that_looks_and_its_parents_are_left_out() -> None:
    assert os.getpid() not in {one["pid"] for one in live_stacks.look("all", "-")["processes"]}


def test_root_runs_no_program_of_another_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    spy = tmp_path / "py-spy"
    spy.write_text("#!/bin/sh\n")
    spy.chmod(0o755)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "executable", "/nowhere/python")  # py-spy may be installed beside the one that runs this test
    assert live_stacks.py_spy_path([f"{tmp_path}/python train.py"]) == str(spy)
    if os.geteuid() == 0:
        os.chown(spy, 4711, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: spy.stat().st_uid + 1)
    assert live_stacks.py_spy_path([f"{tmp_path}/python train.py"]) == ""


def test_what_watches_a_rank_is_left_out(monkeypatch: pytest.MonkeyPatch, sleeper: int) -> None:
    monkeypatch.setattr(live_stacks, "WATCHER", "sleep")
    assert live_stacks.look("pid", str(sleeper))["processes"] == []


@pytest.mark.parametrize(
    ("named", "rank"),
    [
        ({"RANK": "9", "LOCAL_RANK": "1"}, "9"),
        ({"LOCAL_RANK": "1"}, "1"),
        ({"LOCAL_RANK": "1", "NODE_RANK": "0"}, "1"),
        ({"LOCAL_RANK": "1", "NODE_RANK": "2"}, ""),  # nobody says how many ranks the hosts before have
        ({"SLURM_PROCID": "4"}, "4"),
        ({}, ""),
    ],
)
def test_the_rank_by_the_variables_of_launchers(named: dict[str, str], rank: str) -> None:
    assert live_stacks.rank_of([f"{name}={value}" for name, value in named.items()]) == rank


@pytest.mark.parametrize(
    ("ranks", "found"),
    [
        ({20: "1", 21: "2"}, {10: "0", 20: "1", 21: "2"}),
        ({20: "0", 21: "1"}, {20: "0", 21: "1"}),  # a launcher
        ({20: "1", 30: "1"}, {10: "0", 20: "1", 30: "1"}),  # 30: a helper of rank 1, with its variables
        ({20: "4", 21: "5"}, {20: "4", 21: "5"}),
        ({40: "1"}, {40: "1"}),  # nothing is known of its parent
    ],
)
def test_a_process_that_starts_the_other_ranks_is_rank_0(ranks: dict[int, str], found: dict[int, str]) -> None:
    parents = {10: 1, 20: 10, 21: 10, 30: 20, 40: 99}
    marks = {pid: [f"LOCAL_RANK={rank}"] for pid, rank in ranks.items()}
    assert live_stacks.ranks_of([(pid, parent, marks.get(pid, [])) for pid, parent in parents.items()]) == found


@pytest.mark.parametrize(
    ("marks", "ranks", "numbers"),
    [
        (["", "python t.py --rank 0 --lr 1", "python t.py --rank 1 --lr 1"], {11: "0", 12: "1"}, {11: 0, 12: 1}),
        (["", "main.py trainer.rank=1", "main.py trainer.rank=2"], {11: "1", 12: "2"}, {11: 1, 12: 2}),
        (["", "WORKER=0", "WORKER=1"], {}, {11: 0, 12: 1}),  # it may be a rank, if it waits for others
        (["", "/run/out/w_0.log", "/run/out/w_1.log"], {}, {11: 0, 12: 1}),
        (["WORLD=3", "RANK=0", "WORKER=1"], {11: "0"}, {}),  # the environment goes before
        (["", "t.py --port 29500", "t.py --port 29501"], {}, {}),
        (["", "t.py --rank 0", "t.py --rank 0"], {}, {}),
        (["", "t.py --rank 1st", "t.py --rank 2nd"], {}, {}),
    ],
)
def test_the_number_by_which_processes_differ(marks: list[str], ranks: dict[int, str], numbers: dict[int, int]) -> None:
    rows = [(10 + n, 10 if n else 1, [mark]) for n, mark in enumerate(marks)]
    assert live_stacks.ranks_of(rows) == ({10: "0", **ranks} if "1" in ranks.values() and "0" not in ranks.values() else ranks)
    assert live_stacks.numbers_of(rows) == numbers


def test_a_driver_is_no_rank_where_one_of_its_children_has_the_number_0() -> None:
    rows = [(10, 1, ["python drive.py"]), *((11 + n, 10, [f"w.py --member {n}"]) for n in range(3))]
    named = [(pid, parent, [*marks, f"run rank={pid - 11}"] if pid > 11 else marks) for pid, parent, marks in rows]
    assert live_stacks.ranks_of(named) == {11: "0", 12: "1", 13: "2"}
    assert live_stacks.ranks_of([(pid, parent, marks[1:]) for pid, parent, marks in named]) == {10: "0", 12: "1", 13: "2"}


def test_a_helper_has_the_number_of_its_parent() -> None:
    rows = [(11, 10, ["WORKER=0"]), (12, 10, ["WORKER=1"]), (13, 12, ["WORKER=1"])]
    assert live_stacks.numbers_of(rows) == {11: 0, 12: 1, 13: 1}


def test_what_counts_the_parents_of_a_process_numbers_no_ranks() -> None:
    rows = [(10, 1, ["SHLVL=0"]), (11, 10, ["SHLVL=1"]), (12, 11, ["SHLVL=1"]), (13, 11, ["SHLVL=1"])]
    assert live_stacks.numbers_of(rows) == {}


def test_of_variables_only_numbers_are_read_and_none_is_kept_whatever_breaks_its_lines() -> None:
    frames = 'Process 7: python t.py\nThread 7 (idle): "MainThread"\n    run (t.py:3)\n', "    <module> (t.py:9)\n"
    values = (
        '        Locals:\n            rank: 3\n            token: "a\rkey-1\x0ckey-2\u2028key-3"\n            y: "a\nkey-4"\n'
    )
    assert live_stacks.without_locals(values.join(frames)) == ("".join(frames), ["run rank=3"])


DEADLOCKED = """
import threading
a, b, both = threading.Lock(), threading.Lock(), threading.Barrier(2)
def take(first, second):
    with first:
        both.wait()
        second.acquire({limit})
one = threading.Thread(target=take, args=(a, b), daemon=True)
one.start()
print("begun", flush=True)
take(b, a)
{end}
"""
STACKS = """Process 7: python train.py
Python v3.11.7 (/usr/bin/python3.11)

Thread 7 (idle): "MainThread"
    take (/run/train.py:7)
Thread 8 (idle): "Thread-1 (take)"
    take (/run/train.py:7)
    Thread.run (/usr/lib/python3.11/threading.py:982)
"""
IN_LIBRARIES = STACKS.replace("/run/train.py", "/venv/lib/python3.11/site-packages/served/loop.py")


@pytest.mark.parametrize(
    ("limit", "end", "stacks", "stuck"),
    [
        ("", "", STACKS, 2),
        ("", "", IN_LIBRARIES, 0),  # a service may wait for a signal so
        ("timeout=60", "", STACKS, 0),  # it goes on by itself
        ("timeout=0.01", "import time; time.sleep(60)", STACKS, 0),
    ],
)
def test_threads_that_wait_for_each_other_without_a_limit_cannot_go_on(limit: str, end: str, stacks: str, stuck: int) -> None:
    program = DEADLOCKED.format(limit=limit, end=end)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, env={**os.environ, "RANK": ""}) as child:
        assert child.stdout is not None and child.stdout.readline() == b"begun\n"
        time.sleep(0.3)
        found = live_stacks.waiting_for_themselves({child.pid: stacks})
        child.kill()
    assert found == ({child.pid: stuck} if stuck else {})


@pytest.mark.parametrize(
    ("error", "why"),
    [
        ("Error: Failed to find python version from target process\n\nStack backtrace:", ""),  # `timeout 60 python train.py`
        ("Permission Denied: Try running again with elevated permissions", "py-spy: Permission Denied: Try running again"),
        ("", "py-spy: refused"),
    ],
)
def test_that_a_program_is_no_python_is_no_refusal(error: str, why: str) -> None:
    assert live_stacks.refusal(error).startswith(why) and bool(live_stacks.refusal(error)) == bool(why)
