"""Reads the error with which a log ends, whatever program printed it: one of the system, or a setting that is refused.

2031/05/06 07:08:09 loading: open /srv/conf.yaml: no such file or directory        -> missing
2031/05/06 07:08:09 listen tcp 192.0.2.5:80: bind: cannot assign requested address -> busy
exit status 1

dnsmasq: bad option at line 1 of /etc/dnsmasq.conf                                 -> setting

The texts of the system are those of strerror(3), in Go's syscall package with a small letter, behind what was tried. Behind the
error stands nothing but a status.
"""

from forensics.core import lazy
from forensics.data_files.named_parts import first_row
from forensics.model import Region, Trigger
from forensics.readers.base import Record
from forensics.readers.lanes.line_classes import is_information, is_low_severity

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
        "unknown directive",
        "unknown option",
        "unknown parameter",
        "unknown setting",
        "unknown key",
        "unknown field",
        "unrecognized option",
        "unrecognized argument",
        "invalid option",
        "invalid parameter",
        "invalid setting",
        "invalid directive",
        "bad option",
        "parser failed",
        "not found in type",
        "configuration error",
    ),
    after=4,
)
OUTCOMES = ("full", "busy", "unreached", "missing", "corrupt", "setting")
STATUS_ALONE = lazy.regex(
    r"(?i)^\W*(?:exit(?:ing|ed)?|exit status|aborting|terminating|shutting down|usage)\b.{0,60}$|^\W*$|^\s+at \S"
)
# What is read with its stack, and the usage errors of argparse, which name the argument.
NAMED_EXCEPTION = lazy.regex(r"\b[A-Z]\w*(?:Error|Exception)\b|: error: (?:argument |unrecognized arguments|invalid choice)")


def read(region: Region) -> Record | None:
    """The error of the last line that says more than how it ended. None where the log goes on, and for an exception."""
    below = region.lines_after()
    if (
        NAMED_EXCEPTION.search(region.text)
        or len(below) >= TRIGGER.after
        or not all(STATUS_ALONE.match(line.text) for line in below)
    ):
        return None
    row = first_row("uncaught errors", region.text) or first_row("refused settings", region.text)
    if row is None or is_information(region.text) or is_low_severity(region.text):
        return None
    said = region.text.strip()[:500]
    return Record(TRIGGER.kind, region.number, region.number, row.name, "hint", (region.line,), {"exc_message": said})
