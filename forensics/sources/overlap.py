"""Lines at the end of one file of a rotated set and at the start of the next are read once: `copytruncate` leaves such copies.

kern.log.1: a b c d      kern.log: c d e f      ->  a b c d, e f   (line 1 of what is read of kern.log is its line 3)
"""

from collections import deque
from collections.abc import Iterator
from itertools import chain

from msgspec.structs import replace

from forensics.core.text import with_noun
from forensics.model import Source, Warn, Warning
from forensics.sources.turning import line_time

COMPARED_TAIL_BYTES = 8 << 20  # chosen by hand: a collector that starts anew repeats some seconds; held in memory
MAX_OVERLAP_STARTS = 200  # places of the first line that are compared; a line that occurs more often identifies no place
MIN_COMMON_LINES = 5  # fewer equal lines may be a coincidence, unless one of them has a time


class _Tail:
    """The last bytes of a source that was read to its end; empty before."""

    def __init__(self) -> None:
        self.data = b""

    def watch(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        """`blocks` as they are."""
        kept: deque[bytes] = deque()
        size = 0
        for block in blocks:
            yield block
            kept.append(block)
            size += len(block)
            while size - len(kept[0]) >= COMPARED_TAIL_BYTES:
                size -= len(kept.popleft())
        self.data = b"".join(kept)[-COMPARED_TAIL_BYTES:]


def without_overlap(ordered: list[Source]) -> list[Source]:
    """`ordered` (oldest first), each without the lines at its start that are the end of the one before. This works only where the
    sources are read in this order; otherwise nothing is left out."""
    done: list[Source] = []
    before: tuple[str, _Tail] | None = None
    for source in ordered:
        tail = _Tail()
        done.append(_without(source, before, tail))
        before = (source.name, tail)
    return done


def _without(source: Source, before: tuple[str, _Tail] | None, tail: _Tail) -> Source:
    left_out = 0

    def blocks(warn: Warn) -> Iterator[bytes]:
        nonlocal left_out
        given = source.blocks(warn)
        start = b""
        if before and before[1].data:
            start, left_out = _cut(given, before[1].data)
            if left_out:
                message = f"it begins with the last {with_noun(left_out, 'line')} of {before[0]}; they were read once"
                warn(Warning("duplicate", message, source.name))
        if start:
            yield from tail.watch(chain([start], given))
        else:
            yield from tail.watch(given)

    def origin(line: int) -> int:
        return source.number_of(line + left_out)

    return replace(source, blocks=blocks, origin=origin, size=None, coded=0)  # it has to be read behind the one before


def _is_no_coincidence(lines: bytes) -> bool:
    """Are these so many lines, or lines with a time, that they were hardly written twice by chance?"""
    if lines.count(b"\n") >= MIN_COMMON_LINES:
        return True
    return any(line_time(line[:100].decode("utf-8", "replace")) for line in lines.split(b"\n"))


def _cut(given: Iterator[bytes], tail: bytes) -> tuple[bytes, int]:
    """What is left of the first blocks of `given` without the lines that end `tail`, and the number of those lines."""
    start = next(given, b"")
    line = start[: start.find(b"\n") + 1]
    if not line.strip() or not tail.endswith(b"\n"):
        return start, 0
    at = -1
    for _ in range(MAX_OVERLAP_STARTS):
        at = tail.find(line, at + 1)
        if at < 0:
            break
        if at and tail[at - 1 : at] != b"\n":
            continue
        wanted = len(tail) - at
        while len(start) < wanted and (more := next(given, b"")):
            start += more
        if start.startswith(tail[at:]) and _is_no_coincidence(tail[at:]):
            return start[wanted:], tail.count(b"\n", at)
    return start, 0
