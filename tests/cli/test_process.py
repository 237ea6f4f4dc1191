"""A process of its own does what the command line does in this one: the same words, bytes for bytes, and the same exit status."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commandline import forensics

SHAPE = b"RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 16x2)\n"
LATIN = "Fehler: Gerät fehlt – größer als 5 µs\n".encode()  # what stands in a log is told in UTF-8, whatever the locale


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("args", "status"),
    [
        (("stdin", "-f", "json"), 0),
        (("stdin", "--exit-code"), 1),
        (("analyze", "/nowhere/at/all"), 2),
        (("frobnicate",), 2),
        (("--help",), 0),
        (("explain", "no.such_thing"), 1),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_process_says_the_same_and_ends_with_the_same_status(args: tuple[str, ...], status: int, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "forensics", *args],
        input=LATIN + SHAPE,
        capture_output=True,
        cwd=tmp_path,
        env={**os.environ, "LC_ALL": "C"},
        timeout=300,
    )
    here = forensics(*args, stdin=LATIN + SHAPE, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (here.returncode, here.stdout, here.stderr)
    assert done.returncode == status


EARLY = """
import importlib, os, signal, training_forensics
importlib.import_module = lambda name: os.kill(os.getpid(), signal.SIGINT)  # the key comes while the first modules are loaded
training_forensics.main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals of POSIX")
def test_an_interrupt_before_the_command_line_stands_ends_without_a_traceback() -> None:
    done = subprocess.run([sys.executable, "-c", EARLY], capture_output=True, cwd=Path(__file__).parents[2], check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, b"")
