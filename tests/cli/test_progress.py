"""The progress bar: on stderr, for long work, where a person watches, and nowhere else."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from forensics.cli.progress import CLEAR_LINE, progress_line

SCRIPT = """
import sys, time
from pathlib import Path
from forensics.cli import progress
progress.PATIENCE_S = float(sys.argv[2])
with progress.bar([Path(sys.argv[1])]):
    Path(sys.argv[1], "big.log").read_bytes()
    time.sleep(0.6)
print("report")
"""
SIZE = 1 << 20


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    (tmp_path / "big.log").write_bytes(b"x" * SIZE)
    return tmp_path


def watched(logs: Path, patience_s: float, term: str = "xterm") -> tuple[str, str]:
    """What a terminal on stderr, and a pipe on stdout, get."""
    main, other = pty.openpty()
    command = [sys.executable, "-c", SCRIPT, str(logs), str(patience_s)]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=other, env={**os.environ, "TERM": term}, timeout=300, check=True
    )
    os.close(other)
    said = b""
    while True:
        try:
            piece = os.read(main, 65536)
        except OSError:
            break
        said += piece
        if not piece:
            break
    os.close(main)
    return said.decode(), done.stdout.decode()


def test_long_work_shows_how_far_it_is(logs: Path) -> None:
    bar, report = watched(logs, 0.1)
    assert re.search(r"reading +100 %  1 MiB of 1 MiB  [\d.]+ \wi?B/s  0:00", bar), bar
    assert bar.endswith(CLEAR_LINE)
    assert report == "report\n"


def test_short_work_and_simple_terminals_show_nothing(logs: Path) -> None:
    assert watched(logs, 60)[0] == ""
    assert watched(logs, 0.1, term="dumb")[0] == ""


def test_a_pipe_sees_nothing(logs: Path) -> None:
    command = [sys.executable, "-c", SCRIPT, str(logs), "0.1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert (done.stderr, done.stdout) == ("", "report\n")


def test_work_of_unknown_size_shows_what_is_done() -> None:
    assert progress_line("cases", 14, 0, 7, lambda amount: f"{amount:.3g}") == "cases     14  2/s  0:07"
    assert progress_line("cases", 14, 56, 70, lambda amount: f"{amount:.3g}") == "cases      25 %  14 of 56  0.2/s  1:10"
