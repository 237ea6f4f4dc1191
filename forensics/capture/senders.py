"""Who sent a signal. As root the kernel's tracing tells it of every signal; without rights only of those that we receive.

    bash-880     [001] d..1.  1234.567890: signal_generate: sig=9 errno=0 code=0 comm=python pid=4711 grp=1 res=0
    -> pid 880 (bash) sent SIGKILL to pid 4711

An instance of its own in tracefs is made, with a filter, and removed at the end. `code`: 0 is kill(), -6 tgkill(), 128 the kernel
itself (include/uapi/asm-generic/siginfo.h). (kernel: Documentation/trace/events.rst.)
"""

from __future__ import annotations

import contextlib
import os
import re
import time

from forensics.capture import proc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ROOTS = ("/sys/kernel/tracing", "/sys/kernel/debug/tracing")
SIGNALS = (1, 2, 3, 6, 9, 10, 12, 15, 24)
FILTER = "(" + " || ".join(f"sig == {n}" for n in SIGNALS) + ") && result == 0"
LINE = re.compile(
    r"^\s*(?P<comm>.+)-(?P<pid>\d+)\s+\[\d+\]\s+\S+\s+(?P<time>\d+\.\d+): signal_generate: "
    r"sig=(?P<sig>\d+) errno=-?\d+ code=(?P<code>-?\d+) comm=(?P<to_comm>.*) pid=(?P<to>\d+) grp=(?P<grp>\d+)"
)
MAX_SENT = 2000
PREFIX = "forensics-"


class Senders:
    """The signals that were sent to any process. `closed`: why the kernel's tracing cannot be used."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.closed = ""
        self._folder, self._fd, self._rest = "", -1, ""
        root = next((r for r in ROOTS if os.path.isdir(f"{r}/instances")), "")
        if not root:
            self.closed = "the kernel's tracing is not mounted, or may not be looked at"
            return
        try:
            self._open(root)
        except OSError as error:
            self.closed = f"tracing: {error.strerror}"
            self.close()

    def _open(self, root: str) -> None:
        _clear_left_over(root)
        folder = f"{root}/instances/{PREFIX}{os.getpid()}"
        os.mkdir(folder)
        self._folder = folder
        _write(f"{folder}/buffer_size_kb", "64")
        _write(f"{folder}/trace_clock", "mono")
        _write(f"{folder}/events/signal/signal_generate/filter", FILTER)
        _write(f"{folder}/events/signal/signal_generate/enable", "1")
        self._fd = os.open(f"{folder}/trace_pipe", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)

    def read(self) -> None:
        """Take what was sent since the last call."""
        while self._fd >= 0:
            try:
                block = os.read(self._fd, 65536)
            except OSError:
                return
            if not block:
                return
            lines = (self._rest + block.decode("utf-8", "replace")).split("\n")
            self._rest = lines.pop()
            for line in lines:
                found = LINE.match(line)
                if found and len(self.sent) < MAX_SENT:
                    self.sent.append(_sent(found))

    def close(self) -> None:
        """Remove the instance."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        if self._folder:
            with contextlib.suppress(OSError):
                _write(f"{self._folder}/events/signal/signal_generate/enable", "0")
                os.rmdir(self._folder)
            self._folder = ""


def _sent(found: re.Match[str]) -> dict[str, Any]:
    sender = int(found["pid"])
    moment = time.time() - (time.monotonic() - float(found["time"]))
    told: dict[str, Any] = {"time": moment, "signal": int(found["sig"]), "code": int(found["code"]), "to": int(found["to"])}
    told |= {"to_comm": found["to_comm"], "from": sender, "from_comm": found["comm"].strip(), "group": found["grp"] == "1"}
    command = proc.command_line(sender)
    return told | ({"from_command": command} if command else {})


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def _clear_left_over(root: str) -> None:
    """Remove the instances of captures that were killed."""
    for name in os.listdir(f"{root}/instances"):
        pid = name[len(PREFIX) :]
        if name.startswith(PREFIX) and pid.isdigit() and not os.path.exists(f"/proc/{pid}"):
            with contextlib.suppress(OSError):
                os.rmdir(f"{root}/instances/{name}")
