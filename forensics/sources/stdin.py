"""Standard input as Sources: text, compressed text, a container of records or an archive, as `dmesg | forensics stdin` sends it.

Standard input can be read once. Its first bytes are kept to recognise its format; an archive, which has to be read twice, is held
in memory up to a limit.
"""

import io
import os
import stat
import sys
from datetime import UTC, datetime
from typing import BinaryIO, cast

from forensics.core import limits
from forensics.core.errors import SourceError, UsageError
from forensics.core.input_time import InputTime
from forensics.model import Source, Warn, Warning
from forensics.sources.archives import detect_archive
from forensics.sources.blob import PACKING_PROBE_BYTES, Blob, first_bytes
from forensics.sources.budget import Budget
from forensics.sources.compression import detect_compression, unpacked_stream
from forensics.sources.opened import open_blob

STDIN_NAME = "<stdin>"
KEPT_BYTES = 1 << 20  # enough to tell an archive from text, and to hold a short log whole, which can then be read twice


def open_stdin(warn: Warn) -> list[Source]:
    """The Sources in standard input, named `<stdin>`, or `<stdin>!path` for the members of an archive.

    Raises UsageError when it is closed, or a terminal, where nothing would ever come, and SourceError when it holds nothing
    readable.
    """
    if sys.stdin is None:
        raise UsageError("standard input is closed", advice="pipe a log into it: dmesg | forensics stdin")
    if sys.stdin.isatty():
        raise UsageError("standard input is a terminal", advice="pipe a log into it: dmesg | forensics stdin")
    raw = getattr(sys.stdin, "buffer", None) or io.BytesIO(sys.stdin.read().encode("utf-8", "replace"))  # an io.StringIO
    return stream_sources(raw, STDIN_NAME, warn)


def stream_sources(stream: BinaryIO, name: str, warn: Warn) -> list[Source]:
    """The Sources in a stream that can be read once."""
    noted: list[Warning] = []
    kept, written = first_bytes(stream, KEPT_BYTES), _written(stream)
    if len(kept) < KEPT_BYTES:
        blob = Blob(name, lambda: cast(BinaryIO, io.BytesIO(kept)), written, budget=Budget(len(kept)))
    elif _is_archive(kept):
        held = kept + first_bytes(stream, limits.current.stdin - KEPT_BYTES)
        if len(held) >= limits.current.stdin:
            noted.append(
                Warning("limit", f"an archive of more than {limits.current.stdin >> 20} MiB; save it to a file first", name)
            )
        blob = Blob(name, lambda: cast(BinaryIO, io.BytesIO(held)), written, budget=Budget(len(held)))
    else:
        budget = Budget(limits.current.stdin, there=len(kept))  # how much will come is not known
        once = _ReadOnceStream(kept, stream, budget.pool.time)
        blob = Blob(name, once.open, written, budget=budget, is_read_once=True)
    found = list(open_blob(blob, noted.append))
    for warning in noted:
        warn(warning)
    if not found:
        raise SourceError("nothing readable", name, noted[0].message if noted else "pipe a log into it: dmesg | forensics stdin")
    return found


def _written(stream: BinaryIO) -> datetime:
    """When the stream was last written, which gives its stamps a year: of a file that is redirected into it, as if that file were
    given; else now."""
    try:
        status = os.fstat(stream.fileno())
    except (OSError, ValueError):  # it is no file of the system
        return datetime.now(UTC)
    return datetime.fromtimestamp(status.st_mtime, UTC) if stat.S_ISREG(status.st_mode) else datetime.now(UTC)


def _is_archive(head: bytes) -> bool:
    for _ in range(limits.current.packings):
        kind = detect_compression(head)
        if kind is None:
            break
        try:
            head = first_bytes(unpacked_stream(cast(BinaryIO, io.BytesIO(head)), kind))
        except (OSError, EOFError):
            return False
    return detect_archive(head[:PACKING_PROBE_BYTES]) is not None


class _ReadOnceStream:
    """A stream whose first bytes can be read any number of times, and the rest once."""

    def __init__(self, kept: bytes, rest: BinaryIO, time: InputTime) -> None:
        self.kept, self.rest, self.time = kept, rest, time
        self.gone = False

    def open(self) -> BinaryIO:
        return cast(BinaryIO, _ReplayedStream(self))


class _ReplayedStream(io.RawIOBase):
    def __init__(self, once: _ReadOnceStream) -> None:
        self.once, self.at, self.owner = once, 0, False

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        kept = self.once.kept
        if self.at < len(kept):
            data = kept[self.at : self.at + size if size >= 0 else None]
            self.at += len(data)
            return data
        if self.once.gone and not self.owner:
            raise OSError("standard input can be read only once")
        self.once.gone = self.owner = True
        data = self.once.rest.read(size)
        self.once.time.add_bytes(len(data))
        return data
