"""Make the report on a job, with Slurm's own records of it: before the text, and among the notices in every format."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from forensics.adapters.slurm.accounting import Job, accounting_sentences, sacct_table
from forensics.adapters.slurm.evidence import Evidence, gather_evidence
from forensics.adapters.slurm.node import Missing
from forensics.api import Report, analyze
from forensics.core.errors import UsageError
from forensics.model import Notice, OpenQuestion

SACCT_FILE = "sacct.txt"


class JobAnswer(NamedTuple):
    """The report. `sentences`: Slurm's records, the job itself first. `went_wrong`: according to Slurm's state or the report.

    `accounted`: the fields of sacct's row of the job, and of its restarts, by name.
    """

    sentences: tuple[str, ...]
    report: Report
    went_wrong: bool
    accounted: tuple[dict[str, str], ...] = ()


def answer_about_job(asked: str) -> JobAnswer:
    """Why the job `asked` ended: 4711, 4711.0, 4711_2, 4711+1. Raises UsageError if nothing is known about it."""
    with tempfile.TemporaryDirectory(prefix="forensics-") as folder:
        return answer_from_evidence(asked, gather_evidence(asked, Path(folder)), Path(folder))


def answer_from_evidence(asked: str, found: Evidence, folder: Path) -> JobAnswer:
    """The answer from the evidence in `folder`."""
    if not found.paths:
        raise UsageError(f"nothing about job {asked} can be read", advice="run this on a machine that can read its output")
    with contextlib.chdir(folder):  # so that the report names the file sacct.txt, without a folder that is removed later
        report = analyze(found.paths)
    sentences = tuple(accounting_sentences(found.job, found.control))
    notices = tuple(_notices(found.job, sentences)) + report.notices
    missing = (*report.missing, *map(_unknown, found.missing))
    report = replace(report, case=f"job {asked}", notices=notices, missing=missing)
    wrong = found.job.went_wrong or report.verdict == "crash"
    return JobAnswer(tuple(text for text, _ in sentences), report, wrong, tuple(r.fields for r in found.job.concerned))


def _notices(job: Job, sentences: tuple[tuple[str, object], ...]) -> list[Notice]:
    """A notice for each sentence, with its row of the table; rows of earlier attempts are not in the table."""
    lines = sacct_table(job)
    made = []
    for text, row in sentences:
        name = getattr(row, "id", "")
        line = next((n for n, shown in enumerate(lines, 1) if shown.startswith(f"{name}|")), 1)
        made.append(Notice(SACCT_FILE, line, lines[line - 1], None, "subject", text))
    return made


def _unknown(missing: Missing) -> OpenQuestion:
    return OpenQuestion(missing.what, missing.why, missing.command)
