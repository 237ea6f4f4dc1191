"""Members of archives to files that can be read again at no cost: a second pass would unpack the whole archive for each.

bundle.tar.gz!var/log/kern.log -> its text in a temporary file, written while it is first read
"""

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from forensics.model import Source, Warn

BLOCK_BYTES = 1 << 20


def spooled(source: Source, file: Path) -> Source:
    """`source`, whose first complete reading leaves its text in `file`, from which later ones read; others as they are."""
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
