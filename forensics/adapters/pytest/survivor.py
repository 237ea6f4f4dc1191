"""The process that survives a killed session, and writes the summary that the session could not write.

It forks before any code of the user is imported: the child is the session; the parent waits, forwards signals, and ends with the
same status. It writes something only if the child died.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from forensics.adapters.pytest.junit import write
from forensics.adapters.pytest.results import read_notes
from forensics.adapters.pytest.watched import Watched, death_of, new_bundle

if TYPE_CHECKING:
    import pytest

FORWARDED_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


def fork_survivor(config: pytest.Config) -> None:
    """Fork. Returns in the child, which is watched; the parent raises SystemExit when the child has ended."""
    bundle, results, began = new_bundle("session"), tempfile.TemporaryFile(), time.time()  # noqa: SIM115  both processes need it
    sys.stdout.flush()
    sys.stderr.flush()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (*FORWARDED_SIGNALS, signal.SIGCHLD))
    # Safe: while SIGCHLD is ignored, the system reaps children and tells nobody; the session gets back what was set before.
    children = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()  # safe: before any code of the user is imported, so no thread runs; the child is reaped by _end_of alone
    if pid == 0:
        signal.signal(signal.SIGCHLD, children)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        config.pluginmanager.register(Watched(config, bundle, results), "forensics-watched")
        return
    status = os.waitstatus_to_exitcode(_end_of(pid))
    tests = read_notes(results)
    if not tests.finished:
        how = _described(status, tests.running)
        death = death_of(bundle, how)
        print("\n".join(["", " forensics ".center(shutil.get_terminal_size().columns, "="), *death.lines]), flush=True)
        path = config.known_args_namespace.xmlpath
        if path:
            write(Path(os.path.expanduser(os.path.expandvars(path))), death, tests, began)  # noqa: PTH111  as pytest does
    raise SystemExit(status if status >= 0 else 128 - status)


def _end_of(pid: int) -> int:
    """The status of the child after it has ended. A terminal sends its signals to both processes; others are forwarded."""
    while True:
        found = signal.sigwaitinfo((*FORWARDED_SIGNALS, signal.SIGCHLD))
        if found.si_signo != signal.SIGCHLD:
            if found.si_code <= 0:  # SI_USER: a process sent it, and the child did not get it
                os.kill(pid, found.si_signo)  # safe: the child is not reaped, so its process id is its own
            continue
        ended, status = os.waitpid(pid, os.WNOHANG)  # safe: this child alone; SIGCHLD was blocked before it was started
        if ended:
            return status


def _described(status: int, running: list[str]) -> str:
    if status >= 0:
        how = f"ended with exit status {status} before it was finished"
    else:
        known = signal.Signals(-status).name if -status in set(signal.Signals) else "unknown"
        how = f"was ended by signal {-status} ({known})"
    while_ = f" while {', '.join(running[:4])} ran" if running else ""
    return f"the test session {how}{while_}"
