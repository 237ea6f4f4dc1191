"""One journal entry to the line that `journalctl -o short-iso-precise` prints of it.

    2025-08-22T03:00:07.123456+00:00 gpu-node-7 systemd[1]: jupyter.service: Failed with result 'oom-kill'.
    2025-08-22T03:00:07.123456+00:00 gpu-node-7 kernel: [11686.888104] python3 invoked oom-killer: ...

A kernel line carries its uptime as well, as in a syslog file: it tells at what time the machine booted. Further lines of a
message follow as they stood. A change of boot is told by `-- Boot ID --`, as journalctl does.
(Fields: systemd.journal-fields(7); the times in use: `_SOURCE_...` before `__...`, as journalctl's short forms.)
"""

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from forensics import lazy
from forensics.sources.formats.stamps import from_usec
from forensics.sources.origin import Piece

FIELDS = (
    "MESSAGE", "__REALTIME_TIMESTAMP", "_SOURCE_REALTIME_TIMESTAMP", "__MONOTONIC_TIMESTAMP", "_SOURCE_MONOTONIC_TIMESTAMP",
    "_BOOT_ID", "_HOSTNAME", "SYSLOG_IDENTIFIER", "_COMM", "SYSLOG_PID", "_PID", "_TRANSPORT",
)  # fmt: skip
"""Everything of an entry that its line is made of."""
TEXT = {str}
NO_NAME = lazy.regex(r"[\s\[\]:]+")


class Entries:
    """Renders entries in order and remembers the boot."""

    def __init__(self) -> None:
        self.boot: str | None = None

    def pieces(self, entry: Mapping[str, str], number: int, step: int = 0) -> Iterator[Piece]:
        """The line of one entry, with its boot's line in front where that changed; none for an entry without a message.

        `number`: the line of the original on which the message stands; `step`: from one of its lines to the next.
        """
        message = entry.get("MESSAGE")
        if message is None:
            return
        boot = entry.get("_BOOT_ID")
        if boot and self.boot and boot != self.boot:
            yield number, 0, f"-- Boot {boot} --".encode()
        self.boot = boot or self.boot
        text = message.replace("\r\n", "\n").rstrip("\n")
        yield number, step, f"{_front(entry)}{text}".encode("utf-8", "replace")

    def lines(self, entries: Sequence[Mapping[str, object]]) -> bytes | None:
        """The lines of entries of one line each and of one boot, with the text of every field; None where one is not so."""
        boot = self.boot or str(entries[0].get("_BOOT_ID"))
        lines: list[str] = []
        for entry in entries:
            message = entry.get("MESSAGE", "\n")
            if set(map(type, entry.values())) != TEXT or "\n" in str(message) or entry.get("_BOOT_ID") != boot:
                return None
            lines.append(f"{_front(cast(Mapping[str, str], entry))}{message}")
        self.boot = boot
        return "\n".join(lines).encode("utf-8", "replace")


def _front(entry: Mapping[str, str]) -> str:
    time = entry.get("_SOURCE_REALTIME_TIMESTAMP") or entry.get("__REALTIME_TIMESTAMP") or ""
    told = from_usec(int(time)) if time.isdigit() else None
    kernel = entry.get("_TRANSPORT") == "kernel"
    name = entry.get("SYSLOG_IDENTIFIER") or entry.get("_COMM") or "unknown"
    pid = "" if kernel else entry.get("SYSLOG_PID") or entry.get("_PID") or ""
    who = _who(entry.get("_HOSTNAME", ""), name, pid)
    return f"{told + ' ' if told else ''}{who} {_uptime(entry) if kernel else ''}"


@functools.lru_cache(maxsize=4096)
def _who(host: str, name: str, pid: str) -> str:
    name = NO_NAME.sub("_", name)[:64]
    return f"{host + ' ' if host else ''}{name}[{pid}]:" if pid.isdigit() else f"{host + ' ' if host else ''}{name}:"


def _uptime(entry: Mapping[str, str]) -> str:
    value = entry.get("_SOURCE_MONOTONIC_TIMESTAMP") or entry.get("__MONOTONIC_TIMESTAMP") or ""
    return f"[{value[:-6] or '0':>5}.{value[-6:]:0>6}] " if value.isdigit() else ""
