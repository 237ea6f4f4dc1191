"""`forensics analyze PATH...`: one report on everything that was given."""

from pathlib import Path
from typing import Annotated

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
    check_baseline,
    check_format,
    finish,
)


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def analyze(
        paths: Annotated[list[Path], typer.Argument(help="Log files and folders; folders are read with all below them.")],
        form: Format = "text",
        output: Output = None,
        exit_code: ExitCode = False,
        redact: Redact = False,
        redact_map: RedactMap = None,
        max_chars: MaxChars = ISSUE_CHARS,
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

        Exit status: 0 analysed, 2 nothing read or wrong usage; with --exit-code 1 for a crash. Secrets are masked.
        """
        from forensics import correlation, pipeline
        from forensics.cli.progress import bar

        check_format(form)
        good, choice = check_baseline(baseline), correlation.Choice.of(since, until, pid, job, last)
        with bar(paths):
            knowledge = pipeline.database(signatures or ())
            report = pipeline.analyze_paths(paths, paths[0].resolve().name, knowledge, good, choice, jobs)
        finish(report, Telling(form, output, exit_code, redact, redact_map, max_chars, plot))
