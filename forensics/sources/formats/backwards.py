"""Reverse text that has the newest line first (`journalctl -r`, the export of a log viewer), so that the oldest line is first.

A record is a line that begins with a time, with the following lines that do not. So the lines of a traceback keep their order.
"""

from collections.abc import Iterator

from forensics.sources.formats.base import Format, Head, Note
from forensics.sources.lines import numbered_lines
from forensics.sources.origin import Piece
from forensics.sources.turning import MIN_FALLS_OF_PIECES, is_newest_first, line_time

MIN_FALLS = 8  # decreases of the time, without one increase: a clock that jumps, or concatenated logs, also show increases
STAMP_CHARS = 100  # the time is searched in this many first characters of a line


def _recognises(head: Head) -> bool:
    return is_newest_first((line[:STAMP_CHARS] for line in head.lines), MIN_FALLS)


def _decode(blocks: Iterator[bytes], _note: Note) -> Iterator[Piece]:
    start, parts = 1, list[bytes]()
    for number, line in numbered_lines(blocks):
        if parts and line_time(line[:STAMP_CHARS].decode("utf-8", "replace")):
            yield start, 1, b"\n".join(parts)
            start, parts = number, []
        parts.append(line)
    if parts:
        yield start, 1, b"\n".join(parts)


SAMPLE = b"".join(b"2026-08-22 03:00:%02d,1 INFO text\n" % s for s in range(59, 39, -1))
FORMATS = (Format("newest first", _recognises, _decode, SAMPLE, plain=True, rank=90, falls=MIN_FALLS_OF_PIECES),)
