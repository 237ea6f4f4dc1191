"""What was compiled, on disk: one file per content, library and package version.

    magic | number of parts (4 bytes) | of each part its length (8 bytes) and its CRC-32 (4 bytes) | parts

The parts: Hyperscan's serialised databases of `compiled`, and the document of `stored` between them; the tables of `tables`.

The file name is a hash of all inputs, so a changed signature or library has another file. A damaged or foreign file is rebuilt
without a message; a checksum finds damage in an eighth of the time that a hash takes. If the user's folder cannot be written,
a private one for temporary files is taken; without it, every run compiles again.
"""

import os
import stat
import time
import zlib
from collections.abc import Collection, Sequence
from contextlib import suppress
from io import FileIO
from pathlib import Path

from forensics.core import user_folders

CACHE_FORMAT = 5  # of the file; a part of each key, so that two versions do not write one file in turns
CACHE_MAGIC = b"forensics-cache/%d\n" % CACHE_FORMAT
LENGTH_BYTES = 8  # of a part, in front of it
CHECKSUM_BYTES = 4  # behind the length
PART_HEAD_BYTES = LENGTH_BYTES + CHECKSUM_BYTES
COUNT_BYTES = 4  # the number of parts
MAX_CACHED_PARTS = 4096  # a damaged number may say anything
MAX_CACHED_PART_BYTES = 256 << 20  # a damaged length may say anything
MAX_CACHED_DATABASES = 24  # databases, tables and models: versions of the package, folders of the user


def folder(given: Path | None = None) -> Path:
    """The folder of compiled databases: `$FORENSICS_CACHE`, else the `given` folder, else the user's cache folder."""
    named = os.environ.get("FORENSICS_CACHE")
    if named:
        return Path(named)
    if given:
        return given
    usual = user_folders.cache()
    return usual if _may_be_written(usual) else _private_folder() or usual


def _may_be_written(place: Path) -> bool:
    """May this user write there, or make it?"""
    there = next((p for p in (place, *place.parents) if p.exists()), place)
    return os.access(there, os.W_OK | os.X_OK)


def _private_folder() -> Path | None:
    """A folder for temporary files that is this user's alone, as what lies in it is run; None where somebody else made it. A home
    that is read-only would else compile all messages at each run, 15 s of processor time."""
    if not hasattr(os, "getuid"):
        return None
    place = Path(os.environ.get("TMPDIR") or "/tmp", f"forensics-{os.getuid()}")
    try:
        place.mkdir(mode=0o700, exist_ok=True)
        found = place.lstat()
    except OSError:
        return None
    own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
    return place if own else None


def read(key: str, given: Path | None = None, wanted: Collection[int] | None = None) -> list[bytes] | None:
    """The parts stored under `key`: all, or those with the indices `wanted`. None if there are none or one of them is damaged."""
    try:
        with (folder(given) / f"{key}.db").open("rb", buffering=0) as file:
            parts = _parts(file, wanted)
            if parts is not None:
                _used_now(file)
            return parts
    except (OSError, RuntimeError):
        return None


def _used_now(file: FileIO) -> None:
    """The files that were used last are the ones that are kept. A folder that cannot be written to keeps all it has."""
    with suppress(OSError):
        os.utime(file.fileno())


def _parts(file: FileIO, wanted: Collection[int] | None) -> list[bytes] | None:
    parts: list[bytes] = []
    head = file.read(len(CACHE_MAGIC) + COUNT_BYTES)
    count = int.from_bytes(head[len(CACHE_MAGIC) :], "little")
    if not head.startswith(CACHE_MAGIC) or count > MAX_CACHED_PARTS:
        return None
    heads = file.read(count * PART_HEAD_BYTES)
    place = len(head) + len(heads)
    for at in range(count):
        size = int.from_bytes(heads[at * PART_HEAD_BYTES :][:LENGTH_BYTES], "little")
        if wanted is None or at in wanted:
            check = heads[at * PART_HEAD_BYTES + LENGTH_BYTES :][:CHECKSUM_BYTES]
            file.seek(place)
            if size > MAX_CACHED_PART_BYTES or checksum(part := file.read(size)) != check:
                return None
            parts.append(part)
        place += size
    return parts


def checksum(part: bytes | memoryview) -> bytes:
    """CHECKSUM_BYTES that tell damage."""
    return zlib.crc32(part).to_bytes(CHECKSUM_BYTES, "little")


def write(key: str, parts: Sequence[bytes], given: Path | None = None) -> None:
    """Store `parts` under `key`. The file is written under a temporary name and renamed, so no run sees an incomplete file."""
    heads = [len(part).to_bytes(LENGTH_BYTES, "little") + checksum(part) for part in parts]
    data = b"".join([CACHE_MAGIC, len(parts).to_bytes(COUNT_BYTES, "little"), *heads, *parts])
    try:
        write_file(folder(given), f"{key}.db", data, MAX_CACHED_DATABASES)
    except RuntimeError:  # no folder is known
        return


def write_file(place: Path, called: str, data: bytes, kept: int | None = None) -> None:
    """Write `data` to the file `called` in `place`, and delete all but the `kept` files with its suffix that were written or
    read last, if a number is given; errors are ignored."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        new = place / f".new-{os.getpid()}-{time.monotonic_ns()}"  # `tempfile` takes some milliseconds of the start
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            try:
                file.write(data)
                new.replace(place / called)
            except OSError:
                new.unlink(missing_ok=True)
                return
        if kept is not None:
            _forget_old(place, Path(called).suffix, kept)
    except (OSError, RuntimeError):
        return


def _forget_old(place: Path, suffix: str, kept: int) -> None:
    """Remove all but the `kept` files of that suffix that were used last."""
    made = list(place.glob(f"*{suffix}"))
    for path in sorted(made, key=lambda p: p.stat().st_mtime, reverse=True)[kept:] if len(made) > kept else ():
        path.unlink(missing_ok=True)
