"""Blocks of any size to chunks of whole lines, each with the chunks before and after it, which a region may need."""

from collections.abc import Iterator

from msgspec import Struct

from forensics.core import limits
from forensics.core.input_time import Share
from forensics.scan.in_time import LeftOut, in_time

MARGIN_BYTES = 256 << 10  # a region reads some thousand lines on either side of its own, an OOM report's table being the longest


class Chunk(Struct, frozen=True):
    """`data`: whole lines. `before`, `after`: the chunks around it. Nothing is copied before around() is called.

    `left_out`: what was not read before it.
    """

    data: bytes
    before: bytes = b""
    after: bytes = b""
    left_out: LeftOut | None = None

    def around(self, start: int, end: int) -> bytes:
        """Bytes start to end, counted from the start of `data`; they may reach MARGIN_BYTES to either side, no further."""
        size, ahead = len(self.data), len(self.before)
        start, end = max(start, -MARGIN_BYTES), min(end, size + MARGIN_BYTES)
        left = self.before[max(0, ahead + start) : max(0, ahead + end)] if start < 0 else b""
        right = self.after[max(0, start - size) : end - size] if end > size else b""
        return left + self.data[max(0, start) : max(0, end)] + right


def whole_lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """`blocks` cut again after line ends. A line longer than `limits.line` is cut at the end of a block."""
    carry: list[bytes] = []
    size = 0
    for block in blocks:
        cut = block.rfind(b"\n") + 1
        if not cut and size + len(block) < limits.current.line:
            carry.append(block)
            size += len(block)
            continue
        cut = cut or len(block)
        yield b"".join([*carry, memoryview(block)[:cut]]) if carry else block[:cut]  # a view: one copy instead of two
        carry, size = ([block[cut:]], len(block) - cut) if cut < len(block) else ([], 0)
    if carry:
        yield b"".join(carry)


def chunks(blocks: Iterator[bytes], share: Share | None = None) -> Iterator[Chunk]:
    """Chunks in order. One chunk is read ahead, so that a region may reach beyond the end of its chunk.

    `share`: when it is spent, no more is read but the end.
    """
    before = b""
    current: bytes | None = None
    left_out: LeftOut | None = None
    for following, gap in in_time(whole_lines(blocks), share):
        if current is not None:
            yield Chunk(current, before, b"" if gap else following, left_out)
            before = b"" if gap else current
        current, left_out = following, gap
    if current is not None:
        yield Chunk(current, before, b"", left_out)
