"""The files in a folder of signatures: cause files, tables, and a hash of their contents."""

import contextlib
import itertools
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from forensics.core import limits
from forensics.core.digest import sha256
from forensics.core.errors import DatabaseError, UsageError
from forensics.data_files.cached_data import kept

RECORDS = "records.yaml"  # the cause of each outcome of detectors and series
PRECEDENCE = "precedence.yaml"  # fixed rules on which cause ranks before which
PHRASES = "phrases"  # the folder of phrases that mark classes of lines, not causes
HASHES = "hashes"  # the folder of the cache with hashes of contents
MAX_CACHED_HASHES = 60  # a few versions of each folder
NOT_CAUSES = {PHRASES, "line_formats", "readers"}  # folders of what code reads, see data_files


def cause_files(folder: Path) -> list[Path]:
    """Every cause file of `folder`, <family>/<cause>.yaml, in a stable order."""
    return [p for p in _files(folder) if p.suffix == ".yaml" and p.parent.parent == folder and p.parent.name not in NOT_CAUSES]


def misplaced_files(folder: Path) -> list[Path]:
    """Files of `folder` that look like cause files but are in another place or have another suffix."""
    return [
        p
        for p in _files(folder)
        if p.suffix == ".yml"
        or (p.suffix == ".yaml" and p.parent.parent != folder and p.relative_to(folder) not in (Path(PRECEDENCE), Path(RECORDS)))
    ]


def _files(folder: Path) -> Iterator[Path]:
    """The YAML files and tables of `folder` and its sub-folders, in a stable order; other files are ignored."""
    return (Path(entry.path) for entry in _entries(str(folder)))


def _entries(folder: str, depth: int = 3) -> Iterator["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda e: e.name)
    except OSError:
        return
    for entry in entries:
        if entry.name.endswith((".yaml", ".yml", ".csv")) and entry.is_file():
            yield entry
        elif depth > 1 and not entry.name.startswith(".") and entry.is_dir():
            yield from _entries(entry.path, depth - 1)


def content_hash(folders: Iterable[Path]) -> str:
    """A hash of the cause files and tables of `folders`, in their order.

    Raises UsageError for one that is no folder, DatabaseError for a file that cannot be read or is too large.
    """
    listed: list[tuple[Path, list[os.DirEntry[str]]]] = []
    for folder in folders:
        if not folder.is_dir():
            raise UsageError("no such folder of signatures", str(folder))
        listed.append((folder, list(itertools.islice(_entries(str(folder)), limits.current.cause_files + 1))))
    return kept(_state(listed), str, lambda: _digest(listed), HASHES, MAX_CACHED_HASHES)


def _digest(listed: Iterable[tuple[Path, list["os.DirEntry[str]"]]]) -> str:
    digest = sha256()
    for folder, files in listed:
        digest.update(b"folder %d\0" % len(files))
        for path in (Path(entry.path) for entry in files[: limits.current.cause_files]):
            data = _content(path)
            digest.update(b"%s\0%d\0" % (str(path.relative_to(folder)).encode("utf-8", "surrogateescape"), len(data)) + data)
    return digest.hexdigest()


def _state(listed: Iterable[tuple[Path, list["os.DirEntry[str]"]]]) -> list[tuple[object, ...]]:
    """What tells whether a file changed, of all files: megabytes need not be read to see that none did."""
    rows: list[tuple[object, ...]] = []
    for folder, files in listed:
        rows.append((str(folder), len(files), limits.current.cause_files, limits.current.cause_file))
        for entry in files:
            with contextlib.suppress(OSError):  # _content() tells why
                found = entry.stat()
                rows.append((entry.path, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns))
    return rows


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(limits.current.cause_file + 1)
    except OSError as error:
        raise DatabaseError(f"cannot be read: {error.strerror}", f"{path}:1") from error
    if len(data) > limits.current.cause_file:
        raise DatabaseError(f"larger than {limits.current.cause_file} bytes", f"{path}:1")
    return data


def is_within(path: str, folder: Path) -> bool:
    """Is `path` that file or folder, or below it? Both as they are written: thousands of places are asked for."""
    return f"{path}{os.sep}".startswith(f"{folder}{os.sep}")
