"""analyze(): what `forensics analyze` does, for programs."""

import functools
import os
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from forensics import pipeline
from forensics.api.report import Report
from forensics.config import Config, config
from forensics.core.errors import UsageError
from forensics.correlation import Filter


class Knowledge:
    """All causes and signatures: the built-in ones, extended and overridden by those of your own folders.

    `signatures`: folders of cause files; later ones override earlier ones. Loading takes about a tenth of a second; after a
    change they are compiled first, which takes some seconds. Raises ForensicsError for a missing or faulty folder.

    >>> import forensics
    >>> knowledge = forensics.Knowledge()
    >>> reports = [forensics.analyze(f"sample_logs/{case}", knowledge=knowledge) for case in ("nan_loss", "healthy_train")]
    >>> [report.causes[0].id for report in reports]
    ['numerics.nan', 'none.healthy']
    """

    def __init__(self, signatures: Iterable[str | os.PathLike[str]] = ()) -> None:
        self._database = pipeline.database([Path(folder) for folder in signatures])

    @property
    def causes(self) -> dict[str, str]:
        """Cause id -> its title, for every cause.

        >>> import forensics
        >>> forensics.Knowledge().causes["host_memory.oom_cgroup"]
        'A memory limit was hit'
        """
        return {name: cause.title for name, cause in sorted(self._database.causes.items())}

    @property
    def hash(self) -> str:
        """A hash of the signatures, 16 hexadecimal digits, as in `report.tool["signatures"]`.

        >>> import forensics
        >>> len(forensics.Knowledge().hash)
        16
        """
        return self._database.hash[:16]

    def __repr__(self) -> str:
        signatures = sum(len(c.signatures) for c in self._database.causes.values())
        return f"<forensics.Knowledge {len(self._database.causes)} causes, {signatures} signatures, {self.hash}>"


@functools.lru_cache(maxsize=1)
def _default_knowledge(_settings: Config) -> Knowledge:
    """The built-in signatures and those of the configuration, loaded once per process."""
    return Knowledge()


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
    known = _known(folders, knowledge)._database
    case = _named(given).resolve().name
    return Report.of(pipeline.analyze_paths(given, case, known, _paths(baseline), event_filter, workers))


def _known(folders: list[Path], knowledge: Knowledge | None) -> Knowledge:
    """The knowledge for an analysis; raises UsageError if both arguments are given."""
    if folders and knowledge is not None:
        raise UsageError("signatures and knowledge were both given", "forensics.analyze", "use Knowledge(signatures)")
    return knowledge or (Knowledge(folders) if folders else _default_knowledge(config()))


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
