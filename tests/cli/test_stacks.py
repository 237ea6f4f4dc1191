"""`forensics stacks` of a program that runs: its place, and the folder that `forensics ranks` reads."""

import io
import json
import os
import subprocess
from pathlib import Path

import pytest

from forensics.capture.live_stacks import py_spy_path
from forensics.cli.run import without_stacks
from forensics.cli.stacks import _is_file, _save
from tests.commandline import forensics


def test_a_process_is_shown_with_what_it_waits_for(tmp_path: Path) -> None:
    child = subprocess.Popen(["sleep", "60"], env={"RANK": "5"})
    try:
        done = forensics("stacks", child.pid, "--json")
        named = forensics("stacks", "--pid", child.pid, "--json", "--save", tmp_path / "stacks")
    finally:
        child.kill()
        child.wait()
    assert done.returncode == 0
    (place,) = json.loads(done.stdout)["places"]
    assert (place["who"], place["pids"]) == ("rank 5", [child.pid])
    assert json.loads(named.stdout)["places"] == [place]
    assert f"nothing was saved in {tmp_path / 'stacks'}: no process has a stack" in named.stderr.decode()
    assert not (tmp_path / "stacks").exists()


@pytest.mark.parametrize(
    ("options", "to_file", "is_whole"), [((), True, True), ((), False, False), (("--save", "saved"), True, False)]
)
def test_whole_stacks_go_to_a_file_and_neither_through_a_pipe_nor_beside_saved_ones(
    options: tuple[str, ...], to_file: bool, is_whole: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forensics.cli.stacks._whole_stacks", lambda _hosts: [("a-1", "all frames of it")])
    monkeypatch.setattr("forensics.cli.stacks._is_file", lambda: to_file)
    done = forensics("stacks", os.getpid(), *options, cwd=tmp_path)
    assert ("all frames of it" in done.stdout.decode()) == is_whole
    assert [p.read_text() for p in tmp_path.rglob("a-1*")] == ["all frames of it"] * bool(options)


def test_a_file_is_told_from_a_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads, writes = os.pipe()
    with os.fdopen(reads), os.fdopen(writes, "w") as pipe, (tmp_path / "rank0.txt").open("w") as file:
        for stream, expected in ((pipe, False), (file, True), (io.StringIO(), False)):
            monkeypatch.setattr("sys.stdout", stream)
            assert _is_file() == expected


def test_what_was_saved_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forensics.cli.stacks._whole_stacks", lambda _hosts: [("a-1", "x"), ("a-2", "y")])
    assert _save((), tmp_path / "stacks") == f"the stacks of 2 processes were saved in {tmp_path / 'stacks'}"
    assert {p.read_text() for p in (tmp_path / "stacks").iterdir()} == {"x", "y"}


def test_bad_usage_is_one_line() -> None:
    for words in ((), ("4711", "--job", "4711"), (2**22 + 1,)):
        done = forensics("stacks", *words)
        assert done.returncode == 2 and done.stderr.count(b"\n") == 1, words


def test_who_asks_for_the_stacks_of_a_stall_is_told_at_the_start_that_nothing_takes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: tuple[set[str], dict[str, object]] = ({"stall_s"}, {"stall_s": 10.0})
    monkeypatch.setattr("forensics.capture.live_stacks.py_spy_path", lambda _commands: "")
    assert "pip install py-spy" in without_stacks(*asked)
    assert without_stacks(set(), {"stall_s": 900.0}) == without_stacks({"stall_s"}, {"stall_s": 0.0}) == ""
    monkeypatch.setattr("forensics.capture.live_stacks.py_spy_path", lambda _commands: "/usr/bin/py-spy")
    assert without_stacks(*asked) == ""


def test_py_spy_of_the_environment_of_the_job_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    (tmp_path / "python").symlink_to("/bin/sh")
    assert py_spy_path([f"{tmp_path}/python -u train.py"]) == ""
    (tmp_path / "py-spy").write_text("#!/bin/sh\n")
    (tmp_path / "py-spy").chmod(0o755)
    assert py_spy_path([f"{tmp_path}/python -u train.py"]) == f"{tmp_path}/py-spy"
    assert without_stacks({"stall_s"}, {"stall_s": 10.0}, [f"{tmp_path}/python", "-u", "train.py"]) == ""
