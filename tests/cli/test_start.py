"""What a short run imports: a quarter of a second is mostly imports, so none that it does not need."""

import os
import subprocess
import sys

import pytest

TINY = "step 1 loss 2.3\nstep 2 loss 2.2\nKilled\n"
# Packages that the answer to a short log on standard input does not need, each with all that is in it.
NOT_NEEDED = (
    *("asyncio", "concurrent", "email", "http", "jinja2", "logging", "matplotlib", "multiprocessing", "numpy", "pandas", "rich"),
    *(
        "importlib.resources",
        "shellingham",
        "sqlite3",
        "ssl",
        "tempfile",
        "typer",
        "unittest",
        "xml",
        "yaml",
        "zipfile",
    ),
    *("forensics.adapters", "forensics.api", "forensics.capture", "forensics.explain", "forensics.fleet", "forensics.history"),
    *(
        "forensics.cli.analyze",
        "forensics.cli.app",
        "forensics.cli.batch",
        "forensics.cli.common",
        "forensics.cli.help",
        "forensics.cli.help",
        "forensics.cli.signatures",
    ),
    *("forensics.database.causefiles", "forensics.signature_lint", "forensics.report.page"),
)


def _imported() -> set[str]:
    command = [sys.executable, "-X", "importtime", "-m", "forensics", "stdin"]
    done = subprocess.run(command, input=TINY, capture_output=True, text=True, check=True, env=dict(os.environ))
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


def test_a_short_log_on_standard_input_imports_only_what_it_needs() -> None:
    _imported()  # compiles the database, if it is not there yet
    found = _imported()
    assert "forensics.pipeline" in found
    assert sorted(name for name in found if name.startswith(tuple(f"{n}." for n in NOT_NEEDED)) or name in NOT_NEEDED) == []


WITNESS = """
import atexit, os, sys, threading
end = os._exit
def at_once(status):
    os.write(1, b"at once\\n")
    end(status)
os._exit = at_once
atexit.register(lambda: print("kept"))
sys.argv = ["forensics", "stdin", *sys.argv[1:]]
from forensics.cli import command
{before}
command()
"""


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("before", "args", "last", "status"),
    [
        ("", (), ["kept", "at once"], 0),
        ("", ("--exit-code",), ["kept", "at once"], 1),
        ("threading.Thread(target=lambda: (threading.main_thread().join(), print('worked'))).start()", (), ["worked", "kept"], 0),
    ],
    ids=["an answer", "a failure told", "a thread that works"],
)
def test_the_process_ends_at_once_when_all_is_written(before: str, args: tuple[str, ...], last: list[str], status: int) -> None:
    command = [sys.executable, "-c", WITNESS.format(before=before), *args]
    done = subprocess.run(command, input=TINY, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert done.returncode == status
    assert lines[-len(last) - 1] == "  <stdin>  3 lines, plain" and lines[-len(last) :] == last
