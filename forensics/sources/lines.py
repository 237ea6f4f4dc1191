"""Blocks of bytes to numbered lines, the form in which decoders read.

b"a\\nb\\nc"  ->  (1, b"a"), (2, b"b"), (3, b"c")
"""

from collections.abc import Iterator

from forensics.core import limits
from forensics.core.text import line_ends


def numbered_blocks(blocks: Iterator[bytes]) -> Iterator[tuple[int, int, bytes]]:
    """`blocks` cut at line ends: (number of the first line, number of lines, the lines without the last line end)."""
    number = 1
    carry: list[bytes] = []
    size = 0
    for block in blocks:
        cut = block.rfind(b"\n")
        if cut < 0:
            carry.append(block)
            size += len(block)
            if size >= limits.current.line:
                yield number, 1, b"".join(carry)
                carry, size = [], 0
            continue
        whole = b"".join([*carry, block[:cut]])
        count = line_ends(whole) + 1
        yield number, count, whole
        number += count
        carry, size = ([block[cut + 1 :]], len(block) - cut - 1) if cut + 1 < len(block) else ([], 0)
    if carry:
        yield number, 1, b"".join(carry)


def numbered_lines(blocks: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """The lines of `blocks` without their line ends (`\\n`, `\\r\\n`), numbered from 1."""
    for first, _, whole in numbered_blocks(blocks):
        for number, line in enumerate(whole.split(b"\n"), first):
            yield number, line[:-1] if line.endswith(b"\r") else line
