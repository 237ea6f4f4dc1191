"""Each source by itself: Source -> Reading, its Scan with the events, the curves and the clock's marks found in it.

A large source's chunks are matched by threads, many small sources are read by processes. What comes out does not depend on how
many there are.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from forensics import context, correlation, detectors, layouts, outcome, series
from forensics.ahead import read_ahead
from forensics.database import Database
from forensics.model import Observation, Scan, Source, Warn, Warning
from forensics.model.verdicts import Lane
from forensics.scan import Matcher, Workers, scan
from forensics.shares import is_small, read_shares
from forensics.spare import spared


class Reading(Struct, frozen=True):
    """What one source holds. `scan`: without the places of numbers, which were read. `curves`: what a report could show of them.

    `marks`: what its lines tell of its clock. `pids`: those that its ends name. `layout`: that of most of its first lines.
    `records`: how many lines are no continuations. `lanes`: whose its lines are, and how each of them ends.
    """

    scan: Scan
    events: tuple[Observation, ...]
    curves: tuple[context.Ranked, ...]
    marks: tuple[correlation.Mark, ...]
    pids: frozenset[int]
    layout: str
    records: int
    lanes: tuple[Lane, ...] = ()

    @property
    def name(self) -> str:
        """The source's."""
        return self.scan.source.name


def read_all(given: Iterable[Source], knowledge: Database, warn: Warn, workers: int | None = None) -> list[Reading]:
    """A Reading of each source that has lines, in order. `workers`: threads or processes at work (default: one a core)."""
    matcher = Matcher(knowledge)
    given = list(given)
    count = workers or os.cpu_count() or 1
    small = [source for source in given if is_small(source)]
    done: list[Reading] = []
    with Workers(count) as threads, closing(read_shares(small, partial(_apart, knowledge, matcher), count)) as shares:
        try:
            for source in given:
                if is_small(source):
                    found, noted = next(shares)
                    for warning in noted:
                        warn(warning)
                    done += [replace(found, scan=replace(found.scan, source=source))] if found else []
                elif found := read(read_ahead(source) if count > 1 else source, knowledge, matcher, warn, threads):
                    done.append(found)
        except BaseException as stop:  # Ctrl-C, for one
            if done:
                size, lines = sum(r.scan.bytes for r in done), sum(r.scan.lines for r in done)
                stop.add_note(f"{len(done):,} whole source{'s' * (len(done) > 1)}, {lines:,} lines ({size:,} bytes)")
            raise
    return done


def _apart(knowledge: Database, matcher: Matcher, source: Source) -> tuple[Reading | None, list[Warning]]:
    """The Reading of a source in a form that another process can hand over: without what opens it."""
    noted: list[Warning] = []
    found = read(source, knowledge, matcher, noted.append)
    return found and replace(found, scan=replace(found.scan, source=Source(source.name, _blockless))), noted


def _blockless(_warn: Warn) -> Iterator[bytes]:
    return iter(())


def read(source: Source, knowledge: Database, matcher: Matcher, warn: Warn, threads: Workers | None = None) -> Reading | None:
    """The Reading of one source, None where it has no lines; what fails is left out with a Warning."""
    name = source.name
    none: list[Observation] = []
    unmarked: list[correlation.Mark] = []
    undrawn: tuple[context.Ranked, ...] = ()
    scanned = spared(partial(scan, source, knowledge, warn, matcher, threads), None, "all of it", name, warn)
    if not scanned or not scanned.lines:
        return None
    numbers = spared(lambda: series.numbers(scanned), series.NONE, "its series", name, warn)
    events = spared(lambda: detectors.read(scanned, warn), none, "its records", name, warn)
    events = [*events, *spared(lambda: series.read(scanned, numbers), none, "its series", name, warn)]
    marks = spared(lambda: correlation.marks(scanned, events), unmarked, "its times", name, warn)
    curves = spared(lambda: context.curves(source, numbers.series), undrawn, "its curves", name, warn)
    pids = correlation.pids_of(scanned)
    layout = layouts.recognise(scanned.head)
    whole = scanned.lines <= len(scanned.head)
    count = layouts.count_records(scanned.head, layout) if whole else scanned.lines - scanned.continued
    unsplit: tuple[Lane, ...] = ()
    classes = outcome.line_classes(knowledge)
    lanes = spared(lambda: outcome.survey(scanned, layout, events, classes), unsplit, "how it ended", name, warn)
    return Reading(_without_numbers(scanned), tuple(events), curves, tuple(marks), pids, layout, count, lanes)


def _without_numbers(scanned: Scan) -> Scan:
    read = {trigger.kind for trigger in series.triggers()}
    return replace(scanned, sample=(), regions={kind: places for kind, places in scanned.regions.items() if kind not in read})
