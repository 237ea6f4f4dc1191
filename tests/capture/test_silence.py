"""Silence is counted from the last growth of anything that the job writes: pipes, redirected streams, files of its own."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from forensics.capture import growth
from forensics.capture.growth import Growth
from forensics.capture.options import Options
from tests.capture.test_run import run_with_helper

pytestmark = [pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc"), pytest.mark.seconds]
STALL_S = 1.2
LIVELY = """import sys, time
for step in range(10):
    {write}
    time.sleep(0.35)
"""
WRITES = {
    "standard output in a file": "print(step, flush=True)",
    "standard error in a file": "print(step, file=sys.stderr, flush=True)",
    "a log of its own, held open": "log = globals().get('log') or open('own.log', 'w', buffering=1); print(step, file=log)",
    "a log of its own, opened for each line": "__import__('os').makedirs('logs', exist_ok=True)\n    open('logs/own.csv', 'a').write('1')",
}
HANGS = """import threading, time
for step in range(4):
    print(step, flush=True)
    time.sleep(0.3)
def in_the_deadlock():
    threading.Event().wait(30)
in_the_deadlock()
"""


@pytest.fixture
def helped(tmp_path: Path) -> Path:
    """A file with a line for each stack that was taken: the time, by a stand-in for py-spy."""
    program = tmp_path / "bin" / "py-spy"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ndate +%s.%N >> {tmp_path}/helped\necho\n")
    program.chmod(0o755)
    return tmp_path / "helped"


def run(code: str, folder: Path, kill_after_s: float = 0.0) -> tuple[dict[str, object], str]:
    """Run `code` with both streams in files, in a folder of its own. Returns run.json and job.log."""
    here = folder / "here"
    here.mkdir()
    options = Options(
        command=[sys.executable, "-c", code], folder=str(folder / "b"), keep="always", stall_s=STALL_S, report=False
    )
    command = run_with_helper(options, folder / "bin" / "py-spy")
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        running = subprocess.Popen(command, stdout=out, stderr=err, cwd=here)
        if kill_after_s:
            time.sleep(kill_after_s)
            running.terminate()
        running.wait(60)
    return json.loads((folder / "b" / "run.json").read_text()), (folder / "b" / "job.log").read_text()


@pytest.mark.parametrize("kind", WRITES)
def test_a_lively_run_is_not_silent_wherever_it_writes(kind: str, helped: Path, tmp_path: Path) -> None:
    told, log = run(LIVELY.format(write=WRITES[kind]), tmp_path)
    assert told["faults"] == []
    assert not helped.exists()
    assert "no output came" not in log
    assert told["output"]["longest_silence_s"] < STALL_S  # type: ignore[index]


def test_the_silence_of_a_deadlock_is_counted_from_its_last_line(helped: Path, tmp_path: Path) -> None:
    began = time.time()
    told, log = run(HANGS, tmp_path, kill_after_s=6.0)
    last = (tmp_path / "out").stat().st_mtime
    assert began < last < began + 5
    stacks_at = [float(line) for line in helped.read_text().split()]
    assert min(stacks_at) >= last + STALL_S - 0.1  # none while it worked
    silence_s = float(log.partition("no output came for ")[2].split()[0])
    ended = next(s for s in log.splitlines() if "the command, pid" in s)
    lived_s = float(ended.rpartition("after ")[2].split()[0])
    assert STALL_S < silence_s < lived_s - 0.8
    assert told["faults"] == []


def test_stacks_are_taken_again_in_a_silence_that_goes_on(helped: Path, tmp_path: Path) -> None:
    run("import time; time.sleep(6)", tmp_path)
    assert 2 <= len(helped.read_text().split()) <= 3


def test_files_that_other_programs_write_are_no_life(tmp_path: Path) -> None:
    began = time.time() - 60
    (tmp_path / "b").mkdir()
    for name in ("own.csv", "other.log", "b/job.log"):
        (tmp_path / name).write_text("x")
    os.utime(tmp_path / "own.csv", (began + 10, began + 10))
    made = Growth((), str(tmp_path / "b"))
    with (tmp_path / "other.log").open("a") as other:
        assert made.own_files([1 << 22], str(tmp_path), began) == pytest.approx(began + 10)
        other.write("y")
        other.flush()
        assert made.own_files([1 << 22], str(tmp_path), began) is None
        other.write("y")
        other.flush()
        assert made.own_files([os.getpid()], str(tmp_path), began) == pytest.approx(time.time(), abs=5)


def test_a_change_in_the_future_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_text("x")
    os.utime(path, (time.time() + 3600, time.time() + 3600))
    made = Growth()
    assert made.own_files([], str(tmp_path), time.time() - 9) == pytest.approx(time.time(), abs=2)
    assert made.own_files([], str(tmp_path), time.time() - 9) is None


def test_a_renamed_stream_is_followed(tmp_path: Path) -> None:
    with (tmp_path / "a").open("w") as file:
        made = Growth([file.fileno()])
        (tmp_path / "a").rename(tmp_path / "b")
        assert made.look() is None
        file.write("x")
        file.flush()
        assert made.look() == pytest.approx(time.time(), abs=2)
        assert made.look() is None


def test_a_large_folder_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "MAX_LISTED_FILES", 5)
    for number in range(20):
        (tmp_path / f"{number}.bin").touch()
    assert len(list(growth._listed(str(tmp_path), ""))) == 5


def test_what_guard_writes_beside_the_job_is_no_growth_of_it(tmp_path: Path) -> None:
    bundle = tmp_path / "bundles" / "0"
    (bundle / "stacks").mkdir(parents=True)
    (bundle / "run.json").write_text("{}")
    (bundle / "stacks" / "7.txt").write_text("")
    assert Growth().own_files([], str(tmp_path), 0.0) is None
    (tmp_path / "bundles" / "metrics.csv").write_text("1")
    assert Growth().own_files([], str(tmp_path), 0.0) is not None
