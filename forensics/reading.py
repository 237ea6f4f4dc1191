"""Each source by itself: Source -> Reading, its Scan with the numbers, the events and the clock's marks found in it.

One source after the other; the chunks of each are matched by threads. What comes out does not depend on how many there are.
"""

import os
from collections.abc import Iterable
from functools import partial

from msgspec import Struct

from forensics import layouts, records, series, timeline
from forensics.database import Database
from forensics.model import Event, Scan, Source, Warn
from forensics.scan import Matcher, Workers, scan
from forensics.spare import spared


class Reading(Struct, frozen=True):
    """What one source holds. `numbers`: None where they could not be read. `marks`: what its lines tell of its clock.

    `layout`: that of most of its first lines. `records`: how many lines are no continuations.
    """

    scan: Scan
    numbers: series.Numbers | None
    events: tuple[Event, ...]
    marks: tuple[timeline.Mark, ...]
    layout: str
    records: int

    @property
    def name(self) -> str:
        """The source's."""
        return self.scan.source.name


def read_all(given: Iterable[Source], knowledge: Database, warn: Warn, workers: int | None = None) -> list[Reading]:
    """A Reading of each source that has lines, in order. `workers`: threads at work at a time (default: one a core)."""
    matcher = Matcher(knowledge)
    with Workers(workers or os.cpu_count() or 1) as threads:
        done: list[Reading] = []
        try:
            for source in given:
                found = read(source, knowledge, matcher, warn, threads)
                done += [found] if found else []
        except BaseException as stop:  # Ctrl-C, for one
            if done:
                size, lines = sum(r.scan.bytes for r in done), sum(r.scan.lines for r in done)
                stop.add_note(f"{len(done):,} whole source{'s' * (len(done) > 1)}, {lines:,} lines ({size:,} bytes)")
            raise
        return done


def read(source: Source, knowledge: Database, matcher: Matcher, warn: Warn, threads: Workers | None = None) -> Reading | None:
    """The Reading of one source, None where it has no lines; what fails is left out with a Warning."""
    name = source.name
    none: list[Event] = []
    unmarked: list[timeline.Mark] = []
    scanned = spared(partial(scan, source, knowledge, warn, matcher, threads), None, "all of it", name, warn)
    if not scanned or not scanned.lines:
        return None
    numbers = spared(lambda: series.numbers(scanned), None, "its series", name, warn)
    events = spared(lambda: records.read(scanned, warn), none, "its records", name, warn)
    events = [*events, *spared(lambda: series.read(scanned, numbers) if numbers else [], none, "its series", name, warn)]
    marks = spared(lambda: timeline.marks(scanned, events), unmarked, "its times", name, warn)
    layout = layouts.recognise(scanned.head)
    whole = scanned.lines <= len(scanned.head)
    count = layouts.count_records(scanned.head, layout) if whole else scanned.lines - scanned.continued
    return Reading(scanned, numbers, tuple(events), tuple(marks), layout, count)
