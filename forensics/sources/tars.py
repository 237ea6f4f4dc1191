"""The members of a tar, in its order. The standard library reads the headers, from a stream that gives it no header of any size:
a name or a pax header can claim gigabytes, and would be read whole.
"""

import contextlib
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from forensics.sources.blob import PACKING_PROBE_BYTES, Blob
from forensics.sources.budget import Budget, LimitError

if TYPE_CHECKING:
    import tarfile  # most inputs are no archives, and the import takes as long as a small log

MAX_HEADER_BYTES = 64 << 10  # of a name or of a member's pax header, which may hold 64 KiB of access rights
HEADER_BYTES_PER_MEMBER = 1024  # a larger header counts as several members: reading it takes as long
BUFFER_BYTES = 256 << 10  # read at once, as much as a decoder is given


def tar_members(blob: Blob) -> Iterator[tuple["tarfile.TarInfo", bytes]]:
    """Each regular member with its first bytes, at most PACKING_PROBE_BYTES. Raises OSError for a damaged archive."""
    import tarfile

    try:
        with contextlib.closing(_ForwardStream(blob.open(), blob.budget)) as stream:
            tar: Any = tarfile.open(fileobj=cast(Any, stream), mode="r:")  # noqa: SIM115 - closing it does nothing
            while (entry := tar.next()) is not None:
                tar.members.clear()  # it keeps all of them, and each may have a large header
                blob.budget.enter(1)
                if entry.isreg() and entry.sparse is None:
                    stream.seek(entry.offset_data)
                    yield entry, stream.take(min(entry.size, PACKING_PROBE_BYTES))
    except (OSError, EOFError):
        raise
    except Exception as error:  # a damaged header shows as any of half a dozen classes
        raise OSError(str(error)) from error


class _ForwardStream(io.RawIOBase):
    """A stream that is read and moved forward only, and through `read` in pieces of a header's size only."""

    def __init__(self, stream: BinaryIO, budget: Budget) -> None:
        self.stream, self.budget = stream, budget
        self.held, self.at_held, self.at = b"", 0, 0  # bytes read ahead, how many of them are used, position in the archive

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.at

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= MAX_HEADER_BYTES:
            raise LimitError(f"a header of more than {MAX_HEADER_BYTES >> 10} KiB; the rest was not read")
        self.budget.enter(size // HEADER_BYTES_PER_MEMBER)
        return self.take(size)

    def take(self, size: int) -> bytes:
        """The next `size` bytes; fewer at the end, or at an error behind the first of them."""
        parts: list[bytes] = []
        left = size
        while left > 0:
            if self.at_held == len(self.held) and not self._filled(bool(parts)):
                break
            part = self.held[self.at_held : self.at_held + left]
            parts.append(part)
            self.at_held += len(part)
            left -= len(part)
        self.at += size - left
        return b"".join(parts)

    def _filled(self, may_stop: bool) -> bool:
        """Are there more bytes? An error means no, after a part that is kept."""
        try:
            self.held, self.at_held = self.stream.read(BUFFER_BYTES) or b"", 0
        except (OSError, EOFError):
            self.held, self.at_held = b"", 0
            if not may_stop:
                raise
        return bool(self.held)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move forward to `offset`, or to the end if it is behind it."""
        if whence != io.SEEK_SET or offset < self.at:
            raise OSError("the archive is read forward only")
        ahead = min(offset - self.at, len(self.held) - self.at_held)
        self.at_held += ahead
        self.at += ahead
        if self.at < offset and self.stream.seekable():
            self.at = self.stream.seek(offset)
            self.held, self.at_held = b"", 0
        while self.at < offset and self._filled(may_stop=False):
            self.at_held = min(len(self.held), offset - self.at)
            self.at += self.at_held
        return self.at

    def close(self) -> None:
        self.stream.close()
        super().close()
