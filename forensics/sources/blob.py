"""A blob: bytes with a name, in a file or in an archive, that can be opened any number of times.

./bundle.tar.gz                     the file itself
./bundle.tar.gz!var/log/kern.log    a member, whose `open` reads it out of the archive
"""

import contextlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

from msgspec import Struct, field

from forensics.model import Warn, Warning
from forensics.sources.budget import Budget, Pool
from forensics.sources.files import FileAsOpened, open_regular, read_short

BLOCK_BYTES = 1 << 20  # read and unpacked at once; fits into the processor's cache
DISK_BLOCK_BYTES = 4096  # that a file takes at least: to open many small ones takes time, too
LINE_BYTES = 4096  # at the end of a block, in which its last line end is looked for
# Bytes from which the kind is recognised: the mark of a tar is at byte 257, and a log shows its format in its first lines.
PACKING_PROBE_BYTES = 64 << 10


class Blob(Struct, frozen=True):
    """Bytes that can be opened.

    `packing`: the compressions and archives around it, outermost first. `head`: its first bytes, where they are known already.
    `size`: bytes of a file; None inside a file. `stored`: bytes that it takes on disk; 0 inside an archive. `budget`: what may be
    unpacked of the file that holds it. `expected`: about how many bytes will come of it, by what holds it; 0 if unknown.
    `is_read_once`: it cannot be opened again once its end was read.
    """

    name: str
    open: Callable[[], BinaryIO]
    modified: datetime | None = None
    packing: tuple[str, ...] = ()
    head: bytes | None = None
    size: int | None = None
    stored: int = 0
    budget: Budget = field(default_factory=Budget)
    expected: int = 0
    is_read_once: bool = False

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


def file_blob(path: Path | str, top: str | None = None, pool: Pool | None = None, is_counted: bool = False) -> Blob:
    """The Blob of a regular file; raises OSError when it cannot be opened, or may not.

    `top`: the real path of the folder that it must be in. `pool`: what it shares with the other files of the input. `is_counted`:
    the time for it is granted already.
    """

    def opened() -> BinaryIO:
        return cast("BinaryIO", FileAsOpened(open_regular(path, top)))

    status, head = read_short(open_regular(path, top), PACKING_PROBE_BYTES)  # to open a short one takes longer than to read it
    modified = datetime.fromtimestamp(status.st_mtime, UTC)
    size = status.st_size
    return Blob(
        str(path),
        opened,
        modified,
        head=head,
        size=size,
        stored=size,
        budget=Budget(size, pool, there=max(size, DISK_BLOCK_BYTES), is_counted=is_counted),
        expected=size,
    )


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
            read = partial(file.read_lines, near_end=LINE_BYTES) if isinstance(file, FileAsOpened) else file.read
            while block := read(BLOCK_BYTES):
                yield block
            if isinstance(file, FileAsOpened) and (told := file.left_out()):
                warn(Warning("truncated", told, blob.name))
    except (OSError, EOFError) as error:
        warn(Warning(warning_kind(error), f"reading stopped early: {error_text(error)}", blob.name))


def warning_kind(error: Exception, usual: str = "truncated") -> str:
    """The kind of the warning about an error: that of the error itself if it has one."""
    return str(getattr(error, "kind", usual))


def error_text(error: Exception) -> str:
    """The message of an error, without errno and path where it has a sentence of its own."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
