"""Short files of a folder with very many are opened by the process that reads them, once: what is in one is not known before.

10,000 files of 5 KB  ->  a Source each, by name and size alone; opened, read and decoded where it is analysed
"""

from collections import Counter
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from io import BytesIO
from os import stat_result
from pathlib import Path
from typing import BinaryIO, cast

from msgspec import Struct
from msgspec.structs import replace

from forensics.model import Source, Warn, Warning
from forensics.sources.blob import DISK_BLOCK_BYTES, PACKING_PROBE_BYTES, error_text, file_blob, warning_kind
from forensics.sources.budget import Pool
from forensics.sources.opened import open_blob
from forensics.sources.programs import holds_code
from forensics.sources.sets import base_of_set

MIN_LATER_FILES = 500  # chosen by hand: fewer are opened in a tenth of a second


class LaterFile(Struct, frozen=True):
    """Opens a file at `path`, which must be in the folder `inside`. `place`: how many warnings there were before it is opened.
    `given`: what the user gave."""

    path: str
    inside: str | None
    pool: Pool
    place: int
    given: tuple[Path, ...]

    def __call__(self, warn: Warn) -> list[Source]:
        """The Sources in it. What was read to tell what they are is not read again."""
        try:
            blob = file_blob(self.path, self.inside, self.pool, is_counted=True)
        except OSError as error:
            warn(Warning(warning_kind(error, "unreadable"), error_text(error), self.path))
            return []
        head = blob.head or b""
        if len(head) < PACKING_PROBE_BYTES:  # all of it, if it has not grown
            blob = replace(blob, open=lambda: cast("BinaryIO", BytesIO(head)))
        return list(open_blob(blob, warn))

    def blocks(self, warn: Warn) -> Iterator[bytes]:
        """Its bytes in blocks, once more."""
        for source in self(lambda _warning: None):
            yield from source.blocks(warn)

    def source(self, status: stat_result) -> Source:
        """The Source, as far as it is known."""
        size = status.st_size
        self.pool.time.add_file(max(size, DISK_BLOCK_BYTES))
        modified = datetime.fromtimestamp(status.st_mtime, UTC)
        return Source(self.path, self.blocks, None, modified, size=size, expected=size, time=self.pool.time, opens=self)


def is_plain(found: Collection[Source]) -> bool:
    """Is what a file holds one text, which is read as it stands?"""
    decoded = (s.compression or s.origin or s.format or s.code or s.dump for s in found)
    return len(found) == 1 and not any(decoded)


def may_wait(path: str, status: stat_result, sets: Counter[str]) -> bool:
    """May the file be opened when it is read? `sets`: how many files are parts of one log."""
    return 0 < status.st_size < PACKING_PROBE_BYTES and "!" not in path and sets[base_of_set(path)] == 1 and not holds_code(path)
