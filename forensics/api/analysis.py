"""analyze(): what `forensics analyze` does, for programs."""

import os
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from forensics import pipeline
from forensics.api.knowledge import Knowledge, database_of, default_knowledge
from forensics.api.report import Report
from forensics.core.errors import UsageError
from forensics.correlation import Filter

AnyPath = str | os.PathLike[str]


def analyze(
    paths: AnyPath | Iterable[AnyPath],
    *,
    signatures: Iterable[AnyPath] = (),
    knowledge: Knowledge | None = None,
    workers: int | None = None,
    baseline: Iterable[AnyPath] = (),
    since: str | datetime | None = None,
    until: str | datetime | None = None,
    pid: int | None = None,
    job: str | None = None,
    last: bool = False,
) -> Report:
    """Find out why a run died, from the logs in `paths`: a file or folder, or several of them, with all files below them.

    `signatures`: folders of your own cause files, in addition to the built-in ones. `knowledge`: signatures that are already
    loaded; without either, the default ones are loaded once per process. `workers`: threads, or processes for many small files
    (default: one per core); the answer does not depend on it. `baseline`: logs of a good run, to find what is unusual. `since`,
    `until`: only events in that time: a datetime, or a text as on the command line ("2026-11-21T10:00+01:00", "-2h"). `pid`,
    `job` (of Slurm, or a pod or container), `last` (only the last incident): the subject of the verdict.

    Raises ForensicsError for a missing path, wrong arguments, or if nothing can be read. Faults in the logs themselves are listed
    in `report.warnings`.

    >>> import forensics
    >>> report = forensics.analyze(["sample_logs/slurm_oom/slurmd.log", "sample_logs/slurm_oom/slurm-1.out"], job="1")
    >>> report.causes[0].title
    'A memory limit was hit'
    >>> for line in report.causes[0].evidence[:1]:
    ...     print(f"{line.source}:{line.line}: {line.text}")
    sample_logs/slurm_oom/slurm-1.out:4: slurmstepd-node-1: error: Detected 1 oom-kill event(s) in StepId=1.0. ...
    """
    given, folders = _paths(paths), _paths(signatures)
    event_filter = Filter.of(_time(since), _time(until), pid, job, last)
    known = database_of(_known(folders, knowledge))
    case = _named(given).resolve().name
    return Report.of(pipeline.analyze_paths(given, case, known, _paths(baseline), event_filter, workers))


def _known(folders: list[Path], knowledge: Knowledge | None) -> Knowledge:
    """The knowledge for an analysis; raises UsageError if both arguments are given."""
    if folders and knowledge is not None:
        raise UsageError("signatures and knowledge were both given", "forensics.analyze", "use Knowledge(signatures)")
    return knowledge or (Knowledge(folders) if folders else default_knowledge())


def _named(given: list[Path]) -> Path:
    """The path after which the case is named; raises UsageError if there is none."""
    if not given:
        raise UsageError("no path was given", "forensics.analyze", "give files or folders")
    return given[0]


def _paths(given: AnyPath | Iterable[AnyPath]) -> list[Path]:
    """One path or several as a list."""
    return [Path(given)] if isinstance(given, str | os.PathLike) else [Path(p) for p in given]


def _time(given: str | datetime | None) -> str | None:
    return given.isoformat() if isinstance(given, datetime) else given
