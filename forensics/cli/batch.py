"""`forensics batch FOLDER`: one report for each sub-folder, in order of name."""

import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.cli.common import (
    ExitCode,
    Format,
    Job,
    Last,
    MaxChars,
    OutputPath,
    Pid,
    RedactReport,
    Signatures,
    Since,
    Tokens,
    Tracker,
    Until,
)
from forensics.cli.output import OutputOptions, check_format, rendered, rendered_together, save, say, write
from forensics.cli.remembering import Remember
from forensics.core.errors import SourceError, UsageError
from forensics.history.remember import remembered
from forensics.report.style import BRIEF_TOKENS, ISSUE_CHARS, TRACKERS

if TYPE_CHECKING:
    from forensics.correlation import Filter
    from forensics.model import Report

INDEXED = ("html", "markdown")  # an index of the cases, instead of one report after the other


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(batch)


def batch(
    folder: Annotated[Path, typer.Argument(help="Each sub-folder is a case; files directly in it are ignored.")],
    form: Format = "jsonl",
    output: OutputPath = None,
    exit_code: ExitCode = False,
    redact: RedactReport = None,
    max_chars: MaxChars = ISSUE_CHARS,
    tokens: Tokens = BRIEF_TOKENS,
    tracker: Tracker = TRACKERS[0],
    since: Since = None,
    until: Until = None,
    pid: Pid = None,
    job: Job = None,
    last: Last = False,
    signatures: Signatures = None,
    remember: Remember = None,
) -> None:
    """Analyse each sub-folder of FOLDER as a case of its own.

    \b
    Examples:
      forensics batch ./incidents > reports.jsonl
      forensics batch ./incidents | jq -r '[.case, .verdict, .causes[0].id] | @tsv'
      forensics batch ./incidents -f html -o ./report        # an index, and a page for each case
      forensics batch ./incidents -f markdown -o incidents.md  # a table

    \b
    Cases are in order of their names; each case and its cause are printed on stderr. A folder in which nothing can be read
    still gets a report. With --redact each report has its own stand-ins.
    """
    from forensics.correlation import Filter

    _check(folder, form, output)
    event_filter = Filter.of(since, until, pid, job, last)
    telling = OutputOptions(form, output, exit_code, redact, max_chars=max_chars, tokens=tokens, tracker=tracker)
    crashed = _run(folder, telling, signatures or (), event_filter, remember)
    if exit_code and crashed:
        raise typer.Exit(1)


def _check(folder: Path, form: str, output: Path | None) -> None:
    check_format(form)
    if form == "html" and (output is None or output.is_file()):
        raise UsageError("html is a page for each case and an index of them", advice="give a folder for them: -o FOLDER")
    if folder.is_file():
        advice = f"each case is a sub-folder of a folder; for this one: forensics analyze {shlex.quote(str(folder))}"
        raise UsageError("this is a file", str(folder), advice)
    if not folder.is_dir():
        raise UsageError("no such folder", str(folder))
    if not any(p.is_dir() for p in folder.iterdir()):
        raise SourceError("no sub-folders, so no cases", str(folder), "use `forensics analyze` for one case")


def _run(folder: Path, telling: OutputOptions, signatures: Sequence[Path], event_filter: "Filter", remember: bool | None) -> bool:
    """Write the reports in the requested format. True if one of them is a crash."""
    from forensics import pipeline
    from forensics.report import in_one_document

    found = pipeline.analyze_folders(folder, pipeline.database(signatures), event_filter)
    reports = (remembered(report, remember, folder / report.case) for report in found)
    if telling.form in INDEXED:
        return _index(reports, folder, telling)
    together = in_one_document(telling.form)
    kept: list[Report] = []
    texts: list[str] = []
    crashed = False
    for report in _named(reports):
        crashed = crashed or report.verdict == "crash"
        if together:
            kept.append(report)
        elif telling.output is None:
            write(rendered(report, telling), None, telling.form, masked=True)
        else:
            texts.append(rendered(report, telling))
    if together:
        write(rendered_together(kept, telling), telling.output, telling.form, masked=True)
    elif telling.output is not None:
        write("".join(texts), telling.output, telling.form, masked=True)
    return crashed


def _named(reports: "Iterable[Report]") -> "Iterator[Report]":
    """The reports; each is named on stderr with its cause when it is ready."""
    for report in reports:
        say(f"{report.case}: {report.causes[0].id}")
        yield report


def _index(reports: "Iterable[Report]", folder: Path, telling: OutputOptions) -> bool:
    """An index of all cases, and a page for each if the output is a folder. True if one of them is a crash.

    Markdown that goes to stdout or into a file is the table alone; its links lead to the cases' folders.
    """
    from forensics.report import index, with_stand_ins
    from forensics.report.redaction import mask_text

    ending, output = (".html" if telling.form == "html" else ".md"), telling.output
    pages = output if output and (output.is_dir() or not output.suffix or ending == ".html") else None
    base = output.parent if output else Path()
    rows, taken = [], set[str]()
    for report in _named(reports):
        case = report.case
        report = with_stand_ins(report)[0] if telling.hides_names else report
        if pages:
            name = f"cases/{index.file_name(mask_text(report.case), ending, taken)}"
            (pages / "cases").mkdir(parents=True, exist_ok=True)
            save(rendered(report, telling._replace(redact=False)), pages / name)
            rows.append(index.index_row(report, name))
        else:
            place = os.path.relpath(folder / case, base)
            rows.append(index.index_row(report, "" if telling.hides_names or mask_text(place) != place else place))
    title = "cases" if telling.hides_names else mask_text(folder.resolve().name)
    text = index.index_html(rows, title) if ending == ".html" else index.index_markdown(rows, title)
    write(text, pages / f"index{ending}" if pages else output, masked=True)
    return any(row.verdict == "crash" for row in rows)
