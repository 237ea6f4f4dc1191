"""The members of a zip, each read by a decoder that is bounded like those of single files.

The directory is read by the standard library. Its members are not: it unpacks some methods without a bound.
"""

import contextlib
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from msgspec import Struct

from forensics.core import limits
from forensics.sources.blob import Blob, first_bytes
from forensics.sources.budget import Budget, LimitError
from forensics.sources.compression import ENGINES, UnpackedStream, window
from forensics.sources.slices import Slices

if TYPE_CHECKING:
    import zipfile  # most inputs are no archives, and the import takes as long as a small log

MAX_DIRECTORY_BYTES = 8 << 20  # of a zip, in memory: 60,000 members with names of 90 bytes; each takes 1 KiB when it is read
ENCRYPTED_FLAG = 1  # the lowest bit of the general flags (APPNOTE.TXT, 4.4.4)
STORED, LZMA = 0, 14  # methods, as in the format's description (APPNOTE.TXT, 4.4.5)
ENGINE_OF_METHOD = {8: "deflate", 12: "bzip2", 93: "zstd", 95: "xz"}
LOCAL_HEADER_BYTES = 30  # in front of a member; the lengths of two fields that follow are in its last four bytes
LZMA_HEADER_BYTES = 9  # two of a version, two of a length, five of properties


class ZipMember(Struct, frozen=True):
    """A regular member: where it is, how it is packed, and what must come out."""

    path: str
    modified: datetime | None
    header_at: int
    packed_bytes: int
    bytes: int
    method: int
    checksum: int
    encrypted: bool


def zip_members(blob: Blob) -> Iterator[tuple[ZipMember, Callable[[], BinaryIO]]]:
    """Each regular member of the zip in `blob`, and what opens it. Raises OSError for a damaged directory."""
    import zipfile

    whole = Slices(partial(_sought, blob), blob.budget.pool)
    try:
        with contextlib.closing(_sought(blob)) as stream, zipfile.ZipFile(cast(Any, _BoundedReads(stream))) as archive:
            entries = archive.infolist()
    except OSError:
        raise
    except Exception as error:  # a damaged header shows as any of half a dozen classes
        raise OSError(str(error)) from error
    for entry in entries:
        blob.budget.enter(1)
        if not entry.is_dir():
            member = ZipMember(
                path=entry.filename,
                modified=_time(entry),
                header_at=entry.header_offset,
                packed_bytes=entry.compress_size,
                bytes=entry.file_size,
                method=entry.compress_type,
                checksum=entry.CRC,
                encrypted=bool(entry.flag_bits & ENCRYPTED_FLAG),
            )
            yield member, partial(_opened, whole, member, blob)


def _time(entry: "zipfile.ZipInfo") -> datetime | None:
    """The time of a member. A zip has local time without a zone, from 1980 on; 1980 itself also stands for unknown."""
    try:
        return datetime(*entry.date_time, tzinfo=UTC) if entry.date_time[0] > 1980 else None
    except ValueError:
        return None


def _opened(whole: Slices, member: ZipMember, blob: Blob) -> BinaryIO:
    """The unpacked bytes of a member; raises OSError if it cannot be unpacked."""
    if member.encrypted:
        raise OSError("it is encrypted; unpack it first")
    with contextlib.closing(whole.part(member.header_at, LOCAL_HEADER_BYTES)) as header:
        start = first_bytes(header, LOCAL_HEADER_BYTES)
    if not start.startswith(b"PK\x03\x04") or len(start) < LOCAL_HEADER_BYTES:
        raise OSError("damaged member (no header where the directory says)")
    at = member.header_at + LOCAL_HEADER_BYTES + int.from_bytes(start[26:28], "little") + int.from_bytes(start[28:30], "little")
    raw = whole.part(at, member.packed_bytes)
    if member.method != STORED:
        raw = _unpacked(raw, member.method, blob)
    return cast(BinaryIO, _Checked(raw, member, blob.budget))


def _unpacked(raw: BinaryIO, method: int, blob: Blob) -> BinaryIO:
    if method == LZMA:
        engine, input_bytes = _lzma_engine(raw, window(blob.packing)), ENGINES["xz"][1]
        make: Callable[[], Any] = lambda: engine  # noqa: E731 - a member is one stream
    elif method in ENGINE_OF_METHOD:
        engine_of, input_bytes = ENGINES[ENGINE_OF_METHOD[method]]
        make = partial(engine_of, window(blob.packing))
    else:
        raise OSError(f"packed by method {method}, which is not known here; unpack it first")
    return cast(BinaryIO, UnpackedStream(raw, make, input_bytes, blob.budget))


def _lzma_engine(raw: BinaryIO, most: int) -> "lzma.LZMADecompressor":
    """The decoder for the properties at the start of a member; LimitError where it would keep more than `most` bytes."""
    start = first_bytes(raw, LZMA_HEADER_BYTES)
    if len(start) < LZMA_HEADER_BYTES or start[2:4] != b"\x05\x00" or start[4] >= 9 * 5 * 5:
        raise OSError("damaged member (its properties)")
    kept = int.from_bytes(start[5:9], "little")
    if kept > most:
        raise LimitError(f"it needs {kept >> 20:,} MiB of memory to be unpacked, more than the limit `window`")
    lc, lp, pb = start[4] % 9, start[4] // 9 % 5, start[4] // 45
    try:
        return lzma.LZMADecompressor(
            lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA1, "dict_size": kept, "lc": lc, "lp": lp, "pb": pb}]
        )
    except (ValueError, lzma.LZMAError) as error:
        raise OSError(f"damaged member ({error})") from error


class _Checked(io.RawIOBase):
    """As many bytes as the directory says. At their end their checksum must be right."""

    def __init__(self, inside: BinaryIO, member: ZipMember, budget: Budget) -> None:
        self.inside, self.left, self.wanted, self.budget, self.checksum = inside, member.bytes, member.checksum, budget, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if self.left <= 0:
            return b""
        data = self.inside.read(min(size, self.left) if size >= 0 else self.left)
        if not data:
            raise EOFError("the member ends too early")
        self.left -= len(data)
        self.checksum = zlib.crc32(data, self.checksum)
        if not self.left and self.checksum != self.wanted:
            raise OSError("damaged member (its checksum is wrong)")
        return data

    def close(self) -> None:
        self.inside.close()
        super().close()


class _BoundedReads(io.RawIOBase):
    """A stream that is not read in a piece larger than a directory may be."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if size > MAX_DIRECTORY_BYTES:
            raise LimitError(f"a directory of {size >> 20:,} MiB, more than {MAX_DIRECTORY_BYTES >> 20} MiB; it was not opened")
        data = self.stream.read(size if size >= 0 else MAX_DIRECTORY_BYTES)
        return data or b""

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self.stream.seek(offset, whence)

    def tell(self) -> int:
        return self.stream.tell()


def _sought(blob: Blob) -> BinaryIO:
    """The zip in `blob`, as a stream that can be sought in. Raises LimitError for one that is too large to be held in memory."""
    kept = blob.budget.pool.zips
    held: bytes | None = kept.take(blob.open)
    if held is not None:
        kept.put(blob.open, held)
        return io.BytesIO(held)
    stream = blob.open()
    if stream.seekable():
        return stream
    with contextlib.closing(stream):
        held = first_bytes(stream, limits.current.inner_zip + 1)
    if len(held) > limits.current.inner_zip:
        raise LimitError(f"a zip of more than {limits.current.inner_zip >> 20} MiB that cannot be sought in; unpack it first")
    kept.put(blob.open, held)
    return io.BytesIO(held)
