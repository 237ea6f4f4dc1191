"""`forensics series PATH...`: numbers that the logs print repeatedly, as a list, a file or a picture."""

from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.cli.common import Redact, names_in
from forensics.cli.output import write
from forensics.cli.progress import bar

if TYPE_CHECKING:
    from forensics.model import Observation
    from forensics.series import Series

SERIES_HEADER = ("series", "readings", "first", "last", "lowest", "highest", "source", "lines")


def series(
    paths: Annotated[list[Path], typer.Argument(help="Log files and folders; folders are read recursively.")],
    export: Annotated[
        Path | None, typer.Option("--output", "-o", "--export", help="Write every reading to FILE.csv, .jsonl or .parquet.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the series to FILE.png, .svg or .pdf, with events marked.")] = None,
    redact: Redact = False,
) -> None:
    """List the numbers over time in PATHS: losses, rates, step times, memory, temperatures, and what they show.

    \b
    Examples:
      forensics series train.log
      forensics series ./logs -o numbers.csv --plot numbers.png

    Of very many readings an even sample is used.
    """
    from forensics.core.pictures import check_picture_suffix
    from forensics.series import export as exporting

    if export:
        exporting.check_kind(export)
    if plot:
        check_picture_suffix(plot)
    with bar(paths):
        found = _found(paths, redact)
    write(listing(found), None)
    if export:
        count = exporting.export(((source, series) for source, series, _ in found), export)
        typer.echo(f"{count} readings written to {export}", err=True)
    if plot:
        exporting.plot(found, plot)
        typer.echo(f"drawn to {plot}", err=True)


def _found(paths: list[Path], redact: bool) -> "list[tuple[str, tuple[Series, ...], list[Observation]]]":
    """(source, its series, their observations) of every source that has a series. `redact`: with stand-ins for names."""
    from forensics import pipeline, series, sources
    from forensics.correlation.stream import spool
    from forensics.report.redaction import mask_text
    from forensics.report.redaction.walk import changed
    from forensics.scan import scan

    knowledge = pipeline.database()
    opened = sources.open_paths(paths, lambda _w: None)
    given = [spool(s) for s in opened] if redact else opened
    scans = (scan(source, knowledge, lambda _w: None) for source in given)
    found = [(mask_text(s.source.name), series.series_of(s), series.read(s, knowledge)) for s in scans]
    found = [f for f in found if f[1]]
    if not redact:
        return found
    hide = names_in(given, chain.from_iterable(events for _, _, events in found)).hide
    return [(hide(source), changed(several, hide), list(changed(tuple(events), hide))) for source, several, events in found]


def listing(found: "Iterable[tuple[str, tuple[Series, ...], list[Observation]]]") -> str:
    """A table of the series that have two readings or more, the longest of a source first, and a line for each event."""
    from forensics.core.text import printable

    rows: list[tuple[str, ...]] = [SERIES_HEADER]
    event_lines: list[str] = []
    for source, series, events in found:
        several = sorted((s for s in series if len(s.readings) > 1), key=lambda s: (-len(s.readings), s.name, s.scope))
        rows += [_row(printable(source, 80), s) for s in several]
        event_lines += [_event_line(e) for e in events]
    if len(rows) == 1:
        return "the given logs print no number more than once\n"
    widths = [max(len(row[i]) for row in rows) for i in range(len(SERIES_HEADER))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, *(["", *event_lines] if event_lines else [])]) + "\n"


def _row(source: str, series: "Series") -> tuple[str, ...]:
    from math import isfinite

    finite = [v for v in series.values if isfinite(v)] or [series.values[0]]
    numbers = (series.values[0], series.values[-1], min(finite), max(finite))
    name = f"{series.name} {series.scope}".strip()
    where = f"{series.readings[0].line}-{series.readings[-1].line}"
    return (name, str(len(series.readings)), *(number(v, series.unit) for v in numbers), source, where)


def number(value: float, unit: str) -> str:
    """A value with its unit: `1.09 GiB`, `0.41 s`, `2.31`."""
    if unit != "bytes":
        return f"{value:.4g}{' ' if unit else ''}{unit}".rstrip()
    from forensics.core.text import format_size

    return format_size(value)


def _event_line(event: "Observation") -> str:
    from forensics.core.text import printable

    facts = ", ".join(f"{k} {v}" for k, v in event.fields.items())
    cause = f" ({event.cause}, {event.weight})" if event.cause else ""
    return f"{event.kind.split('/')[-1]}{cause}: lines {event.line} to {event.last_line}, {printable(facts, 300)}"
