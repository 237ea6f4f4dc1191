"""`forensics stacks` of a program that runs: its place, and the folder that `forensics ranks` reads."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from forensics.capture.live_stacks import py_spy_path
from forensics.cli.run import without_stacks
from forensics.cli.stacks import _save
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


@pytest.mark.skipif(not py_spy_path([]), reason="py-spy is not installed")
def test_whole_stacks_go_to_a_file_and_not_through_a_pipe(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-uc", "print(1); import time; time.sleep(60)"], stdout=subprocess.PIPE) as child:
        assert child.stdout and child.stdout.readline()
        try:
            piped = forensics("stacks", child.pid).stdout.decode()
            with (tmp_path / "one.txt").open("wb") as file:
                command = [sys.executable, "-m", "forensics", "stacks", str(child.pid)]
                subprocess.run([*command, "--save", tmp_path / "saved"], stdout=file, check=True)
                saved = (tmp_path / "one.txt").read_text()
                subprocess.run(command, stdout=file, check=True)
            forensics("stacks", child.pid, "-o", tmp_path / "two.txt")
        finally:
            child.kill()
    assert f"pid {child.pid}" in piped and "forensics run: stacks of pid" not in piped + saved
    assert (tmp_path / "one.txt").read_text().count("forensics run: stacks of pid") == 1
    assert (tmp_path / "two.txt").read_text().count("forensics run: stacks of pid") == 1


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
