"""A job's end is not held up by its report. What analyses the bundle is played here by a program that takes its time."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from forensics.capture.options import Options

pytestmark = [pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"), pytest.mark.seconds]
SLOW = "#!/bin/sh\nwhile [ ! -e {go} ]; do sleep 0.05; done\necho 'forensics report on this run\nlate' > {bundle}/report.txt\n"
RUN = (
    "import sys, types; from forensics.capture import foreground, options, reporting\n"
    "reporting.REPORT_S = 0.3; reporting.sys = types.SimpleNamespace(executable=sys.argv[1])\n"
    "foreground.main(options.Options.from_json(sys.argv[2]))"
)


def run(script: str, folder: Path, **options: object) -> subprocess.CompletedProcess[bytes]:
    """The captured end of a shell script whose report is made when the file `go` is there."""
    slow = folder / "slow"
    slow.write_text(SLOW.format(go=folder / "go", bundle=folder / "b"))
    slow.chmod(0o755)
    given = Options(command=["/bin/sh", "-c", script], folder=str(folder / "b"), **options).to_json()
    command = [sys.executable, "-P", "-c", RUN, str(slow), given]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=120)


def test_a_late_report_holds_up_neither_the_end_nor_a_reader_of_the_output(tmp_path: Path) -> None:
    wanted, told = tmp_path / "report.out", tmp_path / "told"
    hook = f"cp {{bundle}}/report.txt {told}"
    done = run("echo out; exit 3", tmp_path, output=str(wanted), on_crash=hook)  # the pipes are closed, or it would hang
    assert (done.returncode, done.stdout) == (3, b"out\n")
    late = f"forensics: the report is not ready; forensics why {tmp_path / 'b'} shows it\n"
    assert done.stderr.decode() == f"{late}forensics: captured in {tmp_path / 'b'}\n"
    assert not wanted.exists() and not told.exists()
    (tmp_path / "go").touch()
    until = time.monotonic() + 100
    while not (wanted.exists() and told.exists() and wanted.read_text()) and time.monotonic() < until:
        time.sleep(0.05)
    assert wanted.read_text() == "late\n" and told.exists()


def test_a_good_end_is_stored_behind_it(tmp_path: Path) -> None:
    done = run("echo out", tmp_path, remember=True, keep="always")
    assert (done.returncode, done.stdout) == (0, b"out\n")
    assert not (tmp_path / "b" / "report.txt").exists()
    (tmp_path / "go").touch()


def test_a_report_in_time_is_shown_as_ever(tmp_path: Path) -> None:
    (tmp_path / "go").touch()
    done = run("exit 3", tmp_path)
    assert (done.returncode, done.stderr.decode()) == (3, f"\nlate\nforensics: captured in {tmp_path / 'b'}\n")


def test_of_a_run_that_keeps_nothing_the_report_is_shown_and_nothing_is_left(tmp_path: Path) -> None:
    fast, state = tmp_path / "fast", tmp_path / "state"
    fast.write_text('#!/bin/sh\necho "forensics report on this run\nit broke" > "$5/report.txt"\n')
    fast.chmod(0o755)
    given = Options(command=["/bin/sh", "-c", "echo out; exit 3"], keep="never", kernel_log=False).to_json()
    env = {**os.environ, "FORENSICS_RUNS": str(state)}
    command = [sys.executable, "-P", "-c", RUN, str(fast), given]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=120, env=env)
    assert (done.returncode, done.stdout, done.stderr) == (3, b"out\n", b"\nit broke\n")
    until = time.monotonic() + 20
    while [*state.iterdir()] and time.monotonic() < until:
        time.sleep(0.05)
    assert not [*state.iterdir()]
