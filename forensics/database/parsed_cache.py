"""A cache of parsed cause files: a file that did not change is not parsed again.

    <cache>/causes/<hash of the file, of its path and of the code that reads it>.json   ->   the Cause as it was read

Only files without faults are cached. If the cache is damaged or cannot be written, files are parsed again.
"""

import contextlib
import functools
from collections.abc import Collection
from pathlib import Path

from msgspec import DecodeError, ValidationError, json

from forensics.core.digest import sha256
from forensics.data_files import cache, form
from forensics.database import anchors, common, entries, guards, message
from forensics.database.entries import Cause

MAX_CACHED_CAUSES = 400  # causes: a few versions of each file


@functools.cache
def _reader() -> bytes:
    """A hash of the code that reads cause files, and of common.json."""
    here = Path(__file__).parent
    code = [Path(str(m.__file__)) for m in (anchors, common, entries, form, guards, message)]
    paths = sorted([*code, here / "causefiles.py", common.COMMON_FILE])
    return sha256(b"".join(sha256(p.read_bytes()).digest() for p in paths)).digest()


def parsed_key(path: Path, content: bytes, known: Collection[str]) -> str:
    """The name under which the cause of `path` is stored. `known`: see `causefiles.read_cause`."""
    parts = (_reader(), str(path).encode("utf-8", "surrogateescape"), ",".join(sorted(known)).encode(), content)
    return sha256(b"\0".join(sha256(p).digest() for p in parts)).hexdigest()[:32]


def load_parsed(name: str) -> Cause | None:
    """The cause that is stored under `name`; None if there is none."""
    try:
        return json.decode((_folder() / f"{name}.json").read_bytes(), type=Cause)
    except (OSError, RuntimeError, DecodeError, ValidationError):
        return None


def store_parsed(name: str, cause: Cause) -> None:
    """Store `cause` under `name`."""
    with contextlib.suppress(RuntimeError):  # no folder is known
        cache.write_file(_folder(), f"{name}.json", json.encode(cause), MAX_CACHED_CAUSES)


def _folder() -> Path:
    return cache.folder() / "causes"
