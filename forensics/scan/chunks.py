"""Blocks of any size to chunks of whole lines, each with the chunks before and after it, which a region may need."""

from collections.abc import Iterator

from msgspec import Struct

from forensics.core import limits

MARGIN_BYTES = 256 << 10  # a region reads some thousand lines on either side of its own, an OOM report's table being the longest


class Chunk(Struct, frozen=True):
    """`data`: whole lines. `before`, `after`: the chunks around it. Nothing is copied before around() is called."""

    data: bytes
    before: bytes = b""
    after: bytes = b""

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


def chunks(blocks: Iterator[bytes]) -> Iterator[Chunk]:
    """Chunks in order. One chunk is read ahead, so that a region may reach beyond the end of its chunk."""
    before = b""
    current: bytes | None = None
    for following in whole_lines(blocks):
        if current is not None:
            yield Chunk(current, before, following)
            before = current
        current = following
    if current is not None:
        yield Chunk(current, before)
