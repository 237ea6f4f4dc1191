"""Parts of one long stream as files: the members of a tar, the sections of a bug report.

A compressed stream can only be read forward. Parts that are read in order share one pass over it; a part that is read out of
order gets a pass of its own.
"""

import io
from collections.abc import Callable
from typing import BinaryIO, cast

from forensics.sources.budget import Pool

SKIP_BYTES = 1 << 20  # a compressed stream must be read to skip a part of it; small pieces need little memory


class Slices:
    """The parts of one stream. `open`: opens the whole stream again, from its start. `pool`: keeps a stream that waits for the
    next part."""

    def __init__(self, open: Callable[[], BinaryIO], pool: Pool) -> None:
        self.open, self.idle = open, pool.streams

    def part(self, start: int, size: int, last: bool = False) -> BinaryIO:
        """The `size` bytes from `start` on, as a file. The `last` part may end early; any other part then raises EOFError."""
        return cast(BinaryIO, _Part(self, start, size, last))

    def borrow(self, start: int) -> BinaryIO:
        """The stream, positioned at `start`. Raises OSError or EOFError if it cannot get there."""
        kept: tuple[int, BinaryIO] | None = self.idle.take(self)
        if kept and kept[0] > start and not kept[1].seekable():
            kept[1].close()
            kept = None
        at, stream = kept or (0, self.open())
        if stream.seekable():
            stream.seek(start)
            return stream
        while at < start:
            skipped = len(stream.read(min(SKIP_BYTES, start - at)))
            if not skipped:
                raise EOFError("the archive ends in front of it")
            at += skipped
        return stream

    def give_back(self, stream: BinaryIO, at: int) -> None:
        """Return a borrowed stream, which is now at position `at`, for the next part."""
        for _, other in self.idle.put(self, (at, stream)):
            other.close()


class _Part(io.RawIOBase):
    def __init__(self, whole: Slices, start: int, size: int, last: bool) -> None:
        self.whole, self.at, self.end, self.last = whole, start, start + size, last
        self.stream: BinaryIO | None = None

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        left = self.end - self.at
        if left <= 0:
            return b""
        if self.stream is None:
            self.stream = self.whole.borrow(self.at)
        data = self.stream.read(left if size < 0 else min(size, left))
        if not data and not self.last:
            raise EOFError("the archive ends inside it")
        self.at += len(data)
        return data

    def close(self) -> None:
        if self.stream is not None:
            self.whole.give_back(self.stream, self.at)
            self.stream = None
        super().close()
