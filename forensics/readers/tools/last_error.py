"""Reads the error of the system with which a log ends, whatever program printed it: Go, C and Rust put it behind what they did.

2031/05/06 07:08:09 loading: open /srv/conf.yaml: no such file or directory        -> missing
2031/05/06 07:08:09 listen tcp 192.0.2.5:80: bind: cannot assign requested address -> busy
exit status 1

The texts are those of strerror(3), in Go's syscall package with a small letter. Behind it stands nothing but a status.
"""

from forensics.core import lazy
from forensics.data_files.named_parts import first_row
from forensics.model import Region, Trigger
from forensics.readers.base import Record

TRIGGER = Trigger(
    "last_error",
    (
        ": no such file or directory",
        ": permission denied",
        "address already in use",
        "cannot assign requested address",
        ": connection refused",
        ": no route to host",
        ": no space left on device",
    ),
    after=4,
)
OUTCOMES = ("full", "busy", "unreached", "missing", "corrupt")
STATUS_ALONE = lazy.regex(
    r"(?i)^\W*(?:exit(?:ing|ed)?|exit status|aborting|terminating|shutting down|usage)\b.{0,60}$|^\W*$|^\s+at \S"
)
NAMED_EXCEPTION = lazy.regex(r"\b[A-Z]\w*(?:Error|Exception)\b")  # it is read with its stack


def read(region: Region) -> Record | None:
    """The error of the last line that says more than how it ended. None where the log goes on, and for an exception."""
    below = region.lines_after()
    if (
        NAMED_EXCEPTION.search(region.text)
        or len(below) >= TRIGGER.after
        or not all(STATUS_ALONE.match(line.text) for line in below)
    ):
        return None
    row = first_row("uncaught errors", region.text)
    if row is None:
        return None
    said = region.text.strip()[:500]
    return Record(TRIGGER.kind, region.number, region.number, row.name, "hint", (region.line,), {"exc_message": said})
