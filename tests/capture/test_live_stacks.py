"""The processes of a job that runs now: who they are, and where they wait in the kernel, without py-spy."""

import os
import subprocess
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
    assert live_stacks._py_spy([f"{tmp_path}/python train.py"]) == str(spy)
    monkeypatch.setattr(os, "geteuid", lambda: spy.stat().st_uid + 1)
    assert spy.stat().st_uid == 0 or live_stacks._py_spy([f"{tmp_path}/python train.py"]) != str(spy)


def test_what_watches_a_rank_is_left_out(monkeypatch: pytest.MonkeyPatch, sleeper: int) -> None:
    monkeypatch.setattr(live_stacks, "WATCHER", "sleep")
    assert live_stacks.look("pid", str(sleeper))["processes"] == []
