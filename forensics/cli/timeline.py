"""`forensics timeline PATH...`: all lines of all sources in order of time, as text, CSV or JSON lines."""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC
from fnmatch import fnmatch
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from forensics.cli.common import Output, Redact, Since, Until, names_in
from forensics.cli.output import check_choice, say, stdout_to
from forensics.cli.progress import bar
from forensics.core.errors import UsageError
from forensics.core.text import with_noun
from forensics.report.redaction.lines import unmasked

if TYPE_CHECKING:
    from forensics.correlation import Filter
    from forensics.correlation.filters import Window
    from forensics.correlation.stream import Entry
    from forensics.correlation.timestamp_resolver import Clock
    from forensics.database import Database
    from forensics.model import Observation, Scan, Source, Warning
    from forensics.report.redaction import LineMasker

Print = Callable[[Iterable["Entry"]], None]
Hide = Callable[[str], str]
TIMELINE_COLUMNS = ("time", "uncertainty_s", "lane", "uptime_s", "source", "line", "level", "host", "rank", "event", "text")
SHOWN_WARNING_KINDS = ("clock", "year", "date", "zone", "order", "truncated", "unreadable", "binary")


def timeline(
    paths: Annotated[list[Path], typer.Argument(help="Log files and folders; folders are read recursively.")],
    since: Since = None,
    until: Until = None,
    source: Annotated[
        list[str] | None,
        typer.Option(help="Only sources with this text in their name, or matching this pattern; repeatable."),
    ] = None,
    level: Annotated[str | None, typer.Option(help="Only lines of this level or worse, and lines that show a cause.")] = None,
    form: Annotated[str, typer.Option("--format", "-f", help="text, csv or jsonl.")] = "text",
    output: Output = None,
    redact: Redact = False,
) -> None:
    """Print all lines of all logs in PATHS on one clock, as far as possible.

    \b
    Examples:
      forensics timeline ./logs --since 2026-11-21T08:20 --level warning
      forensics timeline train.log dmesg.txt --source dmesg -f csv > timeline.csv

    \b
    Lines without a time get that of the previous line. Sources whose clock cannot be
    joined with the others follow after them, each in a lane of its own; stderr says why.
    """
    from forensics.correlation import Filter

    wanted = _Wanted(Filter.of(since, until, None, None, last=False), tuple(source or ()), _level(level))
    check_choice(form, TIMELINE_FORMATS)
    with stdout_to(output):
        TIMELINE_FORMATS[form](_entries(paths, wanted, redact))


class _Wanted(NamedTuple):
    """The selection of the timeline to print."""

    event_filter: "Filter"
    sources: tuple[str, ...]
    level: str | None

    def source(self, name: str) -> bool:
        return not self.sources or any(part in name or fnmatch(name, part) for part in self.sources)

    def entry(self, entry: "Entry", asked: "Window") -> bool:
        from forensics.correlation.stream import at_least

        if self.event_filter.timed and (entry.time is None or not asked.contains(entry.time)):
            return False
        return self.level is None or entry.event is not None or at_least(entry.level, self.level)


def _level(text: str | None) -> str | None:
    from forensics.correlation.stream import LEVEL_NAMES, parse_level

    found = parse_level(text)
    if text and found is None:
        raise UsageError(f"unknown level {text!r}", advice=f"choose one of {', '.join(LEVEL_NAMES)}")
    return found


def _entries(paths: list[Path], wanted: _Wanted, redact: bool) -> Iterator["Entry"]:
    """The selected entries: first those on the common clock, then the others lane by lane. `redact`: with stand-ins for names."""
    from msgspec.structs import replace

    from forensics import pipeline, sources
    from forensics.correlation import window
    from forensics.correlation.stream import entries, merge_streams, spool
    from forensics.pipeline.source_analysis import analyze_sources
    from forensics.report.redaction import LineMasker

    noted: list[Warning] = []
    with bar(paths):
        given = [spool(s) for s in sources.open_paths(paths, noted.append)]
        knowledge = pipeline.database()
        analyses = analyze_sources(given, knowledge, noted.append)
    scans = [r.scan for r in analyses]
    found = {r.name: list(r.events) for r in analyses}
    clocks = _clocks(scans, found, knowledge, noted)
    known, asked = _known(scans, found), window(wanted.event_filter, clocks.values())
    chosen = [s.source for s in scans if wanted.source(s.source.name)]
    joined = [s for s in chosen if clocks[s.name].first]
    apart = [s for s in chosen if not clocks[s.name].first]
    hide = names_in(given, chain.from_iterable(found.values())).hide if redact else str
    _note(noted, apart, wanted, hide)
    one = merge_streams([(clocks[s.name], entries(s, clocks[s.name])) for s in joined])
    rest = chain.from_iterable(entries(s, clocks[s.name]) for s in apart)
    seen: dict[str, str] = {}
    maskers: dict[str, LineMasker] = defaultdict(lambda: LineMasker(seen))
    for entry in chain(one, rest):
        named = known.get((entry.source, entry.line))
        shown_entry = replace(entry, event=named) if named else entry
        if wanted.entry(shown_entry, asked):
            yield _masked(shown_entry, maskers, hide)


def _masked(entry: "Entry", maskers: "dict[str, LineMasker]", hide: Hide) -> "Entry":
    """`entry` without secrets, and with what `hide` makes of its names. `maskers`: one for each source, as a line may tell what
    the next one shows."""
    from msgspec.structs import replace

    from forensics.report.redaction import mask_text
    from forensics.report.redaction.lines import masked_entry

    text = masked_entry(entry.text, maskers[entry.source])
    source, lane, host = (hide(mask_text(name)) for name in (entry.source, entry.lane, entry.host or ""))
    return replace(entry, text=hide(text), source=source, lane=lane, host=host or None)


def _clocks(
    scans: "list[Scan]", found: "dict[str, list[Observation]]", knowledge: "Database", noted: "list[Warning]"
) -> "dict[str, Clock]":
    from forensics.correlation import align_clocks, clock_samples, full_times
    from forensics.correlation.stream import full_clock

    times = {s.source.name: full_times(clock_samples(s)) for s in scans}
    clocks: dict[str, Clock] = {}
    for scanned in scans:
        name = scanned.source.name
        others = [t for n, ts in sorted(times.items()) if n != name for t in ts]
        clocks[name] = full_clock(scanned, others, noted.append, found[name])
    return align_clocks([e for events in found.values() for e in events], clocks, knowledge, noted.append)


def _known(scans: "list[Scan]", found: "dict[str, list[Observation]]") -> dict[tuple[str, int], str]:
    """(source, original line) -> cause, for the lines that show a cause."""
    from forensics.sources.renumber import renumbered

    known: dict[tuple[str, int], str] = {}
    for scanned in scans:
        for event in (renumbered(e, scanned.source) for e in found[scanned.source.name]):
            if event.cause and not event.cause.startswith("none."):
                known |= {(event.source, p.line): event.cause for p in event.proofs}
    return known


def _note(noted: "list[Warning]", apart: "list[Source]", wanted: _Wanted, hide: Hide) -> None:
    """Print assumptions and sources without a common clock to stderr."""
    of_whom: dict[str, list[str]] = {}
    for warning in dict.fromkeys(noted):
        if warning.kind in SHOWN_WARNING_KINDS:
            of_whom.setdefault(warning.message, []).append(warning.source or "")
    left_out = "left out, for --since and --until need times" if wanted.event_filter.timed else "in a lane of its own"
    for source in apart:
        of_whom.setdefault(f"its lines have no times; it is {left_out}", []).append(source.name)
    for message, (first, *more) in of_whom.items():
        others = f" and {with_noun(len(more), 'other source')}" if more else ""
        say(hide(f"forensics: note: {first}{others}: {message}"))


def _row(entry: "Entry") -> dict[str, object]:
    row = {name: getattr(entry, name) for name in TIMELINE_COLUMNS}
    row["time"] = entry.time.astimezone(UTC).isoformat() if entry.time else None
    return row


def _jsonl(given: Iterable["Entry"]) -> None:
    import json

    from forensics.core.text import inert
    from forensics.report.escape import escape_controls

    out = unmasked(sys.stdout)
    for entry in given:
        out.write(inert(escape_controls(json.dumps(_row(entry), ensure_ascii=False))) + "\n")


def _csv(given: Iterable["Entry"]) -> None:
    import csv
    import io

    from forensics.core.text import inert

    row, out = io.StringIO(), unmasked(sys.stdout)
    writer = csv.DictWriter(row, TIMELINE_COLUMNS, lineterminator="\n")
    writer.writeheader()
    for entry in given:
        writer.writerow({name: _cell(value) for name, value in _row(entry).items()})
        out.write(inert(row.getvalue()))
        row.seek(0)
        row.truncate()
    out.write(row.getvalue())  # the head, if there is no row


def _cell(value: object) -> object:
    """A value in which nothing acts; a text of several lines stays one."""
    from forensics.core.text import escaped, spreadsheet_safe

    return spreadsheet_safe("\n".join(map(escaped, value.split("\n"))) if isinstance(value, str) else value)


def _text(given: Iterable["Entry"]) -> None:
    from forensics.core.text import escaped, inert, printable

    lane = "wall"
    out = unmasked(sys.stdout)
    for entry in given:
        if entry.lane != lane and entry.time is None:
            lane = entry.lane
            out.write(inert(f"\n{escaped(lane)}: cannot be ordered with the lines above\n"))
        if entry.time:
            when = entry.time.astimezone(UTC).isoformat(sep=" ", timespec="milliseconds")[:-6]
            when = f"{when}Z" if entry.uncertainty_s is not None else " " * 24
        else:
            when = f"[{entry.uptime_s:.6f}]".rjust(24) if entry.uptime_s is not None else " " * 24
        first, *more = entry.text.split("\n")
        mark = ">" if entry.event else " "
        out.write(inert(f"{when} {mark} {escaped(entry.source)}:{entry.line}  {printable(first)}\n"))
        out.writelines(inert(f"{'':26} {printable(line)}\n") for line in more)


TIMELINE_FORMATS: dict[str, Print] = {"text": _text, "csv": _csv, "jsonl": _jsonl}
