"""Blocks of any size to chunks that end at a line's end, each with the neighbourhood a region may need."""

from collections.abc import Iterator
from dataclasses import dataclass

MAX_LINE_BYTES = 16 << 20
MARGIN_BYTES = 256 << 10


@dataclass(frozen=True, slots=True)
class Chunk:
    """`data[start:end]` is the chunk: whole lines. Around it lie up to MARGIN_BYTES of what came before and comes after."""

    data: bytes
    start: int
    end: int


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
    """Chunks in order; one chunk is read ahead so that a region may reach past the end of its own."""
    before = b""
    current: bytes | None = None
    for following in whole_lines(blocks):
        if current is not None:
            yield Chunk(before + current + following[:MARGIN_BYTES], len(before), len(before) + len(current))
            before = _last_lines(current)
        current = following
    if current is not None:
        yield Chunk(before + current if before else current, len(before), len(before) + len(current))


def _last_lines(data: bytes) -> bytes:
    """The last whole lines of `data`, MARGIN_BYTES at most."""
    start = len(data) - MARGIN_BYTES
    if start <= 0:
        return data
    return data[data.find(b"\n", start) + 1 :]
