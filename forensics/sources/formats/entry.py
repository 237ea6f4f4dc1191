"""Convert a journal entry to the line that `journalctl -o short-iso-precise` prints for it.

    2025-08-22T03:00:07.123456+00:00 gpu-node-7 systemd[1]: jupyter.service: Failed with result 'oom-kill'.
    2025-08-22T03:00:07.123456+00:00 gpu-node-7 kernel: [11686.888104] python3 invoked oom-killer: ...

A kernel line also has its uptime, as in a syslog file; the time of the boot follows from it. Further lines of a message follow
unchanged. A change of boot is marked by `-- Boot ID --`, as journalctl does.
(The fields are from systemd.journal-fields(7). As in journalctl's short formats, `_SOURCE_...` times are preferred to `__...`.)
"""

import functools
from collections.abc import Iterator, Sequence

from msgspec import Struct

from forensics.core import lazy
from forensics.sources.formats.stamps import from_second
from forensics.sources.origin import Piece

JOURNAL_FIELDS = {
    "message": "MESSAGE", "realtime": "__REALTIME_TIMESTAMP", "source_realtime": "_SOURCE_REALTIME_TIMESTAMP",
    "monotonic": "__MONOTONIC_TIMESTAMP", "source_monotonic": "_SOURCE_MONOTONIC_TIMESTAMP", "boot": "_BOOT_ID",
    "host": "_HOSTNAME", "identifier": "SYSLOG_IDENTIFIER", "command": "_COMM", "syslog_pid": "SYSLOG_PID", "pid": "_PID",
    "transport": "_TRANSPORT",
}  # fmt: skip
NO_PROGRAM_NAME_PATTERN = lazy.regex(r"[\s\[\]:]+")


class Entry(Struct, gc=False, rename=lambda name: JOURNAL_FIELDS[name]):
    """The fields of an entry that are used for its line. In documents they have the names that journald gives them."""

    message: str | None = None
    realtime: str | None = None
    source_realtime: str | None = None
    monotonic: str | None = None
    source_monotonic: str | None = None
    boot: str | None = None
    host: str | None = None
    identifier: str | None = None
    command: str | None = None
    syslog_pid: str | None = None
    pid: str | None = None
    transport: str | None = None


class Entries:
    """Converts entries to lines, in order, and remembers the boot of the last one."""

    def __init__(self) -> None:
        self.boot: str | None = None

    def pieces(self, entry: Entry, number: int, step: int = 0) -> Iterator[Piece]:
        """The line of one entry, after a line for the boot if that changed; nothing for an entry without a message.

        `number`: the line of the message in the original file. `step`: the distance in that file between lines of the message.
        """
        if entry.message is None:
            return
        boot = entry.boot
        if boot and self.boot and boot != self.boot:
            yield number, 0, f"-- Boot {boot} --".encode()
        self.boot = boot or self.boot
        text = entry.message.replace("\r\n", "\n").rstrip("\n")
        yield number, step, f"{_front(entry)}{text}".encode("utf-8", "replace")

    def lines(self, entries: Sequence[Entry]) -> bytes | None:
        """The lines of entries that have one line each and the same boot; None if an entry is different."""
        boot = self.boot or entries[0].boot
        lines: list[str] = []
        for entry in entries:
            message = entry.message
            if message is None or "\n" in message or entry.boot != boot:
                return None
            lines.append(f"{_front(entry)}{message}")
        self.boot = boot
        return "\n".join(lines).encode("utf-8", "replace")


def _front(entry: Entry) -> str:
    time = entry.source_realtime or entry.realtime or ""
    second = from_second(time[:-6]) if time.isdigit() else None
    kernel = entry.transport == "kernel"
    who = _who(entry.host, entry.identifier or entry.command, None if kernel else entry.syslog_pid or entry.pid)
    prefix = f"{second}.{time[-6:]}+00:00 {who}" if second else who
    return prefix + _uptime(entry) if kernel else prefix


@functools.lru_cache(maxsize=4096)
def _who(host: str | None, name: str | None, pid: str | None) -> str:
    number = f"[{pid}]" if pid and pid.isdigit() else ""
    return f"{host + ' ' if host else ''}{NO_PROGRAM_NAME_PATTERN.sub('_', name or 'unknown')[:64]}{number}: "


def _uptime(entry: Entry) -> str:
    value = entry.source_monotonic or entry.monotonic or ""
    return f"[{value[:-6] or '0':>5}.{value[-6:]:0>6}] " if value.isdigit() else ""
