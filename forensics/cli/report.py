"""`forensics report REPORT.json`: a saved report again, in another format."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.cli.common import with_options
from forensics.cli.output import OutputOptions, check_format, finish, standard_input
from forensics.core.errors import UsageError, files_at

if TYPE_CHECKING:
    from forensics.model import Report

MAX_REPORT_BYTES = 512 << 20  # chosen by hand: some ten thousand reports of a batch; they are read at once


@with_options()
def report(
    path: Annotated[Path, typer.Argument(help="A report in JSON, or JSON lines with --case; - for standard input.")],
    telling: OutputOptions,
    case: Annotated[str | None, typer.Option("--case", help="Of JSON lines, the report of this case.")] = None,
) -> None:
    """Show a saved report again, in any format. The logs are not needed for it.

    \b
    Examples:
      forensics report report.json
      forensics report report.json -f html -o report.html
      forensics report incidents.jsonl --case run7 -f markdown --redact
    """
    check_format(telling.form, telling.why, telling.tracker)
    finish(read(path, case), telling)


def read(path: Path, case: str | None) -> "Report":
    """The report in `path`; of several, the one named `case`. Raises UsageError if there is none, or more than one."""
    from forensics.report.document import read_report

    documents = [d for d in _documents(path) if case is None or (isinstance(d, dict) and d.get("case") == case)]
    if not documents:
        raise UsageError(f"no report of case {case!r}" if case else "no report in it", str(path))
    if len(documents) > 1:
        raise UsageError(f"{len(documents)} reports in it", str(path), "choose one with --case NAME")
    return read_report(documents[0], str(path))


def _documents(path: Path) -> list[object]:
    from msgspec import json

    from forensics.sources.files import open_regular

    with files_at(path):
        if str(path) == "-":
            data = standard_input(MAX_REPORT_BYTES)
        else:
            with open_regular(path) as file:
                data = file.read(MAX_REPORT_BYTES)
    text = data.decode("utf-8-sig", "replace")
    try:
        return [json.decode(text)]
    except (ValueError, RecursionError):
        pass
    try:
        return [json.decode(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        raise UsageError("this is not JSON", str(path), "give a file that `forensics analyze --format json` wrote") from error
