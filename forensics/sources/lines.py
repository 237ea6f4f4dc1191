"""Blocks of bytes to numbered lines, the form in which decoders read.

b"a\\nb\\nc"  ->  (1, b"a"), (2, b"b"), (3, b"c")
"""

from collections.abc import Iterator

from forensics import limits


def numbered_blocks(blocks: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """`blocks` cut anew at line ends: each is whole lines without the last line end, with the number of its first line."""
    number = 1
    carry: list[bytes] = []
    size = 0
    for block in blocks:
        cut = block.rfind(b"\n")
        if cut < 0:
            carry.append(block)
            size += len(block)
            if size >= limits.current.line:
                yield number, b"".join(carry)
                carry, size = [], 0
            continue
        whole = b"".join([*carry, block[:cut]])
        yield number, whole
        number += whole.count(10) + 1  # an integer is counted faster than bytes
        carry, size = ([block[cut + 1 :]], len(block) - cut - 1) if cut + 1 < len(block) else ([], 0)
    if carry:
        yield number, b"".join(carry)


def numbered_lines(blocks: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """The lines of `blocks` without their line ends (`\\n`, `\\r\\n`), numbered from 1."""
    for first, whole in numbered_blocks(blocks):
        for number, line in enumerate(whole.split(b"\n"), first):
            yield number, line[:-1] if line.endswith(b"\r") else line
