"""R's package lgr, as it prints to the console and to a file (LayoutFormat in its documentation).

ERROR [10:00:06.200] cannot write: No space left on device
INFO  [2026-11-21 10:00:05.123] loading shard 3
"""

from forensics.line_formats.base import LineFormat

LINE_FORMATS = (
    LineFormat(
        "lgr",  # the console's, which has no date; the file's is read as Python's logging with the level first
        "wall",
        r"(?P<level>FATAL|ERROR|WARN|INFO|DEBUG|TRACE) {1,2}\[(?P<h>\d\d):(?P<m>\d\d):(?P<s>\d\d)\.(?P<frac>\d{3})\] ",
        ("INFO  [10:00:05.123] loading shard 3", "ERROR [10:00:06.200] cannot write: No space left on device"),
        first=r"(?:FA|ER|WA|IN|DE|TR)AA",
    ),
)
