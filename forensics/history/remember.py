"""`--remember`: store a report in the history, and add to it the earlier occurrences of its failure.

    remembered(report)            only if the configuration names a history
    remembered(report, True)      always; in the user's own history if the configuration names none

If the history cannot be opened the report is still written, and a line on stderr says so.
"""

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from forensics.core.errors import ForensicsError, unexpected

if TYPE_CHECKING:
    from forensics.model import Report

R = TypeVar("R", bound="Report")


def history_place(named: str | None = None, signatures: Sequence[Path] = ()) -> str:
    """The path or URL of the history: `named`, else the one of the configuration, else a file in the user's data folder."""
    from forensics.config import config
    from forensics.history.opening import default_place

    return named or config(signatures).history or default_place()


def is_wanted(remember: bool | None) -> bool:
    """Are reports to be stored? `remember`: what was asked for; None means as configured."""
    from forensics.config import config

    return bool(config().history) if remember is None else remember


def remembered(
    report: R, remember: bool | None = None, bundle: Path | None = None, accounted: Sequence[Mapping[str, str]] = ()
) -> R:
    """`report` with the earlier occurrences of its failure, after storing it; `report` itself if it is not to be stored.

    `remember`: None means as configured. `bundle`: the folder of the captured run, if the report is of one. `accounted`: rows of
    sacct, the job's own first, if the report is of a Slurm job.
    """
    try:
        if not is_wanted(remember):
            return report
        return _remembered(report, history_place(), bundle, accounted)
    except ForensicsError as error:
        print(f"forensics: not remembered: {error}", file=sys.stderr)
    except Exception as error:
        print(f"forensics: not remembered: {unexpected(error)}", file=sys.stderr)
    return report


def _remembered(report: R, place: str, bundle: Path | None, accounted: Sequence[Mapping[str, str]]) -> R:
    from msgspec.structs import replace

    from forensics.history.fingerprint import RunFacts, incident_of
    from forensics.history.jobs import captured_run, job_row
    from forensics.history.opening import open_store

    run = captured_run(bundle) if bundle else None
    jobs = [run.job] if run else [row for row in map(job_row, accounted) if row]
    known = run.known if run else RunFacts()
    for row in accounted[:1]:
        known = RunFacts(job=row["JobID"], run=row.get("JobName", ""), user=row.get("User", ""))
    store = open_store(place)  # says what is to be installed where SQLAlchemy is missing
    try:
        from forensics.history.again import seen_before

        incident = incident_of(report, int(time.time()), store.salt, known)
        store.add([incident])
        store.add_jobs(jobs)
        return replace(report, history=seen_before(store, incident))
    finally:
        store.close()
