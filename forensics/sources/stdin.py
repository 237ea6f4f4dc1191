"""Standard input as a Source: text or gzip, read once, as `dmesg | forensics stdin` sends it."""

import io
import sys
import zlib
from collections.abc import Iterator
from typing import BinaryIO, cast

from forensics.errors import UsageError
from forensics.model import Source, Warn, Warning
from forensics.sources.files import BLOCK_BYTES, GZIP, decoded, not_text

NAME = "<stdin>"


def stdin_source() -> Source:
    """Standard input; raises UsageError when it is a terminal, where nothing would ever come."""
    if sys.stdin.isatty():
        raise UsageError("standard input is a terminal", advice="pipe a log into it: dmesg | forensics stdin")
    return stream_source(sys.stdin.buffer, NAME)


def stream_source(stream: BinaryIO, name: str) -> Source:
    """A Source over a stream that can be read once."""

    def blocks(warn: Warn) -> Iterator[bytes]:
        first = stream.read(BLOCK_BYTES)
        raw: BinaryIO = cast(BinaryIO, _Joined(first, stream))
        if first.startswith(GZIP):
            from isal import igzip

            raw = cast(BinaryIO, igzip.open(raw, "rb"))
        try:
            probe = raw.read(BLOCK_BYTES)
            if kind := not_text(probe[:8192]):
                warn(Warning("binary", f"not read: {kind}", name))
                return
            yield from decoded(_rest(probe, raw), probe)
        except (OSError, EOFError, zlib.error) as error:
            warn(Warning("truncated", f"reading stopped early: {error}", name))

    return Source(name=name, blocks=blocks)


def _rest(first: bytes, raw: BinaryIO) -> Iterator[bytes]:
    while first:
        yield first
        first = raw.read(BLOCK_BYTES)


class _Joined(io.RawIOBase):
    """A first block that was already read, followed by the rest of its stream."""

    def __init__(self, first: bytes, rest: BinaryIO) -> None:
        self.first, self.rest = first, rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        data = self.first[: len(view)] if self.first else self.rest.read(len(view))
        self.first = self.first[len(view) :]
        view[: len(data)] = data
        return len(data)
