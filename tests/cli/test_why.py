"""`why` shows the last run that ended, and says in one line which one still runs."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from forensics.capture.options import Options

pytestmark = [pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc"), pytest.mark.seconds]
RUN = [sys.executable, "-P", "-m", "forensics.capture", "run"]


def options(*command: str) -> str:
    return Options(command=list(command), keep="always", report=False, quiet=True).to_json()


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FORENSICS_RUNS", str(tmp_path / "runs"))
    return tmp_path / "runs"


@pytest.fixture
def running(runs: Path, tmp_path: Path) -> Iterator[Path]:
    """The bundle of a job that runs until the test is over."""
    script = f"until [ -e {tmp_path}/go ]; do sleep 0.05; done"
    job = subprocess.Popen([*RUN, options("/bin/sh", "-c", script)])
    until = time.monotonic() + 60
    while not list(runs.glob("*/run.json")) and time.monotonic() < until:
        time.sleep(0.02)
    yield next(runs.glob("*/run.json")).parent
    (tmp_path / "go").touch()
    job.wait(60)


def why(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "forensics", "why", *arguments], capture_output=True, text=True, check=False)


def test_a_run_that_goes_on_is_one_line(running: Path) -> None:
    done = why()
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("forensics:") == 1
    assert "still running" in done.stderr and str(running) in done.stderr
    named = why(str(running))
    assert named.returncode == 0 and len(named.stdout.splitlines()) == 1 and "still running" in named.stdout


def test_the_newest_run_that_ended_is_shown_beside_one_that_goes_on(running: Path, runs: Path) -> None:
    subprocess.run([*RUN, options("/bin/sh", "-c", "echo first is over; kill -SEGV $$")], check=False, capture_output=True)
    os.utime(running / "run.json")  # a running one is written to again and again
    done = why()
    assert "process.segfault" in done.stdout
    assert len(done.stderr.splitlines()) == 1 and "still running" in done.stderr


@pytest.mark.parametrize("ended", [True, False], ids=["ended", "killed with its capture"])
def test_times_of_a_captured_run_are_in_its_own_zone(ended: bool, runs: Path, tmp_path: Path) -> None:
    """Seen from a machine of another zone, and with stamps without a zone."""
    code = (
        "import datetime, os, signal, time\n"
        "for step in range(3): print(datetime.datetime.now().isoformat(' ', 'seconds'), 'step', step, flush=True); time.sleep(0.4)\n"
        + ("os.kill(os.getpid(), signal.SIGSEGV)" if ended else "os.kill(os.getppid(), 9); os.kill(os.getpid(), 9)")
    )
    zoned = os.environ | {"TZ": "Asia/Kolkata"}
    subprocess.run([*RUN, options(sys.executable, "-c", code)], env=zoned, check=False, capture_output=True)
    told = " ".join((why("--again").stdout + why("-f", "json").stdout).split())
    assert "is assumed" not in told
    bundle = next(runs.iterdir())
    if ended:
        when = next(line for line in why().stdout.splitlines() if line.startswith("when"))
        written = time.gmtime((bundle / "run.json").stat().st_mtime + 5.5 * 3600)
        assert time.strftime("%Y-%m-%d %H:", written) in when
        assert "+00:00" not in when
