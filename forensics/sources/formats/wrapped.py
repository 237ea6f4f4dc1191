"""Lines that a terminal or a mail program wrapped at 70 to 80 columns, joined again where the width shows it.

    RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 15.78 GiB tota
    l capacity; 14.32 GiB already allocated)

Only a text of which no line is longer than the width, and many are exactly as long, is taken for one. Nothing is joined to a
line that begins like a record of its own.
"""

import re
from collections.abc import Iterator

from forensics.sources.formats.base import ISO_TIME, Format, Head, Note
from forensics.sources.lines import numbered_lines
from forensics.sources.origin import Piece

WIDTHS = range(70, 81)
LEAST = 3
SHARE = 0.1
MOST_JOINED = 40
START = re.compile(
    rf"\s|[\[<({{|>*=+#$-]|{ISO_TIME}|\w{{3}} [ \d]\d \d\d:\d\d:\d\d|[IWEF]\d{{4}} |Traceback|(?:\w+\.)*\w+(?:Error|Exception|Warning): "
    r"|(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\b|\S+:\d+:"
)


def _width(head: Head) -> int:
    """The width at which the text was wrapped; 0 where it was not."""
    lengths = [len(line) for line in head.lines if line.strip()]
    width = max(lengths, default=0)
    full = [i for i, length in enumerate(lengths[:-1]) if length == width]
    lines = [line for line in head.lines if line.strip()]
    joined = sum(_goes_on(lines[i], lines[i + 1]) for i in full)
    return width if width in WIDTHS and joined >= LEAST and joined >= SHARE * len(lengths) else 0


def _goes_on(line: str, following: str) -> bool:
    """May `following` be the rest of `line`, which is as long as the width?"""
    return bool(following.strip()) and not START.match(following) and line[-1].isalnum() | (line[-1] in ",;:._/-(=")


def _decode(blocks: Iterator[bytes], note: Note) -> Iterator[Piece]:
    first = next(blocks, b"")
    width = _width(Head(first[: 64 << 10], len(first) < 64 << 10))
    note("unwrapped", f"its lines were wrapped at {width} columns; they were joined again", None)
    start, parts = 0, list[str]()
    for number, raw in numbered_lines(_again(first, blocks)):
        line = raw.decode("utf-8", "replace")
        if parts and len(parts) < MOST_JOINED and len(parts[-1]) == width and _goes_on(parts[-1], line):
            parts.append(line)
            continue
        if parts:
            yield start, 1, "".join(parts).encode("utf-8", "replace")
        start, parts = number, [line]
    if parts:
        yield start, 1, "".join(parts).encode("utf-8", "replace")


def _again(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


SAMPLE = b"".join(b"x" * 79 + b"\n" + b"y" * 20 + b"\n" for _ in range(4))
FORMATS = (Format("wrapped", lambda head: _width(head) > 0, _decode, SAMPLE, rank=95),)
