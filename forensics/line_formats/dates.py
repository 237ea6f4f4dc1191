"""Lines that consist of a time or begin with an epoch: the output of `date`, the header of nvidia-smi, a table row.

Fri Aug 22 03:00:07 2026          Sat Nov 21 00:35:34 PST 2026          1428634687123 Hello, World!
"""

from forensics.line_formats.base import LineFormat
from forensics.line_formats.clock import ANY_MONTH, DAY, MONTH, NAMED_ZONE, TIME_OF_DAY

LINE_FORMATS = (
    LineFormat(
        "date",
        "wall",
        rf"(?:Timestamp +: |Date: +)?{DAY} {MONTH} +(?P<d>\d{{1,2}}) {TIME_OF_DAY}(?: (?P<ampm>[AP]M))?"
        rf"(?: {NAMED_ZONE})? (?P<y>\d{{4}})"
        r"(?=\s*$|\s*[,|:])",
        (
            "Fri Aug 22 03:00:07 2026",
            "Sat Nov 21 00:35:34 PST 2026",
            "Sat Nov 21 12:35:34 AM UTC 2026",
            "Timestamp                                 : Fri Aug 22 03:00:07 2026",
        ),
        first=r"Mo|Tu|We|Th|Fr|Sa|Su|Ti|Da",
        within=":",
    ),
    LineFormat(
        "date, other language",
        "wall",
        rf"[^\W\d]{{1,4}}\.? (?P<d>\d{{1,2}})\.? {ANY_MONTH} (?P<y>\d{{4}}),? {TIME_OF_DAY}(?: {NAMED_ZONE})?\s*$",
        ("Fr 22. Aug 2025 03:00:07 CEST", "ven. 22 août 2025 03:00:07 CEST"),
        rank=60,
        first=r"[^\W\d]{1,4}\.? (?:\d|$)",
        within=":",
    ),
    LineFormat(
        "epoch",
        "wall+zone",
        r"\[?(?P<unix>\d{10}(?:\d{3}|\d{6}|\d{9})?)(?:\.(?P<frac>\d{1,9}))?\]?(?:[ \t,:|]+|$)",
        (
            "1428634687123 Hello, World!",
            "1428634687 text",
            "1428634687123456 text",
            "1428634687123456789 text",
            "[1755831607.123] x",
        ),
        rank=85,
        first=r"\[\d|\d{6}",
    ),
)
