"""One journal entry to the line that `journalctl -o short-iso-precise` prints of it.

    2025-08-22T03:00:07.123456+00:00 gpu-node-7 systemd[1]: jupyter.service: Failed with result 'oom-kill'.
    2025-08-22T03:00:07.123456+00:00 gpu-node-7 kernel: [11686.888104] python3 invoked oom-killer: ...

A kernel line carries its uptime as well, as in a syslog file: it tells at what time the machine booted. Further lines of a
message follow as they stood. A change of boot is told by `-- Boot ID --`, as journalctl does.
(Fields: systemd.journal-fields(7); the times in use: `_SOURCE_...` before `__...`, as journalctl's short forms.)
"""

import re
from collections.abc import Iterator, Mapping

from forensics.sources.formats.stamps import from_usec
from forensics.sources.origin import Piece

NO_NAME = re.compile(r"[\s\[\]:]+")


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


def _front(entry: Mapping[str, str]) -> str:
    time = None
    for name in ("_SOURCE_REALTIME_TIMESTAMP", "__REALTIME_TIMESTAMP"):
        value = entry.get(name, "")
        time = time or (from_usec(int(value)) if value.isdigit() else None)
    who = NO_NAME.sub("_", entry.get("SYSLOG_IDENTIFIER") or entry.get("_COMM") or "unknown")[:64]
    pid = entry.get("SYSLOG_PID") or entry.get("_PID") or ""
    kernel = entry.get("_TRANSPORT") == "kernel"
    parts = [time or "", entry.get("_HOSTNAME", ""), f"{who}[{pid}]:" if pid.isdigit() and not kernel else f"{who}:"]
    if kernel:
        parts.append(_uptime(entry))
    return " ".join(p for p in parts if p) + " "


def _uptime(entry: Mapping[str, str]) -> str:
    for name in ("_SOURCE_MONOTONIC_TIMESTAMP", "__MONOTONIC_TIMESTAMP"):
        value = entry.get(name, "")
        if value.isdigit():
            return f"[{int(value) // 1_000_000:5d}.{int(value) % 1_000_000:06d}]"
    return ""
