"""`forensics batch FOLDER`: one report for each sub-folder, or for the files of each run, in order of name."""

import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.cli.common import FORMAT_NAMES, OutputPath, Remember, Selection, Signatures, with_options
from forensics.cli.output import (
    OutputOptions,
    check_format,
    ended_badly,
    parse_filter,
    rendered,
    rendered_together,
    save,
    say,
    write,
)
from forensics.cli.progress import counted
from forensics.core.errors import UsageError
from forensics.core.text import with_noun
from forensics.history.remember import is_wanted, remembered

if TYPE_CHECKING:
    from forensics.correlation import Filter
    from forensics.model import Report

TABLE_FORM = "table"
CASE_ORDER = {"crash": 0, "undetermined": 1, "no_crash": 2}  # of verdicts in a table: what is asked for comes first
BatchFormat = Annotated[
    str,
    typer.Option(
        "--format",
        "-f",
        metavar="FORMAT",
        help=f"{TABLE_FORM}, {FORMAT_NAMES}; on a terminal {TABLE_FORM}, else jsonl.",
        show_default=False,
    ),
]
BATCH_OPTIONS = ("form", "output", "exit_code", "redact", "max_chars", "tokens", "tracker")
INDEXED = ("html", "markdown")  # an index of the cases, instead of one report after the other


@with_options(*BATCH_OPTIONS, form=(BatchFormat, ""), output=(OutputPath, None))
def batch(
    folder: Annotated[
        Path,
        typer.Argument(
            help="Each sub-folder is a case, and each log beside them; without sub-folders each file, with those of the same run."
        ),
    ],
    telling: OutputOptions,
    chosen: Selection,
    signatures: Signatures = None,
    remember: Remember = None,
) -> None:
    """Analyse each sub-folder of FOLDER as a case of its own, and each log beside them.

    \b
    Examples:
      forensics batch ./incidents                            # on a terminal a table, in a pipe JSON lines
      forensics batch ./incidents > reports.jsonl
      forensics batch ./incidents | jq -r '[.case, .verdict, .causes[0].id] | @tsv'
      forensics batch ./incidents -f html -o ./report        # an index, and a page for each case
      forensics batch ./incidents -f markdown -o incidents.md  # a table

    \b
    Cases are in order of their names. A folder in which nothing can be read still gets a report. Output and errors, ranks and
    rotated parts of one name are one case: train.out, train.err, train.out.1. With --redact each report has its own stand-ins.
    """
    in_table = sys.stdout.isatty() and telling.output is None
    telling = telling._replace(form=telling.form or (TABLE_FORM if in_table else "jsonl"))
    _check(folder, telling.form, telling.output, telling.tracker)
    bad = _run(folder, telling, signatures or (), parse_filter(*chosen), remember)
    if telling.exit_code and bad:
        raise typer.Exit(1)


def _check(folder: Path, form: str, output: Path | None, tracker: str) -> None:
    if form != TABLE_FORM:
        check_format(form, tracker=tracker)
    if form == "html" and (output is None or output.is_file()):
        raise UsageError("html is a page for each case and an index of them", advice="give a folder for them: -o FOLDER")
    if folder.is_file():
        advice = f"each case is a sub-folder of a folder; for this one: forensics analyze {shlex.quote(str(folder))}"
        raise UsageError("this is a file", str(folder), advice)
    if not folder.is_dir():
        raise UsageError("no such folder", str(folder))


def _run(folder: Path, telling: OutputOptions, signatures: Sequence[Path], event_filter: "Filter", remember: bool | None) -> bool:
    """Write the reports in the requested format. True if one of them ended badly."""
    from forensics import pipeline
    from forensics.report import in_one_document

    found = pipeline.analyze_folders(folder, pipeline.database(signatures), event_filter)
    if telling.form in (TABLE_FORM, *INDEXED) or not sys.stdout.isatty():
        found = counted("cases", found, len(pipeline.cases_of(folder)))
    asked = _asked(found, event_filter) if str(event_filter) else found
    remember = is_wanted(remember)
    reports = (remembered(report, remember, folder / report.case) for report in asked)
    if telling.form in INDEXED:
        return _index(reports, folder, telling)
    if telling.form == TABLE_FORM:
        return _table(reports, telling)
    together = in_one_document(telling.form)
    kept: list[Report] = []
    texts: list[str] = []
    bad = False
    for report in reports:
        bad = bad or ended_badly(report)
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
    return bad


def _asked(found: "Iterable[Report]", event_filter: "Filter") -> "Iterator[Report]":
    """The reports on cases that have something of what was asked for; how many have nothing is said on stderr."""
    from forensics.correlation.filters import asked_in_vain

    left_out = 0
    for report in found:
        if any(question.what == asked_in_vain(event_filter) for question in report.missing):
            left_out += 1
        else:
            yield report
    if left_out:
        say(f"{with_noun(left_out, 'case')} without {event_filter}")


def _table(reports: "Iterable[Report]", telling: OutputOptions) -> bool:
    """A row for each case, failures first. True if one of them ended badly."""
    from forensics.cli.output import table_text
    from forensics.report import with_stand_ins
    from forensics.report.phrases import headline, odds_text, told_line

    found = [with_stand_ins(report, telling.hides_folder)[0] if telling.hides_names else report for report in reports]
    found.sort(key=lambda report: CASE_ORDER.get(report.verdict, 0))
    rows = [
        {"case": r.case, "cause": r.causes[0].id, "sure": odds_text(r), "what": headline(r), "line": told_line(r)} for r in found
    ]
    names = ("case", "cause", "sure", "what", "line")
    write(table_text(rows, names if any(row["line"] for row in rows) else names[:-1], "text"), telling.output)
    return any(map(ended_badly, found))


def _index(reports: "Iterable[Report]", folder: Path, telling: OutputOptions) -> bool:
    """An index of all cases, and a page for each if the output is a folder. True if one of them ended badly.

    Markdown that goes to stdout or into a file is the table alone; its links lead to the cases' folders.
    """
    from forensics.database.kinds import kind_of
    from forensics.report import index, with_stand_ins
    from forensics.report.redaction import mask_text

    ending, output = (".html" if telling.form == "html" else ".md"), telling.output
    pages = output if output and (output.is_dir() or not output.suffix or ending == ".html") else None
    base = output.parent if output else Path()
    rows, taken, bad = [], set[str](), False
    for report in reports:
        bad = bad or ended_badly(report)
        case = report.case
        report = with_stand_ins(report, telling.hides_folder)[0] if telling.hides_names else report
        if pages:
            name = f"cases/{index.file_name(mask_text(report.case), ending, taken)}"
            (pages / "cases").mkdir(parents=True, exist_ok=True)
            save(rendered(report, telling._replace(redact=False)), pages / name)
            rows.append(index.index_row(report, name, kind_of(report.causes[0].id)))
        else:
            place = os.path.relpath(folder / case, base)
            rows.append(index.index_row(report, "" if telling.hides_names or mask_text(place) != place else place))
    title = "cases" if telling.hides_names else mask_text(folder.resolve().name)
    text = index.index_html(rows, title) if ending == ".html" else index.index_markdown(rows, title)
    write(text, pages / f"index{ending}" if pages else output, masked=True)
    return bad
