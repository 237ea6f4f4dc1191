"""Text with the newest line first (`journalctl -r`, a log viewer's export) to the oldest line first.

A record is a line that begins with a time and the lines behind it that do not, so a traceback keeps its order.
"""

from collections.abc import Iterator

from forensics.sources.formats.base import Format, Head, Note
from forensics.sources.lines import numbered_lines
from forensics.sources.origin import Piece
from forensics.sources.turning import is_newest_first, line_time, oldest_first

MIN_FALLS = 8  # falls without a single rise: clocks that jump and logs that were put together show rises
STAMP_CHARS = 100  # of a line, in which its time stands; a host, a program and a level may come before it


def _recognises(head: Head) -> bool:
    return is_newest_first((line[:STAMP_CHARS] for line in head.lines), MIN_FALLS)


def _decode(blocks: Iterator[bytes], note: Note) -> Iterator[Piece]:
    def records() -> Iterator[Piece]:
        start, parts = 1, list[bytes]()
        for number, line in numbered_lines(blocks):
            if parts and line_time(line[:STAMP_CHARS].decode("utf-8", "replace")):
                yield start, 1, b"\n".join(parts)
                start, parts = number, []
            parts.append(line)
        if parts:
            yield start, 1, b"\n".join(parts)

    return oldest_first(records(), note)


SAMPLE = b"".join(b"2026-08-22 03:00:%02d,1 INFO text\n" % s for s in range(59, 39, -1))
FORMATS = (Format("newest first", _recognises, _decode, SAMPLE, rank=90),)
