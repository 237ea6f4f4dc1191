"""Stacks of Python processes; a program stands in for py-spy and prints what py-spy 0.4 printed of two waiting threads."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from forensics.capture import stacks

WAITING = """\
Process 11097: python hang.py
Python v3.11.7 (/usr/bin/python3.11)

Thread 11097 (idle): "MainThread"
    Condition.wait (threading.py:327)
    Event.wait (threading.py:629)
    train (hang.py:6)
    <module> (hang.py:9)
Thread 11105 (idle): "Thread-1 (wait)"
    Condition.wait (threading.py:327)
    Thread._bootstrap (threading.py:1002)
"""
JOB: list[Any] = [
    SimpleNamespace(ppid=1, pid=11097, comm="python", command="python hang.py"),
    SimpleNamespace(ppid=1, pid=5, comm="sh", command="/bin/sh job.sh"),
    SimpleNamespace(ppid=1, pid=6, comm="pt_main_thread", command="python train.py"),
]


@pytest.fixture
def py_spy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What stands in for py-spy: a shell script that a test writes."""
    program = tmp_path / "bin" / "py-spy"
    program.parent.mkdir()
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.defpath}")
    monkeypatch.setattr(stacks.sys, "executable", "/nowhere/python")
    return program


def test_each_python_process_has_a_file_and_the_innermost_frame_of_its_own(py_spy: Path, tmp_path: Path) -> None:
    (tmp_path / "dump").write_text(WAITING)
    py_spy.write_text(f"#!/bin/sh\n[ $3 = 6 ] && echo 'Error: Permission Denied' >&2 && exit 1\ncat {tmp_path}/dump\n")
    py_spy.chmod(0o755)
    taken, why = stacks.take_stacks(JOB, str(tmp_path / "stacks"), {})
    assert taken == [{"pid": "11097", "comm": "python", "at": "Condition.wait (threading.py:327), called from train (hang.py:6)"}]
    assert why == "py-spy: Error: Permission Denied"
    assert [p.name for p in (tmp_path / "stacks").iterdir()] == ["11097.txt"]
    head, _, rest = (tmp_path / "stacks" / "11097.txt").read_text().partition("\n")
    assert head.startswith("forensics run: stacks of pid 11097 (python) at 20")
    assert rest == WAITING


def test_stacks_of_a_later_moment_replace_none_and_name_the_child(py_spy: Path, tmp_path: Path) -> None:
    (tmp_path / "dump").write_text(WAITING)
    py_spy.write_text(f"#!/bin/sh\ncat {tmp_path}/dump\n")
    py_spy.chmod(0o755)
    folder = tmp_path / "stacks"
    for _ in range(stacks.MAX_STACKS_FILES + 1):
        stacks.take_stacks(JOB[:1], str(folder), {11097: (2, 11000)})
    assert sorted(p.name for p in folder.iterdir()) == sorted(["11097.txt", *(f"11097-{n}.txt" for n in range(2, 9))])
    assert (folder / "11097.txt").read_text().startswith("forensics run: stacks of pid 11097 (python), child 2 of pid 11000 on ")


def test_where_py_spy_is_not_there_or_does_not_start_that_is_said(py_spy: Path, tmp_path: Path) -> None:
    assert stacks.take_stacks(JOB, str(tmp_path / "stacks"), {}) == ([], "py-spy is not installed")
    py_spy.write_text("#!/no/such/interpreter\n")
    py_spy.chmod(0o755)
    assert stacks.take_stacks(JOB, str(tmp_path / "stacks"), {}) == ([], "py-spy: FileNotFoundError")


def test_a_dump_without_frames_has_no_innermost_one() -> None:
    assert stacks.innermost_frames("Process 1: python\n\nThread 1 (idle)\n") == ""


def test_the_rank_that_started_the_others_is_named_in_its_stacks(
    py_spy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dump").write_text(WAITING)
    py_spy.write_text(f"#!/bin/sh\ncat {tmp_path}/dump\n")
    py_spy.chmod(0o755)
    told = {21: {"LOCAL_RANK": "1"}, 22: {"LOCAL_RANK": "2"}}
    monkeypatch.setattr(stacks.proc, "environment", lambda pid, names: {k: v for k, v in told.get(pid, {}).items() if k in names})
    job: list[Any] = [
        SimpleNamespace(ppid=ppid, pid=pid, comm="python", command="python fit.py") for pid, ppid in ((20, 1), (21, 20), (22, 20))
    ]
    stacks.take_stacks(job, str(tmp_path / "stacks"), {})
    heads = [(tmp_path / "stacks" / f"{pid}.txt").read_text().partition(" on ")[0] for pid in (20, 21, 22)]
    assert [head.rpartition(", ")[2] for head in heads] == ["rank 0", "rank 1", "rank 2"]
