"""Who sent a signal, by the kernel's tracing: a real signal, and what is said where that is closed."""

import os
import subprocess
import time

import pytest

from forensics.capture import senders
from forensics.capture.senders import SignalTrace


@pytest.mark.parametrize("mounted", [True, False], ids=["as it is mounted", "through a mount of its own"])
def test_the_sender_of_a_kill_is_told_and_nothing_is_left(mounted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not mounted:
        monkeypatch.setattr(senders, "ROOTS", ())
    watched = SignalTrace()
    if watched.unavailable:
        pytest.skip(f"needs root and tracing: {watched.unavailable}")
    running = subprocess.Popen(["/bin/sleep", "600"])
    running.kill()
    running.wait()
    until = time.monotonic() + 60
    while not (found := [s for s in watched.sent if s["to"] == running.pid]) and time.monotonic() < until:
        watched.read()
    top = os.dup(watched._top)
    watched.close()
    assert [(s["signal"], s["from"]) for s in found] == [(9, os.getpid())]
    with pytest.raises(FileNotFoundError):
        os.stat(f"instances/forensics-{os.getpid()}", dir_fd=top)
    os.close(top)


def test_where_tracing_may_not_be_used_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> int:
        raise OSError(1, "not mounted, and may not be: Operation not permitted")

    monkeypatch.setattr(senders, "_opened", refused)
    watched = SignalTrace()
    assert watched.unavailable == "tracing: not mounted, and may not be: Operation not permitted"
    watched.read()
    watched.close()
    assert watched.sent == []
