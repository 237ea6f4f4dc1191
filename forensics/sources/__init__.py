"""Bytes in: files, folders, gzip and standard input become Sources.

    ./logs -> Source("logs/dmesg.txt"), Source("logs/old/kern.log.1.gz", compression="gzip"), ...

Compression is known by content, not by name. A name is what the user would type to open the file. What cannot be read becomes a
Warning and the rest is still read; nothing readable at all is a SourceError.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from forensics.errors import SourceError, UsageError
from forensics.model import Source, Warn
from forensics.sources.files import file_source
from forensics.sources.stdin import stdin_source
from forensics.sources.walk import walk

__all__ = ["open_paths", "open_stdin"]


def open_paths(paths: Iterable[Path], warn: Warn) -> list[Source]:
    """A Source for each regular readable file among `paths` and below the folders among them, in order of name.

    Raises UsageError for a path that does not exist and SourceError when nothing can be read.
    """
    paths = list(paths)
    for path in paths:
        if not path.exists():
            raise UsageError("no such file or folder", str(path))
    found = list(_found(paths, warn))
    if not found:
        raise SourceError("nothing readable", ", ".join(map(str, paths)), "give a text log, a folder of logs or a gzip of one")
    return found


def open_stdin() -> Source:
    """Standard input as a Source named `<stdin>`."""
    return stdin_source()


def _found(paths: list[Path], warn: Warn) -> Iterator[Source]:
    seen: set[tuple[int, int]] = set()
    for top in paths:
        for path in walk(top, warn):
            status = path.stat()
            key = (status.st_dev, status.st_ino)
            if key in seen:  # given twice, or reached by two links
                continue
            seen.add(key)
            source = file_source(path, warn)
            if source:
                yield source
