"""The progress bar: on stderr, for long work, where a person watches, and nowhere else."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys, time
from pathlib import Path
from forensics.cli import progress
progress.MIN_PROGRESS_BYTES = int(sys.argv[2])
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


def watched(logs: Path, long: int, term: str = "xterm") -> tuple[str, str]:
    """What a terminal on stderr, and a pipe on stdout, get."""
    main, other = pty.openpty()
    command = [sys.executable, "-c", SCRIPT, str(logs), str(long)]
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
    bar, report = watched(logs, SIZE // 2)
    assert "reading" in bar
    assert "100%" in bar
    assert report == "report\n"


def test_short_work_and_simple_terminals_show_nothing(logs: Path) -> None:
    assert watched(logs, 2 * SIZE)[0] == ""
    assert watched(logs, SIZE // 2, term="dumb")[0] == ""


def test_a_pipe_sees_nothing(logs: Path) -> None:
    command = [sys.executable, "-c", SCRIPT, str(logs), str(SIZE // 2)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert (done.stderr, done.stdout) == ("", "report\n")
