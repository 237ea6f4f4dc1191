"""`forensics analyze PATH...`: one report on everything that was given."""

from pathlib import Path
from typing import Annotated

import typer

from forensics.cli.common import (
    ISSUE_CHARS,
    Baseline,
    ExitCode,
    Format,
    MaxChars,
    Output,
    Plot,
    Redact,
    RedactMap,
    Signatures,
    Telling,
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
        signatures: Signatures = None,
    ) -> None:
        """Say why the run died, from the logs in PATHS.

        \b
        Examples:
          forensics analyze ./logs
          forensics analyze train.log dmesg.txt -f markdown --redact -o issue.md
          forensics analyze ./logs -f html -o report.html --plot timeline.svg
          forensics analyze ./logs -f json | jq -r '.causes[0].id'
          forensics analyze ./run7 --baseline ./run6

        \b
        The report goes to stdout, progress and notes to stderr. Exit status: 0 analysed, 2 nothing
        could be read or wrong usage; with --exit-code 1 when a crash was found. Secrets are masked
        in every format. NO_COLOR and FORCE_COLOR are respected.
        """
        from forensics import pipeline
        from forensics.cli.progress import bar

        check_format(form)
        telling = Telling(form, output, exit_code, redact, redact_map, max_chars, plot)
        good = check_baseline(baseline)
        with bar(paths):
            report = pipeline.analyze_paths(paths, paths[0].resolve().name, pipeline.database(signatures or ()), good)
        finish(report, telling)
