"""The sampled lines of a source, divided into lines once for all readers, each line with its shape.

    step 4012 loss 2.31    -> the bytes of the line, and its shape `step 0000 loss 0.00`

What does not depend on digits is looked for in the shapes: a log of many lines has few of them.
"""

from collections.abc import Collection, Sequence

from msgspec import Struct

from forensics.core.recent import Recent
from forensics.core.shapes import MAX_KEPT_BYTES, divided
from forensics.model import Scan


class Block(Struct, frozen=True):
    """Lines that follow each other, of which the first is number `first`. `shapes`: each line with zeros for its digits."""

    first: int
    rows: Sequence[bytes]
    shapes: Sequence[bytes]
    distinct: Collection[bytes]


_blocks: Recent[tuple[Block, ...]] = Recent(MAX_KEPT_BYTES)


def sampled_blocks(scan: Scan) -> tuple[Block, ...]:
    """The sample of `scan`, divided into lines; those of the sources that are read in turns are kept."""
    known = _blocks.get(scan.sample)
    if known is None:
        size = sum(len(data) for _, data in scan.sample)
        known = _blocks.keep(scan.sample, tuple(map(_divided, scan.sample)), size)
    return known


def _divided(block: tuple[int, bytes]) -> Block:
    return Block(block[0], *divided(block[1]))
