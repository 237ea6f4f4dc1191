"""Data that code reads from YAML files of signatures/, in a cache: parsing YAML would take a tenth of a short run.

    signatures/line_formats/*.yaml   ->   the values that `read` makes of them, as JSON in <cache>/data/<hash>.json

Only files without faults are cached. If a file changes, or the cache is damaged or cannot be written, they are parsed again.
"""

import contextlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from forensics.core.digest import sha256
from forensics.core.errors import DatabaseError
from forensics.data_files import cache

PACKAGED = Path(__file__).resolve().parents[1] / "_data" / "signatures"  # in a wheel; proven by the tests that it passed


def builtin_folder() -> Path:
    """The folder of the signatures of this package: in the wheel, or next to the package in a clone."""
    return PACKAGED if PACKAGED.is_dir() else PACKAGED.parents[2] / "signatures"


# `form` imports yaml, which is loaded only where nothing is cached.

T = TypeVar("T")
CACHED_DATA_FORMAT = 2  # raised when a reader makes other values of the same file
MAX_CACHED_DATA = 60  # files: a few versions of each folder


def data_files(place: str) -> list[Path]:
    """The files of signatures/<place>: the file of that name, or those in the folder, in order."""
    path = builtin_folder() / place
    return sorted(path.glob("*.yaml")) if path.is_dir() else [path]


def parsed_data(paths: Iterable[Path], read: Callable[[Any, Path], list[T]]) -> tuple[list[T], list[Any]]:
    """The values that `read` makes of each document, and every fault (data_files.form.Fault) of form."""
    from forensics.data_files.form import BadFormError, Fault, parse

    made: list[T] = []
    faults: list[Any] = []
    for path in paths:
        try:
            made += read(parse(path.read_text(encoding="utf-8")), path)
        except BadFormError as bad:
            faults.append(Fault(str(path), bad.line, bad.what))
        except (OSError, UnicodeDecodeError) as error:
            faults.append(Fault(str(path), 1, f"cannot be read: {error}"))
    return made, faults


def load_data(place: str, kind: type[T], read: Callable[[Any, Path], list[T]]) -> list[T]:
    """The values of signatures/<place>, each a `kind`, which `read` makes of a document and its path. Raises DatabaseError for
    the first fault."""
    paths = data_files(place)
    try:
        found = [(str(p), p.stat()) for p in paths]
    except OSError as error:
        raise DatabaseError(f"cannot be read: {error.strerror}", place, "reinstall the package") from error

    def parsed() -> list[T]:
        made, faults = parsed_data(paths, read)
        if faults:
            raise DatabaseError(faults[0].what, f"{faults[0].path}:{faults[0].line}")
        return made

    state = [(path, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for path, s in found]
    return kept((place, state), list[kind], parsed)  # type: ignore[valid-type]


def kept(
    state: object, kind: type[T], make: Callable[[], T], place: str = "data", most: int = MAX_CACHED_DATA, bad: object = None
) -> T:
    """What `make` gives, a `kind`, or what it gave to an earlier run with this `state`, which has a repr() of its own.

    `place`, `most`: the folder of the cache, and how many files stay there. `bad`: what is made is not kept if this is true then.
    """
    text = repr((CACHED_DATA_FORMAT, state)).encode("utf-8", "surrogateescape")
    name = f"{sha256(text).hexdigest()[:32]}.json"
    with contextlib.suppress(OSError, RuntimeError, msgspec.MsgspecError):
        return msgspec.json.decode((cache.folder() / place / name).read_bytes(), type=kind)
    made = make()
    if not bad:
        with contextlib.suppress(RuntimeError):  # no folder is known
            cache.write_file(cache.folder() / place, name, msgspec.json.encode(made), most)
    return made
