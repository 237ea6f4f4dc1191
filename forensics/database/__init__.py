"""The signature database: cause files and tables are loaded, checked and compiled once, and cached on disk.

signatures/host_memory/oom_cgroup.yaml -> Cause, its Signatures, and one Hyperscan database of all their anchors
"""

from collections.abc import Collection, Iterable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import hyperscan
from msgspec.structs import replace

from forensics.core import long_work
from forensics.core.digest import sha256
from forensics.core.errors import DatabaseError
from forensics.data_files import cache
from forensics.data_files.cached_data import builtin_folder
from forensics.database.compiled import PIECES, Database, assemble, compile_literals, engine, whole_anchors
from forensics.database.confirm import Allowance, Clock, Confirmer, Found
from forensics.database.entries import HEALTHY, Cause, Missing, ProvenCause, Records, Remedy, Signature, signal_outcome
from forensics.database.files import content_hash
from forensics.database.rates import read_rates
from forensics.database.stored import database_of_parts, database_parts
from forensics.database.tables import read_rows, read_table
from forensics.model import Trigger

if TYPE_CHECKING:
    from forensics.data_files.form import Fault


READ_AT_ONCE = range(1, 64)  # the parts of a cached database that each run needs; the first one is for floods
COMPILING = "the messages are compiled for the first time, some 11 s; the next answer takes less than one"
COMPILING_OWN = "the messages and your own are compiled once for what your files say now, some 11 s"
FORMAT = 23  # of the cached document; raised when entries.py, stored.py or the patterns made of messages change


def load(
    folder: Path | None = None, triggers: Sequence[Trigger] = (), more: Sequence[Path] = (), cache_folder: Path | None = None
) -> Database:
    """The database of `folder` (default: the built-in one), overridden by the folders `more`, with the anchors of `triggers`.

    `more`: folders of a site or a person; later ones override earlier ones, see `merge`. `cache_folder`: of compiled databases
    (default: see `cache`). A file of `more` with a fault is left out, and the Database tells the fault. Raises DatabaseError
    with path and line of the first fault of `folder`, and UsageError for a missing folder.
    """
    folders = [folder or builtin_folder(), *more]
    digest = content_hash(folders)
    pieces = sha256(PIECES.read_bytes()).hexdigest()
    parts = (
        FORMAT,
        cache.CACHE_FORMAT,
        digest,
        pieces,
        content_hash([builtin_folder()]) if folder else "",  # because the records are always the built-in ones
        *engine(),
        [(t.anchors, t.thin) for t in triggers],
    )
    key = sha256(repr(parts).encode()).hexdigest()[:32]
    cached = cache.read(key, cache_folder, READ_AT_ONCE)
    if cached:
        try:
            return database_of_parts(cached, tuple(triggers), digest, partial(_first_part, key, cache_folder))
        except (hyperscan.HyperscanError, ValueError, KeyError, TypeError, IndexError):
            pass  # compiled for another processor, or not a file of this program: it is compiled again below
    with long_work.in_words(COMPILING_OWN if more else COMPILING):
        causes, faults = _usable(folders)
        phrases, precedence = _phrases(folders, faults), _precedence(folders, faults)
        database = assemble(causes, tuple(triggers), digest, phrases, read_rates(folders[0]), precedence, _records())
        database = replace(database, faults=tuple((f.path, f.line, f.what) for f in faults))
        cache.write(key, database_parts(database), cache_folder)
    return database


def _first_part(key: str, cache_folder: Path | None) -> bytes:
    return (cache.read(key, cache_folder, range(READ_AT_ONCE.start)) or [b""])[0]


def read_folders(folders: Iterable[Path], left_out: Collection[str] = ()) -> tuple[list[Cause], list["Fault"]]:
    """The causes of all `folders`, later ones override earlier ones; and every fault of their form. `left_out`: files that are
    not read."""
    from forensics.database.causefiles import read_causes
    from forensics.database.validate import merge_causes, resolve_yields

    causes: list[Cause] = []
    faults: list[Fault] = []
    for folder in folders:
        found, wrong = read_causes(folder, {c.id for c in causes}, left_out)
        causes = merge_causes(causes, found) if causes else found
        faults += wrong
    causes, wrong = resolve_yields(causes)
    return causes, faults + wrong


def _usable(folders: list[Path]) -> tuple[list[Cause], list["Fault"]]:
    """The causes without the files of the user that have faults, and these faults. Raises DatabaseError for a built-in one."""
    from forensics.database.validate import check

    left_out: dict[str, list[Fault]] = {}
    while True:
        causes, faults = read_folders(folders, left_out)
        if not causes and not faults:
            raise DatabaseError("no cause files", str(folders[0]), "reinstall the package")
        faults = faults or check(causes, proven=builtin_folder()) or _slow(causes, folders[1:])
        if not faults:
            return causes, sorted(chain.from_iterable(left_out.values()))
        for fault in faults:
            if fault.path in left_out or not any(Path(fault.path).is_relative_to(folder) for folder in folders[1:]):
                others = f"{len(faults)} faults in all; forensics signatures check shows them" if len(faults) > 1 else ""
                raise DatabaseError(fault.what, f"{fault.path}:{fault.line}", others)
        for path in {fault.path for fault in faults}:
            left_out[path] = [fault for fault in faults if fault.path == path]


def _kept_faults(wrong: list["Fault"], folder: Path, folders: list[Path], faults: list["Fault"]) -> bool:
    """Adds those of a file of the user, `wrong`, to `faults`: is there one? Raises DatabaseError for a built-in one."""
    if wrong and folder == folders[0]:
        raise DatabaseError(wrong[0].what, f"{wrong[0].path}:{wrong[0].line}")
    faults += wrong
    return bool(wrong)


def _precedence(folders: list[Path], faults: list["Fault"]) -> list[tuple[str, str, str]]:
    """The rows of all folders, in order. Faults of a file of the user, which is not used, are added to `faults`."""
    from forensics.database.records import read_precedence

    rows: list[tuple[str, str, str]] = []
    for folder in folders:
        found, wrong = read_precedence(folder)
        rows += [] if _kept_faults(wrong, folder, folders, faults) else found
    return rows


def _records() -> Records:
    """What records prove. Only the built-in folder is read, as for tables. Raises DatabaseError for the first fault."""
    from forensics.database.records import read_records

    found, faults = read_records(builtin_folder())
    if faults:
        raise DatabaseError(faults[0].what, f"{faults[0].path}:{faults[0].line}")
    return found


def _phrases(folders: list[Path], faults: list["Fault"]) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """The patterns of the classes of lines, of all folders together. `faults`: see `_precedence`."""
    from forensics.database.phrases import Phrase, combine_phrases, read_phrases

    every: dict[str, list[Phrase]] = {}
    for folder in folders:
        found, wrong = read_phrases(folder)
        for name, phrases in ({} if _kept_faults(wrong, folder, folders, faults) else found).items():
            every.setdefault(name, []).extend(phrases)
    return combine_phrases(every)


def _slow(causes: list[Cause], folders: list[Path]) -> list["Fault"]:
    """Slow patterns of the user's folders; tests check the built-in ones."""
    from forensics.data_files.form import Fault
    from forensics.database.validate import slow_pattern_faults

    theirs = [s for c in causes for s in c.signatures if any(Path(s.place.path).is_relative_to(f) for f in folders)]
    return [Fault(s.place.path, s.place.line, f"{s.id}: {what}") for s in theirs for what in slow_pattern_faults(s)]
