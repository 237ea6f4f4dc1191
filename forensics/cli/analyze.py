"""`forensics analyze PATH...`: one report on all given logs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.cli.common import (
    Baseline,
    EveryIncident,
    ExitCode,
    Format,
    Incident,
    Job,
    Jobs,
    Last,
    MaxChars,
    Output,
    Pid,
    Plot,
    RedactMap,
    RedactReport,
    Signatures,
    Since,
    Tokens,
    Tracker,
    Until,
    Why,
)
from forensics.cli.output import OutputOptions, case_name, check_baseline, check_format, finish, open_sources, parse_filter
from forensics.cli.remembering import Remember
from forensics.history.remember import remembered
from forensics.report.style import BRIEF_TOKENS, ISSUE_CHARS, TRACKERS

if TYPE_CHECKING:
    from forensics.correlation import Filter
    from forensics.model import Report, Warning


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(analyze)


def analyze(
    paths: Annotated[list[Path], typer.Argument(help="Log files and folders (read recursively); - for standard input.")],
    form: Format = "text",
    output: Output = None,
    exit_code: ExitCode = False,
    redact: RedactReport = None,
    redact_map: RedactMap = None,
    max_chars: MaxChars = ISSUE_CHARS,
    tokens: Tokens = BRIEF_TOKENS,
    tracker: Tracker = TRACKERS[0],
    why: Why = False,
    incident: Incident = None,
    every_incident: EveryIncident = False,
    plot: Plot = None,
    baseline: Baseline = None,
    since: Since = None,
    until: Until = None,
    pid: Pid = None,
    job: Job = None,
    last: Last = False,
    jobs: Jobs = None,
    signatures: Signatures = None,
    remember: Remember = None,
) -> None:
    """Say why the run died, from the logs in PATHS.

    \b
    Examples:
      forensics analyze ./logs
      forensics analyze train.log dmesg.txt -f issue -o issue.md
      forensics analyze ./logs -f brief --tokens 600
      forensics analyze /var/log slurm-4711.out --job 4711 --since -2h
      dmesg -T | forensics analyze - train.log --why
    Exit status: 0 analysed, 2 nothing read or wrong usage; with --exit-code 1 for a crash. Secrets are masked.
    """
    check_format(form, why, tracker)
    good, filter_ = check_baseline(baseline), parse_filter(since, until, pid, job, last)
    found = remembered(_report(paths, signatures or (), good, filter_, jobs), remember, paths[0] if len(paths) == 1 else None)
    shown = (plot, why, incident, every_incident, tokens, tracker)
    finish(found, OutputOptions(form, output, exit_code, redact, redact_map, max_chars, *shown))


def _report(
    paths: Sequence[Path], signatures: Sequence[Path], good: Sequence[Path], event_filter: "Filter", jobs: int | None
) -> "Report":
    """The report on `paths`, with a progress bar on a terminal."""
    from forensics import pipeline
    from forensics.cli.progress import bar

    noted: list[Warning] = []
    with bar(paths):
        knowledge = pipeline.database(signatures)
        return pipeline.analyze(open_sources(paths, noted.append), case_name(paths), knowledge, noted, jobs, good, event_filter)
