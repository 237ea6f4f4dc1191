"""The command line as a user calls it, in this process: what it prints, and its exit status.

A process of its own takes 0.3 s, this a tenth of that. What only a process shows - signals, pipes, terminals, what is imported -
is tested with one; `tests/cli/test_process.py` compares the two.
"""

import atexit
import contextlib
import gc
import io
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from unittest import mock

from forensics import cli
from forensics.core import limits


@contextlib.contextmanager
def unchanged_process() -> Iterator[None]:
    """What a command changes in this process is as before: the folder, the limits, the handler of Ctrl-C, the collector."""
    here, limits_before, interrupt, threshold = Path.cwd(), limits.current, signal.getsignal(signal.SIGINT), gc.get_threshold()
    try:
        yield
    finally:
        os.chdir(here)
        limits.use(limits_before)
        signal.signal(signal.SIGINT, interrupt)
        gc.set_threshold(*threshold)
        atexit.unregister(gc.freeze)


def forensics(*args: object, stdin: bytes = b"", cwd: Path | None = None, **env: str) -> CompletedProcess[bytes]:
    """What `forensics ARGS...` does, with `env` over the environment; nothing of it is left behind in this process."""
    given = ["forensics", *map(str, args)]
    streams = {name: io.TextIOWrapper(io.BytesIO(data), encoding="utf-8") for name, data in
               (("stdin", stdin), ("stdout", b""), ("stderr", b""))}  # fmt: skip
    try:
        with unchanged_process(), mock.patch.multiple(sys, argv=given, **streams), mock.patch.dict(os.environ, env):
            os.chdir(cwd or Path.cwd())
            cli.main()
    except SystemExit as left:
        status = left.code if isinstance(left.code, int) else int(left.code is not None)
    else:
        status = 0
    for name in ("stdout", "stderr"):
        streams[name].flush()
    out, err = (streams[name].buffer.getvalue() for name in ("stdout", "stderr"))  # type: ignore[attr-defined]
    assert b"Traceback (most recent call last):\n  File" not in err
    return CompletedProcess(given, status, out, err)


def in_text(*args: object, stdin: str = "", cwd: Path | None = None, **env: str) -> CompletedProcess[str]:
    """The same with texts instead of bytes."""
    done = forensics(*args, stdin=stdin.encode(), cwd=cwd, **env)
    return CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def measured() -> dict[str, str]:
    """What a process that is given an environment of its own needs for its coverage to be measured; nothing in an ordinary run."""
    return {name: value for name, value in os.environ.items() if name.startswith("COVERAGE")}
