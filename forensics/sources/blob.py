"""A blob: bytes with a name, in a file or in an archive, that can be opened any number of times.

./bundle.tar.gz                     the file itself
./bundle.tar.gz!var/log/kern.log    a member, whose `open` reads it out of the archive
"""

import contextlib
import io
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, cast

from msgspec import Struct

from forensics.model import Warn, Warning

BLOCK_BYTES = 1 << 20  # read and unpacked at once; fits into the processor's cache
LINE_BYTES = 4096  # at the end of a block, in which its last line end is looked for
# Bytes from which the kind is recognised: the mark of a tar is at byte 257, and a log shows its format in its first lines.
PACKING_PROBE_BYTES = 64 << 10


class LimitError(OSError):
    """A limit of core/limits.py was reached: a decompression bomb, or simply too much data."""


class Blob(Struct, frozen=True):
    """Bytes that can be opened.

    `packing`: the compressions and archives around it, outermost first. `head`: its first bytes, where they are known already.
    `size`: bytes of a file; None inside a file. `stored`: bytes that it takes on disk; 0 inside an archive.
    """

    name: str
    open: Callable[[], BinaryIO]
    modified: datetime | None = None
    packing: tuple[str, ...] = ()
    head: bytes | None = None
    size: int | None = None
    stored: int = 0

    def start(self) -> bytes:
        """Its first PACKING_PROBE_BYTES; fewer if it is shorter, or damaged within them. Raises OSError or EOFError if nothing
        can be read."""
        if self.head is not None:
            return self.head
        with contextlib.closing(self.open()) as file:
            return first_bytes(file)

    @property
    def compression(self) -> str | None:
        """`gzip`, or `gzip+tar` for a member of an archive; None where the bytes lie as they are."""
        return "+".join(self.packing) or None


class FileAsOpened(io.RawIOBase):
    """A file up to the size that it had when it was opened: a file that grows faster than it is read would never end.

    Files that the kernel generates (/proc) have no size, and are read to their end.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.at = 0  # asking the file for it takes as long as a small read
        try:
            self.size = file.seek(0, io.SEEK_END)
            file.seek(0)
        except OSError:  # a file without random access
            self.size = 0

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes, and none beyond the size at opening."""
        if self.size:
            left = max(0, self.size - self.at)
            size = min(size, left) if size >= 0 else left
        data = self.file.read(size)
        self.at += len(data)
        return data

    def read_lines(self, most: int) -> bytes:
        """As `read`, but up to the last line end of these bytes if it is near their end, so that no line has to be joined."""
        near = b""
        if self.size - self.at > most and hasattr(os, "pread"):
            near = os.pread(self.file.fileno(), LINE_BYTES, self.at + most - LINE_BYTES)
        return self.read(most - len(near) + near.rfind(b"\n") + 1 if b"\n" in near else most)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to `offset`; SEEK_END counts from the size at opening."""
        self.at = self.file.seek(self.size + offset) if whence == io.SEEK_END else self.file.seek(offset, whence)
        return self.at

    def tell(self) -> int:
        """The offset of the next read."""
        return self.at

    def close(self) -> None:
        """Close the file, too."""
        self.file.close()
        super().close()

    def readable(self) -> bool:
        """True: it can be read."""
        return True

    def seekable(self) -> bool:
        """True, as for every file."""
        return True

    def grown(self) -> bool:
        """Is there more in the file now?"""
        return bool(self.size and self.file.seek(0, io.SEEK_END) > self.size)


def file_blob(path: Path) -> Blob:
    """The Blob of a regular file; raises OSError when it cannot be looked at."""
    status = path.stat()
    modified = datetime.fromtimestamp(status.st_mtime, UTC)
    size = status.st_size
    return Blob(str(path), lambda: cast("BinaryIO", FileAsOpened(path.open("rb", buffering=0))), modified, size=size, stored=size)


def first_bytes(file: BinaryIO, size: int = PACKING_PROBE_BYTES) -> bytes:
    """The first `size` bytes of `file`, fewer if an error stops the reading. Raises that error if nothing could be read."""
    parts: list[bytes] = []
    left = size
    try:
        while left > 0 and (part := file.read(left)):
            parts.append(part)
            left -= len(part)
    except (OSError, EOFError):
        if not parts:
            raise
    return b"".join(parts)


def read_blocks(blob: Blob, warn: Warn) -> Iterator[bytes]:
    """The bytes of `blob` in blocks. An error that stops the reading becomes a Warning."""
    try:
        with contextlib.closing(blob.open()) as file:
            read = file.read_lines if isinstance(file, FileAsOpened) else file.read
            while block := read(BLOCK_BYTES):
                yield block
            if isinstance(file, FileAsOpened) and file.grown():
                warn(
                    Warning(
                        "truncated",
                        f"it grew while it was read; only {file.size:,} bytes were read",
                        blob.name,
                    )
                )
    except (OSError, EOFError) as error:
        kind = "limit" if isinstance(error, LimitError) else "truncated"
        warn(Warning(kind, f"reading stopped early: {error_text(error)}", blob.name))


def error_text(error: Exception) -> str:
    """The message of an error, without errno and path where it has a sentence of its own."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
