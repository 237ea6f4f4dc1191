"""The compiled database on disk: one file per content, library and package version.

    magic | sha256 of the rest | length of the JSON (8 bytes) | JSON of the causes | Hyperscan's own serialisation

The file's name is a hash of everything that went in, so a changed signature or library simply has another name. A damaged or
foreign file is rebuilt silently; a folder that cannot be written costs time, never an answer.
"""

import hashlib
import os
import tempfile
from pathlib import Path

MAGIC = b"forensics-cache/1\n"


def folder() -> Path:
    """Where compiled databases lie: `$FORENSICS_CACHE`, else the user's cache folder."""
    named = os.environ.get("FORENSICS_CACHE")
    if named:
        return Path(named)
    import platformdirs

    return Path(platformdirs.user_cache_dir("forensics", appauthor=False))


def read(key: str) -> tuple[bytes, bytes] | None:
    """(JSON, serialised patterns) kept under `key`, or None where there is none or it is damaged."""
    try:
        data = (folder() / f"{key}.db").read_bytes()
    except (OSError, RuntimeError):
        return None
    head = len(MAGIC) + 32 + 8
    if len(data) < head or not data.startswith(MAGIC):
        return None
    if hashlib.sha256(data[len(MAGIC) + 32 :]).digest() != data[len(MAGIC) : len(MAGIC) + 32]:
        return None
    length = int.from_bytes(data[head - 8 : head], "little")
    return data[head : head + length], data[head + length :]


def write(key: str, document: bytes, patterns: bytes) -> None:
    """Keep both under `key`; written beside and renamed, so that two runs never see half a file."""
    rest = len(document).to_bytes(8, "little") + document + patterns
    try:
        place = folder()
        place.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=place, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(MAGIC + hashlib.sha256(rest).digest() + rest)
            Path(name).replace(place / f"{key}.db")
        except OSError:
            Path(name).unlink(missing_ok=True)
    except (OSError, RuntimeError):
        return
