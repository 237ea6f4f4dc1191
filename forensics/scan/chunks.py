"""Blocks of any size to chunks of whole lines, each with the neighbourhood that a region may need."""

from collections.abc import Iterator
from dataclasses import dataclass

MAX_LINE_BYTES = 16 << 20
MARGIN_BYTES = 256 << 10


@dataclass(frozen=True, slots=True)
class Chunk:
    """`data`: whole lines. `before`, `after`: up to MARGIN_BYTES of what stands around them."""

    data: bytes
    before: bytes = b""
    after: bytes = b""

    def around(self, start: int, end: int) -> bytes:
        """Bytes start to end, counted from the start of `data`; they may reach into the margins, no further."""
        left = self.before[max(0, len(self.before) + start) : max(0, len(self.before) + end)] if start < 0 else b""
        right = self.after[max(0, start - len(self.data)) : end - len(self.data)] if end > len(self.data) else b""
        return left + self.data[max(0, start) : max(0, end)] + right


def whole_lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """`blocks` cut anew behind line ends; a line longer than MAX_LINE_BYTES is cut where it stands."""
    carry: list[bytes] = []
    size = 0
    for block in blocks:
        cut = block.rfind(b"\n") + 1
        if not cut and size + len(block) < MAX_LINE_BYTES:
            carry.append(block)
            size += len(block)
            continue
        cut = cut or len(block)
        yield b"".join([*carry, block[:cut]]) if carry else block[:cut]
        carry, size = ([block[cut:]], len(block) - cut) if cut < len(block) else ([], 0)
    if carry:
        yield b"".join(carry)


def chunks(blocks: Iterator[bytes]) -> Iterator[Chunk]:
    """Chunks in order; one is read ahead so that a region may reach past the end of its own."""
    before = b""
    current: bytes | None = None
    for following in whole_lines(blocks):
        if current is not None:
            yield Chunk(current, before, following[:MARGIN_BYTES])
            before = _last_lines(current)
        current = following
    if current is not None:
        yield Chunk(current, before)


def _last_lines(data: bytes) -> bytes:
    """The last whole lines of `data`, MARGIN_BYTES at most."""
    start = len(data) - MARGIN_BYTES
    if start <= 0:
        return data
    return data[data.find(b"\n", start) + 1 :]
