"""`forensics analyze PATH...`: one report on everything that was given."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.cli.common import (
    ISSUE_CHARS,
    Baseline,
    ExitCode,
    Format,
    Job,
    Jobs,
    Last,
    MaxChars,
    Output,
    Pid,
    Plot,
    Redact,
    RedactMap,
    Signatures,
    Since,
    Telling,
    Until,
    Why,
    case_of,
    check_baseline,
    check_format,
    finish,
    opened,
)

if TYPE_CHECKING:
    from forensics.model import Warning


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def analyze(
        paths: Annotated[list[Path], typer.Argument(help="Log files and folders, with all below them; - for standard input.")],
        form: Format = "text",
        output: Output = None,
        exit_code: ExitCode = False,
        redact: Redact = False,
        redact_map: RedactMap = None,
        max_chars: MaxChars = ISSUE_CHARS,
        why: Why = False,
        plot: Plot = None,
        baseline: Baseline = None,
        since: Since = None,
        until: Until = None,
        pid: Pid = None,
        job: Job = None,
        last: Last = False,
        jobs: Jobs = None,
        signatures: Signatures = None,
    ) -> None:
        """Say why the run died, from the logs in PATHS.

        \b
        Examples:
          forensics analyze ./logs
          forensics analyze train.log dmesg.txt -f markdown --redact -o issue.md
          forensics analyze /var/log slurm-4711.out --job 4711 --since -2h
          dmesg -T | forensics analyze - train.log --why

        Exit status: 0 analysed, 2 nothing read or wrong usage; with --exit-code 1 for a crash. Secrets are masked.
        """
        from forensics import correlation, pipeline
        from forensics.cli.progress import bar

        check_format(form, why)
        good, choice = check_baseline(baseline), correlation.Choice.of(since, until, pid, job, last)
        noted: list[Warning] = []
        with bar(paths):
            knowledge = pipeline.database(signatures or ())
            given = opened(paths, noted.append)
            report = pipeline.analyze(given, case_of(paths), knowledge, noted, jobs, good, choice)
        finish(report, Telling(form, output, exit_code, redact, redact_map, max_chars, plot, why))
