"""Compressed bytes to a stream of what they hold: gzip, zlib, xz, bzip2 and zstd, recognised by their first bytes.

    1f 8b 08 ...             -> gzip          28 b5 2f fd ... -> zstd
    fd 37 7a 58 5a 00 ...    -> xz            42 5a 68 39 31 41 59 26 53 59 ... -> bzip2

Several streams in a row (`cat a.gz b.gz`) are read as one. Memory is bounded, and a stream that grows beyond the limits is
stopped.
"""

import io
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, BinaryIO, cast

from forensics.core import limits
from forensics.sources.budget import Budget, LimitError

BZIP2_START = b"1AY&SY"


def detect_compression(head: bytes) -> str | None:
    """The name of the compression that `head` starts with, None where it is none."""
    if head.startswith(b"\x1f\x8b\x08"):
        return "gzip"
    if head.startswith(b"\xfd7zXZ\x00"):
        return "xz"
    if head.startswith(b"BZh") and head[4:10] == BZIP2_START:
        return "bzip2"
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return "zstd"
    return "zlib" if _is_zlib(head) else None


def _is_zlib(head: bytes) -> bool:
    """RFC 1950: method 8 with a 32 KiB window at most, and the two bytes together a multiple of 31. `x^` may be text: tried."""
    if len(head) < 3 or head[0] & 0x0F != 8 or head[0] >> 4 > 7 or int.from_bytes(head[:2], "big") % 31 or head[1] & 0x20:
        return False
    try:
        return bool(_igzip("ZLIB").decompress(head, 4096))
    except Exception:  # every engine has its own error; here each of them means: no zlib
        return False


def unpacked_stream(raw: BinaryIO, kind: str, budget: Budget | None = None, inside: Sequence[str] = ()) -> BinaryIO:
    """A stream of what `raw` holds; it raises OSError (damage, LimitError) or EOFError (cut short) while it is read.

    `budget`: of the file that it is in. `inside`: the packings around it.
    """
    make, input_bytes = ENGINES[kind]
    return cast(BinaryIO, UnpackedStream(raw, partial(make, window(inside)), input_bytes, budget or Budget()))


def window(inside: Sequence[str]) -> int:
    """The bytes that a decoder may keep of what it unpacked, by the packings around it: together less than twice the limit."""
    around = sum(kind in WINDOWED for kind in inside)
    return limits.current.window >> around * (around + 1) // 2


def _igzip(container: str, _window: int = 0) -> Any:
    from isal import igzip_lib

    return igzip_lib.IgzipDecompressor(flag=getattr(igzip_lib, f"DECOMP_{container}"))


def _xz(window: int) -> Any:
    import lzma

    return lzma.LZMADecompressor(memlimit=window)


def _bzip2(_window: int = 0) -> Any:
    import bz2

    return bz2.BZ2Decompressor()


class _Zstd:
    """zstandard's decompressor with the interface of the standard library's. It has no limit for its output, so its input comes
    in small pieces: four bytes can become 128 KiB."""

    needs_input = True

    def __init__(self, window: int) -> None:
        import zstandard

        self.engine = zstandard.ZstdDecompressor(max_window_size=window).decompressobj()

    def decompress(self, data: bytes, _most: int) -> bytes:
        return self.engine.decompress(data)

    @property
    def eof(self) -> bool:
        return self.engine.eof

    @property
    def unused_data(self) -> bytes:
        return self.engine.unused_data


WINDOWED = ("xz", "zstd", "zip")  # a zip's members may be packed by either
ENGINES: dict[str, tuple[Callable[[int], Any], int]] = {  # the decompressor, and how many bytes of input it is given at once
    "gzip": (partial(_igzip, "GZIP"), 256 << 10),
    "deflate": (partial(_igzip, "DEFLATE"), 256 << 10),
    "zlib": (partial(_igzip, "ZLIB"), 256 << 10),
    "xz": (_xz, 256 << 10),
    "bzip2": (_bzip2, 256 << 10),
    "zstd": (_Zstd, 1 << 10),
}


class UnpackedStream(io.RawIOBase):
    """Reads `raw` through decompressors, a new one for each stream in a row. `input_bytes`: what it is given at once."""

    def __init__(self, raw: BinaryIO, make: Callable[[], Any], input_bytes: int, budget: Budget) -> None:
        self.raw, self.make, self.input_bytes, self.budget = raw, make, input_bytes, budget
        self.engine = make()
        self.bytes_in = self.bytes_out = self.last_input_bytes = 0
        self.stopped: Exception | None = None

    def readable(self) -> bool:
        """True: it can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """`size` bytes; fewer only at the end, or at an error that stops the reading."""
        parts: list[bytes] = []
        left = size if size >= 0 else 1 << 62
        while left > 0 and self.stopped is None:
            try:
                part = self._some(left)
            except (OSError, EOFError) as error:
                self.stopped = error.with_traceback(None)  # its frames hold all that was read
                break
            if part is None:
                break
            parts.append(part)
            left -= len(part)
        if not parts and self.stopped:
            raise type(self.stopped)(*self.stopped.args)  # a new one: it will hold this frame, which holds this stream
        return b"".join(parts)

    def close(self) -> None:
        """Close the stream that it reads from, too."""
        self.raw.close()
        super().close()

    def _some(self, most: int) -> bytes | None:
        """A few more bytes, None at the end."""
        if self.engine.eof:
            data = (self.engine.unused_data or self._next_input()).lstrip(b"\0")  # tapes and archives pad with zeros
            if not data:
                return b"" if self._padded() else None
            self.engine = self.make()
        elif self.engine.needs_input:
            data = self._next_input()
            if not data:
                raise EOFError("the compressed data ends too early")
        else:
            data = b""
        try:
            out: bytes = self.engine.decompress(data, min(most, 4 << 20))
        except Exception as error:  # every engine has its own class of error, and all mean damage
            raise OSError(f"damaged compressed data ({error})") from error
        self._count(len(out))
        return out

    def _padded(self) -> bool:
        """Was the last input nothing but zeros, so that another stream may follow?"""
        return self.last_input_bytes > 0 and not self.engine.unused_data

    def _next_input(self) -> bytes:
        data = self.raw.read(self.input_bytes) or b""
        self.last_input_bytes = len(data)
        self.bytes_in += len(data)
        return data

    def _count(self, more: int) -> None:
        try:
            self.budget.unpack(more)
        except LimitError as error:
            self.stopped = error.with_traceback(None)
        self.bytes_out += more
        if self.bytes_out > limits.current.free and self.bytes_out > self.bytes_in * limits.current.ratio:
            self.stopped = LimitError(f"it grows more than {limits.current.ratio} times when unpacked; the rest was not read")
        if self.bytes_out > limits.current.unpacked:
            self.stopped = LimitError(f"more than {limits.current.unpacked >> 30} GiB when unpacked; the rest was not read")
