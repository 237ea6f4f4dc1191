"""What a short run imports: a quarter of a second is mostly imports, so none that it does not need."""

import os
import subprocess
import sys

import pytest

TINY = "step 1 loss 2.3\nstep 2 loss 2.2\nKilled\n"
FAILED = (
    "step 1 loss 2.3\nTraceback (most recent call last):\n"
    '  File "/srv/train.py", line 3, in <module>\n    loss.backward()\nRuntimeError: CUDA error: out of memory\n'
)
# Packages that the answer to a short log on standard input does not need, each with all that is in it.
NOT_NEEDED = (
    *("ast", "asyncio", "concurrent", "difflib", "email", "http", "ipaddress", "jinja2", "json", "logging", "matplotlib", "mmap"),
    *("msgspec.inspect", "multiprocessing", "numpy", "pandas", "platform", "regex", "rich", "string"),
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


LOADED = """
import os, sys
end = os._exit
def tell(status):
    os.write(1, b"loaded: " + " ".join(name for name, module in sys.modules.items() if getattr(module, "__spec__", None)).encode())
    end(status)
os._exit = tell
sys.argv = ["forensics", *sys.argv[1:]]
from forensics.cli import command
command()
"""


def _imported(log: str, *command_line: str) -> set[str]:
    """What is loaded at the end, and what was imported on the way. A module that waits until it is used has no spec."""
    command = [sys.executable, "-X", "importtime", "-c", LOADED, *(command_line or ("stdin",))]
    done = subprocess.run(command, input=log, capture_output=True, text=True, check=True, env=dict(os.environ))
    told = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    return told | set(done.stdout.rpartition("loaded: ")[2].split())


@pytest.mark.parametrize("log", [TINY, FAILED], ids=["killed", "an exception"])
def test_a_short_log_on_standard_input_imports_only_what_it_needs(log: str) -> None:
    _imported(log)  # compiles the database, if it is not there yet
    found = _imported(log)
    assert "forensics.pipeline" in found
    left_out = {*NOT_NEEDED} - ({"ast"} if log == FAILED else set())  # the statement that failed is read
    assert sorted(n for n in found if n.startswith(tuple(f"{name}." for name in left_out)) or n in left_out) == []


def test_a_command_loads_nothing_that_only_its_library_may_need() -> None:
    _imported(TINY, "analyze", "-")
    assert {"forensics.pipeline", "typer"} <= (found := _imported(TINY, "analyze", "-"))
    assert found.isdisjoint({"ipaddress", "platform", "selectors", "subprocess", "tokenize"})


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
    assert lines[-len(last) - 1] == "  <stdin>  3 lines" and lines[-len(last) :] == last
