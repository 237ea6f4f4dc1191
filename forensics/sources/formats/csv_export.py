"""Convert log records that a cloud console saved as CSV to lines `TIME text`; further lines of a text follow.

    @timestamp,@message                                     (CloudWatch, Azure, Datadog, Google Cloud, Grafana: other names)
    2026-08-22 03:00:07.123,"Traceback (most recent call last):
    ..."                                                ->  2026-08-22 03:00:07.123 Traceback (most recent call last):

A table with the newest record first is reversed. A table without a time column or a text column (measurements) is not a log.
"""

import csv
import io
from collections.abc import Iterator

from forensics.core import limits
from forensics.sources.formats.base import Format, Head, Note
from forensics.sources.formats.stamps import from_value
from forensics.sources.lines import numbered_lines
from forensics.sources.origin import Piece
from forensics.sources.turning import MIN_FALLS_OF_PIECES

TIME_COLUMNS = (
    "@timestamp",
    "timestamp",
    "time",
    "date",
    "timegenerated",
    "timegenerated [utc]",
    "datetime",
    "ts",
    "eventtime",
    "_time",
)
TEXT_COLUMNS = (
    "@message",
    "message",
    "logmessage",
    "logentry",
    "line",
    "log",
    "content",
    "textpayload",
    "msg",
    "_raw",
    "body",
    "event",
)
MAX_RECORD_LINES = 2_000  # of one record; in a longer one, the opening quote is assumed to have no closing quote


def _row(record: str) -> list[str]:
    """The fields of a record; an empty list if the csv module cannot parse it."""
    try:
        return next(csv.reader(io.StringIO(record)), [])
    except csv.Error:  # a field of more than 128 KiB
        return []


def _columns(line: str) -> tuple[int, int] | None:
    """The indices of the time column and the text column in a header line; None if it lacks one of them."""
    names = [n.strip().lower() for n in _row(line.lstrip("\ufeff"))]
    if len(names) < 2:
        return None
    text = next((names.index(n) for n in TEXT_COLUMNS if n in names), None)
    time = next((names.index(n) for n in TIME_COLUMNS if n in names), None)
    return None if text is None or time is None else (time, text)


def _recognises(head: Head) -> bool:
    return "," in head.first and len(head.first) < 1_000 and _columns(head.first) is not None


def _records(blocks: Iterator[bytes]) -> Iterator[tuple[int, list[str], bool]]:
    """For each record: the number of its first line, its lines (quotes may hold line ends), and whether its quotes are closed."""
    start, parts, quotes, size = 0, list[str](), 0, 0
    for number, raw in numbered_lines(blocks):
        line = raw.decode("utf-8", "replace")
        start = start if parts else number
        parts.append(line)
        quotes += line.count('"')
        size += len(line)
        closed = quotes % 2 == 0
        if closed or len(parts) >= MAX_RECORD_LINES or size > limits.current.joined:
            yield start, parts, closed
            parts, quotes, size = [], 0, 0
    if parts:
        yield start, parts, False


def _decode(blocks: Iterator[bytes], _note: Note) -> Iterator[Piece]:
    columns: tuple[int, int] | None = None
    for number, lines, closed in _records(blocks):
        record = "\n".join(lines)
        if columns is None:
            columns = _columns(record) if record.strip() else None
            continue
        row = _row(record) if closed else []
        time, text = columns
        if len(row) <= text:  # the lines pass unchanged, so that nothing is lost
            yield number, 1, record.encode("utf-8", "replace")
            continue
        stamp = from_value(row[time]) or row[time] if time < len(row) else ""
        yield number, 1, f"{stamp} {row[text]}".strip("\r\n").encode("utf-8", "replace")


SAMPLE = b"@timestamp,@message\n2026-08-22 03:00:07.123,Killed\n"
FORMATS = (Format("csv", _recognises, _decode, SAMPLE, rank=70, falls=MIN_FALLS_OF_PIECES),)
