"""Reads the error with which a log ends, whatever program printed it: one of the system, or a setting that is refused.

2031/05/06 07:08:09 loading: open /srv/conf.yaml: no such file or directory        -> missing
2031/05/06 07:08:09 listen tcp 192.0.2.5:80: bind: cannot assign requested address -> busy
exit status 1

dnsmasq: bad option at line 1 of /etc/dnsmasq.conf                                 -> setting

The texts of the system are those of strerror(3), in Go's syscall package with a small letter, behind what was tried. Behind the
error stands nothing but a status.
"""

from forensics.data_files.named_parts import first_row, patterns_of
from forensics.model import Region, Trigger
from forensics.readers.base import Record
from forensics.readers.lanes.line_classes import is_information, is_low_severity

TRIGGER = Trigger("last_error", of="last error", after=4)
PATTERNS = patterns_of("last error")
OUTCOMES = ("full", "busy", "unreached", "missing", "corrupt", "setting")


def read(region: Region) -> Record | None:
    """The error of the last line that says more than how it ended. None where the log goes on, and for an exception."""
    below = region.lines_after()
    if (
        PATTERNS.named_exception.search(region.text)
        or len(below) >= TRIGGER.after
        or not all(PATTERNS.status_alone.match(line.text) for line in below)
    ):
        return None
    row = first_row("uncaught errors", region.text) or first_row("refused settings", region.text)
    if row is None or is_information(region.text) or is_low_severity(region.text):
        return None
    said = region.text.strip()[:500]
    return Record(TRIGGER.kind, region.number, region.number, row.name, "hint", (region.line,), {"exc_message": said})
