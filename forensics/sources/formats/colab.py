"""Reverse Colab's "View runtime logs" (newest line first). A table with tabs or bars keeps its form; CSV gets bars.

    Timestamp,Level,Message
    "Oct 18, 2019, 7:54:49 AM",INFO,"KernelRestarter: restarting kernel"  ->  Oct 18, 2019, 7:54:49 AM | INFO | Kernel...

Recent browsers write a narrow no-break space before AM and PM, which becomes a space. The level depends on the pipe (stdout or
stderr), not on the message.
"""

import re
from collections.abc import Iterator

from forensics.core import lazy
from forensics.sources.formats.base import Format, Head, Note
from forensics.sources.lines import numbered_lines
from forensics.sources.origin import Piece

COLAB_TIME_PATTERN = r"(?:\w{3} \d{1,2}, \d{4}, \d{1,2}:\d\d:\d\d\s[AP]M)"
# The number of blanks is bounded: adjacent unbounded repetitions take cubic time on a line of blanks.
COLAB_ROW_PATTERN = lazy.regex(rf"\s{{0,9}}(?:\|\s{{0,9}})?{COLAB_TIME_PATTERN}\s{{0,9}}[\t|]\s{{0,9}}\w{{1,20}}\s{{0,9}}[\t|]")
COLAB_CSV_ROW_PATTERN = lazy.regex(rf"\"{COLAB_TIME_PATTERN}\",\"?\w*\"?,")
TABLE_RULE_PATTERN = lazy.regex(rb"\A[\s|:-]*+$")
NARROW_SPACE = "\u202f".encode()


def _shows(head: Head, row: re.Pattern[str]) -> bool:
    lines = head.written
    first = [line for line in lines[:4] if "AM" in line or "PM" in line]
    return any(map(row.match, first)) and sum(bool(row.match(x)) for x in lines) * 10 >= len(lines)


def _decode_table(blocks: Iterator[bytes], _note: Note) -> Iterator[Piece]:
    start, parts = 0, list[bytes]()
    for number, line in numbered_lines(blocks):
        line = line.replace(NARROW_SPACE, b" ")
        if COLAB_ROW_PATTERN.match(line[:100].decode("utf-8", "replace")):
            if parts:
                yield start, 1, b"\n".join(parts)
            start, parts = number, [line]
        elif parts:
            parts.append(line)
        elif not TABLE_RULE_PATTERN.match(line):
            yield number, 1, line
    if parts:
        yield start, 1, b"\n".join(parts)


def _decode_csv(blocks: Iterator[bytes], _note: Note) -> Iterator[Piece]:
    import csv  # imported only when needed, because this module is loaded for every input

    csv.field_size_limit(16 << 20)
    taken = 0
    held: list[str] = []  # the lines of the row that is being read

    def lines() -> Iterator[str]:
        nonlocal taken
        for number, line in numbered_lines(blocks):
            taken = number
            held.append(line.replace(NARROW_SPACE, b" ").decode("utf-8", "replace").replace("\0", "") + "\n")
            yield held[-1]

    before, rows = 0, csv.reader(lines())
    while True:
        held.clear()
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error:  # a carriage return outside of quotes; the line is kept as it is
            row = "".join(held).splitlines()
        if row and row[0] != "Timestamp":
            yield before + 1, 1, " | ".join(row).rstrip("\n").encode("utf-8", "replace")
        before = taken


FORMATS = (
    Format(
        "colab csv",
        lambda head: _shows(head, COLAB_CSV_ROW_PATTERN),
        _decode_csv,
        b'"Oct 18, 2019, 7:54:49 AM",INFO,"text"\n',
        falls=1,
    ),
    Format(
        "colab table",
        lambda head: _shows(head, COLAB_ROW_PATTERN),
        _decode_table,
        b"Oct 18, 2019, 7:54:49 AM | INFO | text\n",
        plain=True,
        falls=1,
    ),
)
