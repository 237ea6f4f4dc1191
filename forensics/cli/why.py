"""`forensics why [RUN]`: show the report of a captured run; `run` and `collect` use it to write their reports."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.cli.common import Remember, with_options
from forensics.cli.output import BESIDE_THE_LOGS, NAMELESS, OutputOptions, capture_settings, check_format, write
from forensics.core.errors import UsageError
from forensics.report.style import Style

if TYPE_CHECKING:
    from forensics.model import Report

KEPT_REPORTS = ("report.txt", "report.json", "report.short.txt")  # in the folder of a bundle


@with_options("form", "output", "redact", "tokens", "tracker")
def why(
    run: Annotated[
        str,
        typer.Argument(metavar="[RUN]", help="A number of `forensics runs`, a folder or a .tar.gz; the newest by default."),
    ] = "",
    *,
    telling: OutputOptions,
    again: Annotated[bool, typer.Option("--again", help="Analyse it again and store the report in the folder.")] = False,
    remember: Remember = None,
) -> None:
    """Show why the last captured run died.

    \b
    Examples:
      forensics why
      forensics why 2
      forensics why bundle.tar.gz
      forensics why ~/.local/state/forensics/20261122-181534-python-4711
    """
    from forensics.cli.captured_runs import named_run

    check_format(telling.form, tracker=telling.tracker)
    capture_settings()
    show_report(named_run(run) if run else _latest(), telling, again, remember)


def show_report(bundle: Path, telling: OutputOptions, again: bool = False, remember: bool | None = None) -> None:
    """Write the report on a bundle: the one that is kept in it if that will do, else a new one."""
    from forensics.capture.bundle import REPORT_HEAD, is_running

    if is_running(str(bundle)):
        print(_still_running(str(bundle)))
        return
    form, output = telling.form, telling.output
    kept = bundle / ("report.json" if form == "json" else "report.txt")
    if not (again or telling.redact or remember) and form in ("text", "json") and kept.is_file():
        write(kept.read_text(encoding="utf-8").removeprefix(REPORT_HEAD), output, masked=form == "json")
        return
    limits = Style(tokens=telling.tokens, tracker=telling.tracker)
    text = report_on(bundle, form, telling.redact, again, remember if again or remember else False, limits)
    write(text, output, form, masked=True)


def _latest() -> Path:
    """The newest bundle of a job that has ended. One line on stderr names the newest one that still runs, if there is one."""
    from forensics.capture.bundle import is_running, newest_first, state_folder

    bundles = newest_first()
    runs = [path for path in bundles if is_running(path)]
    found = next((path for path in bundles if path not in runs), "")
    if not bundles:
        raise UsageError("no captured run", state_folder(), "forensics run -- COMMAND captures one")
    if not found:
        raise UsageError(_still_running(runs[0]), advice="when it has ended, forensics why shows its end")
    if runs:
        print(f"forensics: {_still_running(runs[0])}; this is the last run that ended", file=sys.stderr)
    return Path(found)


def _still_running(bundle: str) -> str:
    """The line about a bundle whose job still runs."""
    from forensics.capture.bundle import read_run

    run = read_run(bundle)
    return f"still running: {' '.join(run['command']['arguments'])[:80]}, pid {run['command']['pid']}, in {bundle}"


def report_on(
    folder: Path, form: str, redact: bool | None, keep: bool, remember: bool | None = False, limits: Style | None = None
) -> str:
    """The report on a bundle in `form`; with `keep` report.txt, report.json and, for a container's termination message,
    report.short.txt are written into it as well.

    `remember`: whether it goes into the history; None as the configuration says. `limits`: of a brief, and for whom an issue is.
    """
    from forensics import pipeline
    from forensics.cli.captured_runs import is_packed
    from forensics.history.remember import remembered
    from forensics.report import render, with_stand_ins

    if folder.is_file() and not is_packed(folder):
        advice = f"to read a log: forensics analyze {shlex.quote(str(folder))}"
        raise UsageError("this file is no packed bundle", str(folder), advice)
    if not folder.exists():
        raise UsageError("no such folder", str(folder))
    keep = keep and folder.is_dir()
    for name in KEPT_REPORTS:  # an older report is no evidence
        (folder / name).unlink(missing_ok=True) if keep else None
    report = pipeline.analyze_paths([folder], folder.resolve().name, pipeline.database())
    report = remembered(report, remember, folder)
    if redact:
        report, _ = with_stand_ins(report)
    shown = with_stand_ins(report, form != BESIDE_THE_LOGS)[0] if redact is None and form in NAMELESS else report
    if keep:
        readable = form if form in (*NAMELESS, "text", "markdown", "html") else "text"
        keep_report(folder, report, render(shown, readable, limits))
    return render(shown, form, limits)


def keep_report(folder: Path, report: "Report", text: str) -> None:
    """Write the report into the folder of its bundle, so that no list and no later question needs to make it again."""
    from forensics.capture.bundle import REPORT_HEAD
    from forensics.report import render
    from forensics.report.short import short

    for name, told in zip(KEPT_REPORTS, (text, render(report, "json"), short(report)), strict=True):
        try:
            head = "" if name.endswith(".json") else REPORT_HEAD
            (folder / name).write_text(head + told, encoding="utf-8")
        except OSError as error:
            print(f"forensics: {name} could not be written: {error.strerror}", file=sys.stderr)
