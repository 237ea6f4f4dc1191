"""Members of archives to temporary files, for a second reading: else the archive would be unpacked again for each member.

bundle.tar.gz!var/log/kern.log -> its text in a temporary file, written while it is first read
"""

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from forensics.model import Source, Warn

BLOCK_BYTES = 1 << 20  # read and written at once; fits into the processor's cache


def spool(source: Source, file: Path) -> Source:
    """`source`; its first complete reading writes the text to `file`, and later readings use that. Plain files stay as they
    are."""
    if "!" not in source.name:
        return source
    whole = False

    def blocks(warn: Warn) -> Iterator[bytes]:
        nonlocal whole
        if whole:
            with file.open("rb") as written:
                while block := written.read(BLOCK_BYTES):
                    yield block
            return
        with file.open("wb") as out:
            for block in source.blocks(warn):
                out.write(block)
                yield block
        whole = True

    return replace(source, blocks=blocks)
