"""The sampled lines of a source, divided into lines once for all readers, each line with its shape.

    step 4012 loss 2.31    -> the bytes of the line, and its shape `step 0000 loss 0.00`

What does not depend on digits is looked for in the shapes: a log of many lines has few of them.
"""

from collections.abc import Collection, Sequence

from msgspec import Struct

from forensics.core.shapes import divided
from forensics.model import Scan


class Block(Struct, frozen=True):
    """Lines that follow each other, of which the first is number `first`. `shapes`: each line with zeros for its digits."""

    first: int
    rows: Sequence[bytes]
    shapes: Sequence[bytes]
    distinct: Collection[bytes]


_last: list[tuple[object, tuple[Block, ...]]] = []  # the sample that was divided last, and its blocks


def sampled_blocks(scan: Scan) -> tuple[Block, ...]:
    """The sample of `scan`, divided into lines; that of the last source is kept."""
    if not _last or _last[0][0] is not scan.sample:
        _last[:] = [(scan.sample, tuple(map(_divided, scan.sample)))]
    return _last[0][1]


def _divided(block: tuple[int, bytes]) -> Block:
    return Block(block[0], *divided(block[1]))
