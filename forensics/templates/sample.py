"""Blocks of a source that are read a second time, if a report needs more than the scan kept: an even sample and the end."""

from collections import deque
from collections.abc import Iterator

from forensics.model import Scan, Source, Warning
from forensics.templates.tally import whole_lines

KEPT_BLOCKS = 8  # of the sample, and half as many more while it is thinned
LAST_BLOCKS = 2  # the end of a log is in them, whatever the even sample left out
BLOCK_BYTES = 1 << 20  # read at once; fits into the processor's cache


def sample_blocks(scan: Scan) -> Iterator[tuple[int, bytes]]:
    """An even sample of the blocks of a source, and its last blocks, each with the number of its first line.

    A member of an archive would have to be unpacked again, so only the first and last lines that the scan kept are given. The
    same for a source that can be read only once.
    """
    if "!" in scan.source.name:
        yield from _ends(scan, 1)
        return
    kept: list[tuple[int, bytes]] = []
    last: deque[tuple[int, bytes]] = deque(maxlen=LAST_BLOCKS)
    number, stride = 1, 1
    for i, block in enumerate(_blocks(scan.source)):
        if i % stride == 0:
            kept.append((number, block))
            if len(kept) > KEPT_BLOCKS:
                del kept[1::2]
                stride *= 2
        last.append((number, block))
        number += block.count(b"\n") + (not block.endswith(b"\n"))
    read = {start for start, _ in kept}
    yield from kept
    yield from ((start, block) for start, block in last if start not in read)
    yield from _ends(scan, number)


def ignore_warning(_: Warning) -> None:
    """Ignore it: the same warning was reported when the source was first read."""


def _ends(scan: Scan, number: int) -> Iterator[tuple[int, bytes]]:
    """The first and last lines that the scan kept, from line `number` on."""
    for lines in (scan.head, scan.tail):
        fresh = [line for line in lines if line.number >= number]
        if fresh:
            number = fresh[-1].number + 1
            yield fresh[0].number, "\n".join(line.text for line in fresh).encode("utf-8", "replace")


def _blocks(source: Source) -> Iterator[bytes]:
    """Blocks of whole lines, each of BLOCK_BYTES or a little more."""
    parts: list[bytes] = []
    size = 0
    for block in whole_lines(source.blocks(ignore_warning)):
        parts.append(block)
        size += len(block)
        if size >= BLOCK_BYTES:
            yield b"".join(parts)
            parts, size = [], 0
    if parts:
        yield b"".join(parts)
