"""The compiled database on disk: one file per content, library and package version.

    magic | sha256 of the rest | parts, each behind its length (8 bytes)

The parts: the document of `stored`, Hyperscan's own serialisation of the anchors, that of the phrases.

The file's name is a hash of everything that went in, so a changed signature or library simply has another name. A damaged or
foreign file is rebuilt silently; a folder that cannot be written costs time, never an answer.
"""

import hashlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

CACHE_MAGIC = b"forensics-cache/2\n"
LENGTH_BYTES = 8  # of a part, in front of it
MAX_CACHED_DATABASES = 16  # databases: versions of the package, folders of the user


def folder(given: Path | None = None) -> Path:
    """Where compiled databases lie: `$FORENSICS_CACHE`, else the `given` folder, else the user's cache folder."""
    named = os.environ.get("FORENSICS_CACHE")
    if named:
        return Path(named)
    if given:
        return given
    import platformdirs

    return Path(platformdirs.user_cache_dir("forensics", appauthor=False))


def read(key: str, given: Path | None = None) -> list[bytes] | None:
    """The parts kept under `key`, or None where there are none or they are damaged."""
    try:
        data = (folder(given) / f"{key}.db").read_bytes()
    except (OSError, RuntimeError):
        return None
    at = len(CACHE_MAGIC) + hashlib.sha256().digest_size
    if len(data) < at or not data.startswith(CACHE_MAGIC) or hashlib.sha256(data[at:]).digest() != data[len(CACHE_MAGIC) : at]:
        return None
    parts: list[bytes] = []
    while at < len(data):
        start = at + LENGTH_BYTES
        at = start + int.from_bytes(data[at:start], "little")
        parts.append(data[start:at])
    return parts


def write(key: str, parts: Sequence[bytes], given: Path | None = None) -> None:
    """Keep `parts` under `key`; written beside and renamed, so that two runs never see half a file."""
    rest = b"".join(len(part).to_bytes(LENGTH_BYTES, "little") + part for part in parts)
    try:
        write_file(folder(given), f"{key}.db", CACHE_MAGIC + hashlib.sha256(rest).digest() + rest, MAX_CACHED_DATABASES)
    except RuntimeError:  # no folder is known
        return


def write_file(place: Path, called: str, data: bytes, kept: int) -> None:
    """Write `data` to a file of `place`, of whose files of that kind the newest `kept` stay; silent where that fails."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=place, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            Path(name).replace(place / called)
            _forget_old(place, Path(called).suffix, kept)
        except OSError:
            Path(name).unlink(missing_ok=True)
    except (OSError, RuntimeError):
        return


def _forget_old(place: Path, suffix: str, kept: int) -> None:
    """Remove all but the newest `kept` files of that suffix."""
    made = list(place.glob(f"*{suffix}"))
    for path in sorted(made, key=lambda p: p.stat().st_mtime, reverse=True)[kept:] if len(made) > kept else ():
        path.unlink(missing_ok=True)
