"""The compiled database on disk: one file per content, library and package version.

    magic | sha256 of the rest | length of the document (8 bytes) | document of `stored` | Hyperscan's own serialisation

The file's name is a hash of everything that went in, so a changed signature or library simply has another name. A damaged or
foreign file is rebuilt silently; a folder that cannot be written costs time, never an answer.
"""

import hashlib
import os
import tempfile
from pathlib import Path

CACHE_MAGIC = b"forensics-cache/1\n"
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


def read(key: str, given: Path | None = None) -> tuple[bytes, bytes] | None:
    """(document, serialised patterns) kept under `key`, or None where there is none or it is damaged."""
    try:
        data = (folder(given) / f"{key}.db").read_bytes()
    except (OSError, RuntimeError):
        return None
    head = len(CACHE_MAGIC) + 32 + 8
    if len(data) < head or not data.startswith(CACHE_MAGIC):
        return None
    if hashlib.sha256(data[len(CACHE_MAGIC) + 32 :]).digest() != data[len(CACHE_MAGIC) : len(CACHE_MAGIC) + 32]:
        return None
    length = int.from_bytes(data[head - 8 : head], "little")
    return data[head : head + length], data[head + length :]


def write(key: str, document: bytes, patterns: bytes, given: Path | None = None) -> None:
    """Keep both under `key`; written beside and renamed, so that two runs never see half a file."""
    rest = len(document).to_bytes(8, "little") + document + patterns
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
