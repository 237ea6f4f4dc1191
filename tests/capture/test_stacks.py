"""Stacks of Python processes; a program stands in for py-spy and prints what py-spy 0.4 printed of two waiting threads."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from forensics.capture import cgroups, stacks

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
    SimpleNamespace(ppid=1, pid=11097, comm="python", command="python hang.py", marks=()),
    SimpleNamespace(ppid=1, pid=5, comm="sh", command="/bin/sh job.sh", marks=()),
    SimpleNamespace(ppid=1, pid=6, comm="pt_main_thread", command="python train.py", marks=()),
]


@pytest.fixture
def py_spy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What stands in for py-spy: a shell script that a test writes."""
    program = tmp_path / "bin" / "py-spy"
    program.parent.mkdir()
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.defpath}")
    monkeypatch.setattr("sys.executable", "/nowhere/python")
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


def test_the_rank_that_started_the_others_is_named_in_its_stacks(py_spy: Path, tmp_path: Path) -> None:
    (tmp_path / "dump").write_text(WAITING)
    py_spy.write_text(f"#!/bin/sh\ncat {tmp_path}/dump\n")
    py_spy.chmod(0o755)
    job: list[Any] = [
        SimpleNamespace(ppid=ppid, pid=pid, comm="python", command="python fit.py", marks=marks)
        for pid, ppid, marks in ((20, 1, ()), (21, 20, ("LOCAL_RANK=1",)), (22, 20, ("LOCAL_RANK=2",)))
    ]
    stacks.take_stacks(job, str(tmp_path / "stacks"), {})
    heads = [(tmp_path / "stacks" / f"{pid}.txt").read_text().partition(" on ")[0] for pid in (20, 21, 22)]
    assert [head.rpartition(", ")[2] for head in heads] == ["rank 0", "rank 1", "rank 2"]


LOCALS = """\
Thread 11097 (idle): "MainThread"
    train (hang.py:6)
        Arguments:
            index: {number}
            token: "hf_secret"
    <module> (hang.py:9)
"""


def test_where_nothing_else_tells_a_rank_a_variable_numbers_the_processes_and_none_is_written(
    py_spy: Path, tmp_path: Path
) -> None:
    for pid, number in ((30, 1), (31, 0)):
        (tmp_path / f"dump{pid}").write_text(LOCALS.format(number=number))
    py_spy.write_text(f'#!/bin/sh\ncase "$*" in *--locals*) cat {tmp_path}/dump$3;; esac\n')
    py_spy.chmod(0o755)
    job: list[Any] = [SimpleNamespace(ppid=20, pid=pid, comm="python", command="python fit.py", marks=()) for pid in (30, 31)]
    stacks.take_stacks(job, str(tmp_path / "stacks"), {30: (0, 20), 31: (1, 20)})
    texts = [(tmp_path / "stacks" / f"{pid}.txt").read_text() for pid in (30, 31)]
    assert [text.partition(" (python), ")[2].partition(" on ")[0] for text in texts] == ["child 1 of pid 20", "child 0 of pid 20"]
    assert all("train (hang.py:6)\n    <module> (hang.py:9)\n" in text and "secret" not in text for text in texts)


@pytest.mark.parametrize(
    ("files", "held"),
    [
        ({"/proc/7/cgroup": "6:freezer:/box\n0::/\n", "/g/freezer.state": "FROZEN\n"}, {7}),
        ({"/proc/7/cgroup": "0::/box\n", "/u/cgroup.events": "populated 1\nfrozen 1\n"}, {7}),
        ({"/proc/7/cgroup": "6:freezer:/box\n0::/\n", "/g/freezer.state": "THAWED\n", "/u/cgroup.events": "frozen 0\n"}, set()),
        ({}, set()),
    ],
)
def test_a_process_whose_control_group_is_frozen_is_known(
    files: dict[str, str], held: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """py-spy would wait for it, unless it is told not to."""
    points = "30 1 0:1 / /g rw - cgroup cgroup rw,freezer\n31 1 0:2 / /u rw - cgroup2 cgroup2 rw\n"
    monkeypatch.setattr(cgroups.proc, "read", lambda path, *_: {"/proc/self/mountinfo": points, **files}.get(path, ""))
    assert cgroups.frozen([7]) == held
