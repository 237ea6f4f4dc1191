"""What commands do with their options: sources are opened, a report is written, the process exits with its status.

Nothing here needs the library of command lines, whose import takes as long as to read a short log.
"""

import contextlib
import os
import stat
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from forensics.core.errors import UsageError, files_at
from forensics.core.text import escaped, inert
from forensics.report.escape import json_text
from forensics.report.style import BRIEF_TOKENS, ISSUE_CHARS, PAGE_CHARS, TRACKERS, Style

if TYPE_CHECKING:
    from forensics.correlation import Filter
    from forensics.model import Report, Source, Warn, Warning


MAX_CELL_CHARS = 60  # chosen by hand: two such columns fit on a wide terminal
TABLE_TIME_COLUMNS = ("time", "added")


def table_text(rows: Sequence[dict[str, Any]], columns: Sequence[str], form: str) -> str:
    """The rows in the format `form`, with a final line end. JSON has every field, the others have `columns`."""
    if form == "json":
        return json_text(rows, 2)
    if form == "csv":
        import csv
        import io

        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([_plain(c, row.get(c)) for c in columns] for row in rows)
        return file.getvalue()
    return _table_text(rows, columns)


def cell_text(name: str, value: Any) -> str:
    """One value for people: times as day and hour, numbers with few digits."""
    if value is None or value == "":
        return ""
    if name in TABLE_TIME_COLUMNS and isinstance(value, int):
        return datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%d %H:%M")
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    from forensics.core.text import MAX_ROW_CHARS, printable

    return printable(str(value), MAX_ROW_CHARS)


def _plain(name: str, value: Any) -> str:
    text = cell_text(name, value) if name in TABLE_TIME_COLUMNS else "" if value is None else str(value)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") and isinstance(value, str) else text


def _table_text(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> str:
    import io

    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if not rows:
        return "nothing\n"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        number = all(isinstance(r.get(name), int | float | None) for r in rows) and name not in TABLE_TIME_COLUMNS
        table.add_column(
            name.replace("_", " "),
            justify="right" if number else "left",
            max_width=MAX_CELL_CHARS,
            no_wrap=name in TABLE_TIME_COLUMNS,
        )
    for row in rows:
        table.add_row(*(Text(cell_text(c, row.get(c))) for c in columns))
    console = Console(file=io.StringIO(), width=None if sys.stdout.isatty() else 160)
    with console.capture() as captured:
        console.print(table)
    return "\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n"


NAMELESS = ("brief", "issue")  # formats that are given to others: names are replaced unless the user wants them
BESIDE_THE_LOGS = "brief"  # the format for a reader who has the logs
WITH_LEDGER = ("json", "jsonl")  # formats that tell what each feature contributed, asked or not
WIDEST = 140  # longer lines of prose are hard to read
STDIN = Path("-")
WRITTEN_CHARS = 1 << 20  # of a text at once: a copy of all of it would take as much memory again


def is_piped() -> bool:
    """Does standard input come from a pipe or a file?"""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (AttributeError, OSError, ValueError):  # closed, or no file
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)


def check_output(output: Path | None) -> Path | None:
    """`output`; raises UsageError where its folder is not there, before anything is read."""
    if output is not None and not output.absolute().parent.is_dir():
        folder = output.parent
        import shlex

        raise UsageError("no such folder to write to", str(folder), f"mkdir -p {shlex.quote(str(folder))}, and again")
    return output


class OutputOptions(NamedTuple):
    """The format and the destination of a report."""

    form: str
    output: Path | None = None
    exit_code: bool = False
    redact: bool | None = None
    redact_map: Path | None = None
    max_chars: int = ISSUE_CHARS
    why: bool = False
    incident: int | None = None
    every_incident: bool = False
    tokens: int = BRIEF_TOKENS
    tracker: str = TRACKERS[0]

    @property
    def hides_names(self) -> bool:
        """Are stand-ins shown instead of names?"""
        return bool(self.redact_map) or (self.form in NAMELESS if self.redact is None else self.redact)

    @property
    def hides_folder(self) -> bool:
        """Is the folder of the case a name, too? A brief's reader opens its places, unless names are to be hidden from him."""
        return self.form != BESIDE_THE_LOGS or bool(self.redact_map or self.redact)


def check_choice(given: str, choices: Collection[str], what: str = "format") -> None:
    """Raise UsageError, with the choices, for a word that is none of them."""
    if given not in choices:
        raise UsageError(f"unknown {what} {given[:40]!r}", advice=f"choose one of {', '.join(choices)}")


def check_format(form: str, why: bool = False, tracker: str = TRACKERS[0]) -> str:
    """`form` when it is a format; raises UsageError that lists them otherwise, or where it cannot show why."""
    from forensics.report import formats

    check_choice(form, formats())
    check_choice(tracker, TRACKERS, "tracker")
    if why and form not in (*WITH_LEDGER, "text"):
        raise UsageError(f"--why goes with text, not with {form}", advice=f"{' and '.join(WITH_LEDGER)} always include it")
    return form


def check_baseline(paths: list[Path] | None) -> list[Path]:
    """`paths`; raises UsageError for one that is not there, before anything is read."""
    for path in paths or ():
        if not path.exists():
            raise UsageError("no such file or folder for the baseline", str(path))
    return paths or []


def parse_filter(since: str | None, until: str | None, pid: int | None, job: str | None, last: bool) -> "Filter":
    """The filter for the subject and the time; raises UsageError for a text that is not a time."""
    from forensics.correlation import Filter

    return Filter.of(since, until, pid, job, last)


def say(line: str) -> None:
    """Print a line on stderr in which nothing acts."""
    print(inert(escaped(line)), file=sys.stderr)


def write(text: str, output: Path | None, form: str = "", masked: bool = False) -> None:
    """Write text in which nothing acts to stdout, or completely or not at all to `output`; UsageError if it cannot be written.

    `form`: the format of a report, whose lines may be commands to the system that runs the job. `masked`: the text is a rendered
    report, which has no secrets; any other text loses them here.
    """
    from forensics.report import COMMAND_FORMATS

    if not masked:
        from forensics.report.redaction.lines import masked_text

        text = masked_text(text)
    text = inert(text, commands=form in COMMAND_FORMATS)
    if output is None:
        _to_stdout(text)
        return
    try:
        save(text, output)
    except UsageError as error:
        if text.startswith("<") and sys.stdout.isatty():  # a page; nobody reads it on a terminal
            raise
        _to_stdout(text)
        raise UsageError(f"{error.what} and went to stdout", error.where) from error


def _to_stdout(text: str) -> None:
    """`text` in UTF-8, whatever the locale says; as it is where a caller's stdout takes text only (`io.StringIO`)."""
    raw = getattr(sys.stdout, "buffer", None)
    if raw is None:
        sys.stdout.write(text)
    else:
        for begin in range(0, len(text), WRITTEN_CHARS):  # a report of thousands of sources has megabytes
            raw.write(text[begin : begin + WRITTEN_CHARS].encode("utf-8", "replace"))
    sys.stdout.flush()


def standard_input(most: int) -> bytes:
    """The first `most` bytes of standard input; raises UsageError where it is closed."""
    if sys.stdin is None:
        raise UsageError("standard input is closed")
    raw = getattr(sys.stdin, "buffer", None)
    return sys.stdin.read(most).encode("utf-8", "replace")[:most] if raw is None else raw.read(most)


def case_name(paths: Sequence[Path]) -> str:
    """The name of a report on `paths`: that of the first path that has one."""
    return next((p.resolve().name for p in paths if p != STDIN), "stdin")


def open_sources(paths: Sequence[Path], warn: "Warn") -> "Iterable[Source]":
    """The sources in files, folders and, for `-`, in standard input; raises UsageError or SourceError as these are opened."""
    from forensics import sources

    files = [p for p in paths if p != STDIN]
    piped = sources.open_stdin(warn) if len(files) < len(paths) else []
    return [*piped, *(sources.open_paths(files, warn, later=not piped) if files else ())]


def report_on_stdin(
    telling: OutputOptions, baseline: list[Path] | None = None, event_filter: "Filter | None" = None, folders: Sequence[Path] = ()
) -> None:
    """Read standard input and write the report. `folders`: of signatures."""
    from forensics import pipeline

    check_format(telling.form, telling.why)
    noted: list[Warning] = []
    knowledge, sources = pipeline.database(folders), open_sources([STDIN], noted.append)
    chosen = event_filter or parse_filter(None, None, None, None, False)
    report = pipeline.analyze(sources, case_name([STDIN]), knowledge, noted, baseline=baseline or [], event_filter=chosen)
    finish(report, telling)


def save(text: str, output: Path, mode: int = 0o644) -> None:
    """Write `text` to `output`, completely or not at all. Raises UsageError if it cannot be written.

    A pipe or a device, such as /dev/stdout, is written to; a link leads to the file that is replaced.
    """
    with files_at(output, "the report could not be written there"):
        if output.exists() and not output.is_file() and not output.is_dir():
            output.write_bytes(text.encode("utf-8", "replace"))
            return
        import tempfile

        output = output.resolve()
        handle, name = tempfile.mkstemp(dir=output.parent, prefix=".forensics-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode("utf-8", "replace"))
            Path(name).chmod(mode)
            Path(name).replace(output)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise


@contextlib.contextmanager
def stdout_to(output: Path | None) -> Iterator[None]:
    """What the block prints goes to `output`, completely or not at all; to stdout if it is None."""
    if output is None:
        yield
        return
    part = output.with_name(f".{output.name}.part")
    try:
        with part.open("w", encoding="utf-8", errors="replace") as file, contextlib.redirect_stdout(file):
            yield
        part.replace(output)
    except OSError as error:
        raise UsageError(f"cannot be written ({error.strerror})", str(output)) from error
    finally:
        part.unlink(missing_ok=True)


def style(telling: OutputOptions) -> Style:
    """The style for the destination: width and colours of a terminal, or plain text for a file or a pipe."""
    most, every = telling.max_chars, telling.every_incident
    plain = Style(max_chars=most, every_incident=every, tokens=telling.tokens, tracker=telling.tracker)
    if telling.output is not None or not sys.stdout.isatty():
        forced = bool(os.environ.get("FORCE_COLOR")) and telling.output is None and not os.environ.get("NO_COLOR")
        return plain._replace(colour=forced)
    import shutil

    colour = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    width = min(shutil.get_terminal_size((PAGE_CHARS, 24)).columns, WIDEST)
    return plain._replace(width=width, colour=colour)


def rendered(report: "Report", telling: OutputOptions) -> str:
    """The report in the requested format. Also writes the map of stand-ins, if requested.

    In a GitHub workflow the annotations' format also adds the Markdown report to the summary of the step.
    """
    from forensics.report import render

    report = _prepared(report, telling)
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if telling.form == "github" and summary:
        _add(render(report, "markdown", style(telling)), Path(summary))
    text = render(report, telling.form, style(telling))
    return text + _ledger(report, style(telling)) if telling.why and telling.form == "text" else text


def rendered_together(reports: "Sequence[Report]", telling: OutputOptions) -> str:
    """Several reports as one document, for formats that support it."""
    from forensics.report import render_many

    return render_many([_prepared(r, telling) for r in reports], telling.form, style(telling))


def _prepared(report: "Report", telling: OutputOptions) -> "Report":
    """The report on the requested incident, with names replaced if requested."""
    if telling.incident is not None:
        from forensics.report.subjects import focus_on

        report = focus_on(report, telling.incident)
    if telling.hides_names:
        from forensics.report import with_stand_ins

        report, key = with_stand_ins(report, telling.hides_folder)
        if telling.redact_map:
            import json

            save(json.dumps(key, indent=2, ensure_ascii=False) + "\n", telling.redact_map, mode=0o600)
    return report


def _add(text: str, output: Path) -> None:
    wrong = "the summary could not be written there"
    with files_at(output, wrong), output.open("a", encoding="utf-8", errors="replace") as file:
        file.write(text)


def _ledger(report: "Report", style: Style) -> str:
    from forensics.decision.candidates import FEATURES
    from forensics.decision.ledger import MEANINGS
    from forensics.report.ledger import render_ledger

    return render_ledger(report, {name: about[2] for name, about in FEATURES.items()} | MEANINGS, style)


def ended_badly(report: "Report") -> bool:
    """Does --exit-code tell of it: a crash, or what most probably ended badly of a cause that is not proven?"""
    from forensics.report.subjects import BAD

    return report.verdict == "crash" or (
        report.verdict == "undetermined" and report.subject is not None and report.subject.outcome in BAD
    )


def finish(report: "Report", telling: OutputOptions, sentences: Iterable[str] = ()) -> None:
    """Write the report and exit with the requested status. `sentences`: stand in front of a text that shows names."""
    text = rendered(report, telling)
    if telling.form == "text" and not telling.hides_names and (said := "".join(f"{line}\n" for line in sentences)):
        from forensics.report.redaction.lines import masked_text

        text = f"{masked_text(said)}\n{text}"
    write(text, telling.output, telling.form, masked=True)
    if telling.exit_code and ended_badly(report):
        sys.exit(1)


def capture_settings() -> dict[str, object]:
    """The configured options of captured runs. From now on bundles go to the configured folder."""
    from forensics.config import config

    configured = config()
    settings = dict(configured.capture) | ({"tell": True} if configured.tell else {})
    if folder := settings.pop("folder", ""):
        os.environ.setdefault("FORENSICS_RUNS", str(folder))
    return settings
