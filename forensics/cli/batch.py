"""`forensics batch FOLDER`: one report for each sub-folder, in order of name."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.cli.common import (
    ISSUE_CHARS,
    ExitCode,
    Format,
    Job,
    Last,
    MaxChars,
    Output,
    Pid,
    Redact,
    Signatures,
    Since,
    Telling,
    Until,
    check_format,
    told,
    told_together,
    write,
)
from forensics.errors import SourceError, UsageError

if TYPE_CHECKING:
    from forensics.correlation import Choice
    from forensics.model import Report


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def batch(
        folder: Annotated[Path, typer.Argument(help="Each sub-folder is a case; files directly in it are none.")],
        form: Format = "jsonl",
        output: Output = None,
        exit_code: ExitCode = False,
        redact: Redact = False,
        max_chars: MaxChars = ISSUE_CHARS,
        since: Since = None,
        until: Until = None,
        pid: Pid = None,
        job: Job = None,
        last: Last = False,
        signatures: Signatures = None,
    ) -> None:
        """Analyse each sub-folder of FOLDER as a case of its own.

        \b
        Examples:
          forensics batch ./incidents > reports.jsonl
          forensics batch ./incidents | jq -r '[.case, .verdict, .causes[0].id] | @tsv'
          forensics batch ./incidents -f markdown -o incidents.md

        \b
        One document a line in order of name; the case and its cause go to stderr. A folder in which
        nothing can be read still gets its line. With --redact each report has stand-ins of its own.
        """
        from forensics.correlation import Choice

        _check(folder, form)
        choice = Choice.of(since, until, pid, job, last)
        telling = Telling(form, output, exit_code, redact, max_chars=max_chars)
        crashed = _run(folder, telling, signatures or (), choice)
        if exit_code and crashed:
            raise typer.Exit(1)


def _check(folder: Path, form: str) -> None:
    check_format(form)
    if not folder.is_dir():
        raise UsageError("no such folder", str(folder))
    if not any(p.is_dir() for p in folder.iterdir()):
        raise SourceError("no sub-folders, so no cases", str(folder), "use `forensics analyze` for one case")


def _run(folder: Path, telling: Telling, signatures: Sequence[Path], choice: "Choice") -> bool:
    """Write the reports, each as soon as it is there, or all at once to a file; True when one tells of a crash."""
    from forensics import pipeline
    from forensics.report import in_one_document

    together = in_one_document(telling.form)
    reports: list[Report] = []
    texts: list[str] = []
    crashed = False
    for report in pipeline.analyze_folders(folder, pipeline.database(signatures), choice):
        crashed = crashed or report.verdict == "crash"
        print(f"{report.case}: {report.causes[0].id}", file=sys.stderr)
        if together:
            reports.append(report)
        elif telling.output is None:
            write(told(report, telling), None)
        else:
            texts.append(told(report, telling))
    if together:
        write(told_together(reports, telling), telling.output)
    elif telling.output is not None:
        write("".join(texts), telling.output)
    return crashed
