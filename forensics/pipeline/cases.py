"""The cases in a folder, short ones analysed by other processes: incidents/ -> a Report on incidents/a, one on incidents/b."""

import os
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

from isal.isal_zlib import compress, decompress
from msgspec import Struct

from forensics import correlation
from forensics.core.errors import SourceError, unexpected
from forensics.correlation.runs import files_by_run
from forensics.database import Database
from forensics.model import Report, Warning
from forensics.pipeline.analysis import analyze, analyze_paths
from forensics.pipeline.file_pool import MIN_WORK, SOURCE_BYTES, read_in_pool
from forensics.sources.programs import is_log, is_no_log

CASE_BYTES = 256 << 10  # chosen by hand: a decision and its report take as long as so many bytes full of numbers
FAST_LEVEL = 1  # of compression


class _Case(Struct, frozen=True):
    """`paths`: of its files, or of its folder. `work`: how long it takes, in bytes of text."""

    paths: list[Path]
    work: int


def cases_of(folder: Path) -> list[list[Path]]:
    """The cases in `folder`, each by its paths: its sub-folders, and the logs beside them; else the files of each run."""
    return [[folder / name for name in names] for names in names_of_cases(folder)]


def names_of_cases(folder: Path) -> list[list[str]]:
    """The same, by the names in `folder`."""
    with os.scandir(folder) as entries:
        found = sorted((entry.name, entry.is_dir()) for entry in entries if not entry.name.startswith("."))
    folders = [[name] for name, is_folder in found if is_folder]
    is_case = is_log if folders else (lambda name: not is_no_log(name))  # beside folders lie lists and tables of them
    files = files_by_run(name for name, is_folder in found if not is_folder)
    return sorted([*folders, *(names for names in files if any(map(is_case, names)))])


def analyze_folders(
    folder: Path, knowledge: Database, event_filter: correlation.Filter = correlation.EVERYTHING, workers: int | None = None
) -> Iterator[Report]:
    """A Report for each case of `folder`, in order of name; a sub-folder in which nothing can be read, or at which this program
    fails, has one that says so. `workers`: processes or threads at work (default: one a core)."""
    cases = [_Case(paths, CASE_BYTES + sum(map(_work, paths))) for paths in cases_of(folder)]
    report = partial(_report, folder, knowledge, event_filter)
    count, told = workers or os.cpu_count() or 1, 0

    def read(batch: Sequence[_Case]) -> list[Report | None]:
        return [report(case.paths, 1) for case in batch]

    short = [case for case in cases if _is_short(case)]
    with closing(read_in_pool(short, read, count, _packed, _unpacked, lambda case: case.work)) as pooled:
        for case in cases:
            found = next(pooled) if _is_short(case) else report(case.paths, count)
            if found:
                yield found
                told += 1
    if not told:
        raise SourceError("no log in it, so no cases", str(folder))


def _is_short(case: _Case) -> bool:
    """Is there too little of it for processes of its own?"""
    return case.work < MIN_WORK


def _work(path: Path) -> int:
    """How long it takes to read the files below `path`, in bytes of text."""
    if not path.is_dir():
        with suppress(OSError):
            return SOURCE_BYTES + path.stat().st_size
        return SOURCE_BYTES
    return sum(_work(Path(root, name)) for root, _, names in os.walk(path) for name in names)


def _report(
    folder: Path, knowledge: Database, event_filter: correlation.Filter, paths: Sequence[Path], workers: int
) -> Report | None:
    """The Report on the case of these paths in `folder`; None for a file in which there is nothing to read."""
    name = paths[0].name
    try:
        return analyze_paths(paths, name, knowledge, event_filter=event_filter, workers=workers, within=folder)
    except SourceError as error:
        return analyze([], name, knowledge, [Warning("unreadable", str(error), name)]) if paths[0].is_dir() else None
    except Exception as error:  # the cases behind it are analysed as if it were not there
        return analyze([], name, knowledge, [Warning("unreadable", unexpected(error), name)])


def _packed(reports: list[Report | None]) -> bytes:
    import pickle  # only where other processes are at work

    packed: bytes = compress(pickle.dumps(reports, pickle.HIGHEST_PROTOCOL), FAST_LEVEL)
    return packed


def _unpacked(packed: bytes) -> list[Report | None]:
    import pickle

    reports: list[Report | None] = pickle.loads(decompress(packed))  # of a process of this one's own
    return reports
