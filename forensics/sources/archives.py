"""Archives to blobs: the regular members of a tar or a zip, named as `bundle.tar.gz!var/log/kern.log`.

Nothing is written to disk. A tar is walked once to find its members; a zip needs its end, so one that cannot be sought in
(inside another archive, on standard input) is held in memory up to a limit.
"""

import contextlib
import io
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from msgspec.structs import replace

from forensics.core import limits
from forensics.core.text import printable
from forensics.model import Warn, Warning
from forensics.sources.blob import PACKING_PROBE_BYTES, Blob, LimitError, error_text
from forensics.sources.slices import Slices

if TYPE_CHECKING:
    import zipfile  # here and below: most inputs are no archives, and the imports take as long as a small log

TAR_MAGIC = 257  # where a tar's header says "ustar", in the POSIX and in the GNU form
SKIPPED_MEMBERS = ("__MACOSX/", "PaxHeader/")


def detect_archive(head: bytes) -> str | None:
    """`tar` or `zip` by the first bytes, None for anything else."""
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    return "tar" if head[TAR_MAGIC : TAR_MAGIC + 5] == b"ustar" else None


def archive_members(blob: Blob, kind: str, warn: Warn) -> Iterator[Blob]:
    """A Blob for each regular member of the archive `blob`, in the archive's order. Use each before asking for the next, or open
    it later. A fault becomes a Warning, and the members before it are kept."""
    try:
        for count, member in enumerate((_tar if kind == "tar" else _zip)(blob)):
            if count >= limits.current.members:
                raise LimitError(f"more than {limits.current.members} members; the rest was not read")
            yield member
    except (OSError, EOFError) as error:
        warn(Warning("limit" if isinstance(error, LimitError) else "truncated", f"archive: {error_text(error)}", blob.name))


def _named(blob: Blob, kind: str, path: str, open: Callable[[], BinaryIO], modified: datetime | None) -> Blob:
    return Blob(f"{blob.name}!{printable(path.removeprefix('./'), 500)}", open, modified or blob.modified, (*blob.packing, kind))


def _tar(blob: Blob) -> Iterator[Blob]:
    import tarfile

    whole = Slices(blob.open)
    try:
        with contextlib.closing(blob.open()) as stream, tarfile.open(fileobj=stream, mode="r|", bufsize=1 << 20) as tar:
            for entry in tar:
                if not entry.isreg() or entry.sparse is not None or _skipped(entry.name):
                    continue
                inside = tar.extractfile(entry)
                head = inside.read(PACKING_PROBE_BYTES) if inside else b""
                open = partial(whole.part, entry.offset_data, entry.size)
                yield replace(_named(blob, "tar", entry.name, open, _time(entry.mtime)), head=head)
    except (OSError, EOFError):
        raise
    except Exception as error:  # a damaged header shows as any of half a dozen classes
        raise OSError(str(error)) from error


def _time(seconds: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC) if seconds > 0 else None
    except (ValueError, OverflowError, OSError):
        return None


def _zip(blob: Blob) -> Iterator[Blob]:
    import zipfile

    stream = blob.open()
    if not stream.seekable():
        with contextlib.closing(stream):
            held = stream.read(limits.current.inner_zip + 1)
        if len(held) > limits.current.inner_zip:
            raise LimitError(f"a zip of more than {limits.current.inner_zip >> 20} MiB that cannot be sought in; unpack it first")
        stream = io.BytesIO(held)
    try:
        whole = zipfile.ZipFile(stream)
    except Exception as error:  # a damaged header shows as any of half a dozen classes
        raise OSError(str(error)) from error
    for entry in whole.infolist():
        if entry.is_dir() or _skipped(entry.filename):
            continue
        yield _named(blob, "zip", entry.filename, partial(_zip_member, whole, entry), _zip_time(entry))


def _zip_member(whole: "zipfile.ZipFile", entry: "zipfile.ZipInfo") -> BinaryIO:
    try:
        return cast(BinaryIO, _ZipMember(whole.open(entry)))
    except Exception as error:  # encrypted, a method Python cannot do, damage: each has a class of its own
        raise OSError(str(error)) from error


def _zip_time(entry: "zipfile.ZipInfo") -> datetime | None:
    """The time of a member. A zip has local time without a zone, from 1980 on; 1980 itself also stands for unknown."""
    try:
        return datetime(*entry.date_time, tzinfo=UTC) if entry.date_time[0] > 1980 else None
    except ValueError:
        return None


def _skipped(path: str) -> bool:
    return path.startswith(SKIPPED_MEMBERS) or path.rsplit("/", 1)[-1].startswith("._")


class _ZipMember(io.RawIOBase):
    """A member whose errors are OSErrors and whose growth is bounded."""

    def __init__(self, inside: Any) -> None:
        self.inside, self.given = inside, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        try:
            data: bytes = self.inside.read(size)
        except Exception as error:  # zlib, lzma and zipfile each have their own class, and all mean damage
            raise OSError(f"damaged member ({error})") from error
        self.given += len(data)
        if self.given > limits.current.unpacked:
            raise LimitError(f"more than {limits.current.unpacked >> 30} GiB when unpacked; the rest was not read")
        return data

    def close(self) -> None:
        self.inside.close()
        super().close()
