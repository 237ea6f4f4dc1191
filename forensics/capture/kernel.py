"""Read the kernel's records from the start of the job on, as lines with a time of this machine's clock.

    /dev/kmsg   6,3964,206764307,-;python3 invoked oom-killer: ...  ->  2026-08-22T03:00:07,123456+00:00 python3 invoked ...

Root or CAP_SYSLOG may read /dev/kmsg; for other users journalctl and dmesg are run at the end. Refusals are reported. (kernel:
Documentation/ABI/testing/dev-kmsg.)
"""

from __future__ import annotations

import contextlib
import os
import time
from datetime import UTC

from forensics.capture.asked import ask
from forensics.capture.times import time_text

MAX_FIRST_LINES = 300  # chosen by hand: from the start of the job, where drivers and mounts report what is wrong
MAX_LAST_LINES = 3000  # up to its end: an OOM report with a table of 2,000 processes, and the lines before it
RECORD_BYTES = 8192  # the kernel's CONSOLE_EXT_LOG_MAX: read() of /dev/kmsg fails if a record is longer than the buffer
JOURNAL_QUERY_S = 5.0  # time limit for a journal on a slow disk
READERS = (
    ("journalctl", ["journalctl", "--dmesg", "--quiet", "--no-pager", "--output=short-iso-precise"]),
    ("dmesg", ["dmesg", "--time-format", "iso"]),
)


class KernelLog:
    """Follows the kernel's log. `unavailable`: why it cannot be read, empty if it can. `method`: the command or file it is read
    from, empty if it is not."""

    def __init__(self, wanted: bool = True) -> None:
        self.first: list[str] = []
        self.last: list[str] = []
        self.left_out = 0
        self.unavailable, self.method = ("" if wanted else "not asked for"), ""
        self.started = time.time()
        self._fd = -1
        if not wanted:
            return
        try:
            self._fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            os.lseek(self._fd, 0, os.SEEK_END)
            self.method = "/dev/kmsg"
        except OSError as error:
            self.unavailable = f"/dev/kmsg: {error.strerror}"

    def read(self) -> None:
        """Read the records since the last call."""
        while self._fd >= 0:
            try:
                record = os.read(self._fd, RECORD_BYTES)
            except BlockingIOError:
                return
            except BrokenPipeError:  # overwritten before it was read: the next one is the oldest there is
                self.left_out += 1
                continue
            except OSError as error:
                self.unavailable = f"/dev/kmsg: {error.strerror}"
                os.close(self._fd)
                self._fd = -1
                return
            self._keep(record.decode("utf-8", "replace"))

    def _keep(self, record: str) -> None:
        head, _, text = record.partition(";")
        parts = head.split(",")
        text = text.partition("\n")[0]
        with contextlib.suppress(ValueError, IndexError):
            # The stamp counts from boot without the time asleep, as the monotonic clock does.
            moment = time.time() - (time.monotonic() - int(parts[2]) / 1e6)
            self._add(time_text(moment).replace(".", ",") + " " + text)

    def _add(self, line: str) -> None:
        if len(self.first) < MAX_FIRST_LINES:
            self.first.append(line)
            return
        self.last.append(line)
        if len(self.last) > MAX_LAST_LINES:
            del self.last[0]
            self.left_out += 1

    def killed_name(self, pid: int) -> str:
        """The name of `pid`, if the records say that the kernel killed it for memory, else the empty string.

        (mm/oom_kill.c: `Killed process 4711 (python) ...`)
        """
        words = f"illed process {pid} ("
        told = (line.partition(words)[2] for line in [*self.first, *self.last] if words in line)
        return next((rest.partition(") ")[0] for rest in told), "")

    def stop_following(self) -> None:
        """Stop following, and read the log at the end with journalctl or dmesg, which also have earlier records."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        self.first, self.last = [], []
        self.unavailable = self.unavailable or "not followed"

    def finish(self) -> list[str]:
        """All lines; if the log could not be followed, the output of journalctl or dmesg."""
        self.read()
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        elif self.unavailable != "not asked for":
            self._ask()
        return [*self.first, *self.last]

    def _ask(self) -> None:
        refused = [self.unavailable]
        for name, command in READERS:
            since = ["--since", f"@{int(self.started)}"] if name == "journalctl" else []
            answer = ask([*command, *since], JOURNAL_QUERY_S)
            border = time_text(self.started - 1)[:19]
            lines = [x for x in answer.text.splitlines() if name == "journalctl" or _iso(x) >= border]
            lines = [x for x in lines if not x.startswith("-- ")]
            if answer.fault:
                refused.append(answer.fault_of(name))
                continue
            if name == "journalctl" and not lines:
                refused.append("journalctl: nothing of the kernel that may be read")
                continue
            for line in lines:
                self._add(line)
            self.method, self.unavailable = name, ""
            return
        self.unavailable = "; ".join(refused)


def _iso(line: str) -> str:
    """The date and time at the start of a line, in UTC; if there is none, a text that sorts after all others."""
    with contextlib.suppress(ValueError):
        from datetime import datetime

        found = datetime.fromisoformat(line.partition(" ")[0].replace(",", "."))
        return found.astimezone(UTC).isoformat()[:19]
    return "9"
