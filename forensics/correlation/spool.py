"""Keep members of archives in temporary files for a second reading; without them the archive would be unpacked again for each.

bundle.tar.gz!var/log/kern.log -> its text in a temporary file, written while it is first read

The files have no names, so nothing of them remains if the process is killed.
"""

from collections.abc import Iterator
from typing import IO

from msgspec.structs import replace

from forensics.model import Source, Warn

BLOCK_BYTES = 1 << 20  # read and written at once; fits in the processor's cache


def spool(source: Source) -> Source:
    """`source`; its first complete reading keeps the text, and later readings use that. Plain files stay as they are."""
    if "!" not in source.name:
        return source
    kept: IO[bytes] | None = None

    def blocks(warn: Warn) -> Iterator[bytes]:
        nonlocal kept
        if kept is not None:
            place = 0
            while kept.seek(place) == place and (block := kept.read(BLOCK_BYTES)):
                place += len(block)
                yield block
            return
        import tempfile  # few inputs are archives, and it takes some milliseconds of the start

        written = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with the source
        for block in source.blocks(warn):
            written.write(block)
            yield block
        kept = written

    return replace(source, blocks=blocks)
