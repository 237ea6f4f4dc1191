"""A sample of the lines of one source, in blocks: all lines of a short source, an even sample of a long one.

The stage that splits a source into lanes reads it to see how the source goes on after a line.

0.5 MB log -> one block, the whole log        10 GB log -> its first 512 KiB, 64 pieces of 4 KiB, its last 128 KiB
"""

from forensics.scan.fold import EvenSample

WHOLE_HEAD_BYTES = 512 << 10  # some 5,000 lines: most logs are shorter, and these are looked at whole
SAMPLE_WINDOW_BYTES = 4 << 10  # some 40 lines: enough to see which lines are printed in turn
WHOLE_TAIL_BYTES = 128 << 10  # some 1,000 lines: how it ended is told by the last ones
MAX_PIECES = 64  # 256 KiB together, whatever the length of the log


class LineSample:
    """Takes the sample chunk by chunk, in bounded memory."""

    def __init__(self) -> None:
        self.head: list[bytes] = []
        self.head_bytes = 0
        self.pieces: EvenSample[tuple[int, bytes]] = EvenSample(MAX_PIECES)
        self.tail = b""

    def feed(self, data: bytes, first_line: int) -> None:
        """Take in a chunk of whole lines, of which the first is number `first_line`."""
        if self.head_bytes < WHOLE_HEAD_BYTES:
            part = data if len(data) <= WHOLE_HEAD_BYTES - self.head_bytes else _whole(data[: WHOLE_HEAD_BYTES - self.head_bytes])
            self.head.append(part)
            self.head_bytes += len(part)
            if len(part) == len(data):
                return
            self.head_bytes = max(self.head_bytes, WHOLE_HEAD_BYTES)
            data = data[len(part) :]
            self.tail = data[-WHOLE_TAIL_BYTES:]
            return
        if self.pieces.wants():
            self.pieces.add((first_line, _whole(data[:SAMPLE_WINDOW_BYTES])))
        self.tail = data[-WHOLE_TAIL_BYTES:] if len(data) >= WHOLE_TAIL_BYTES else (self.tail + data)[-WHOLE_TAIL_BYTES:]

    def skip(self) -> None:
        """The next chunk does not follow the last one."""
        self.tail = b""

    def blocks(self, lines: int) -> tuple[tuple[int, bytes], ...]:
        """The blocks in order, with the number of the first line of each; `lines`: of the whole source."""
        found = [(1, b"".join(self.head))] if self.head else []
        if not self.tail:
            return tuple(found)
        cut = self.tail.find(b"\n") + 1 if len(self.tail) == WHOLE_TAIL_BYTES else 0
        tail = self.tail[cut:]
        first = lines - tail.count(b"\n") - (not tail.endswith(b"\n")) + 1
        return (*found, *((n, piece) for n, piece in self.pieces.kept if n + piece.count(b"\n") <= first), (first, tail))


def _whole(data: bytes) -> bytes:
    """`data` up to its last line end."""
    return data[: data.rfind(b"\n") + 1]
