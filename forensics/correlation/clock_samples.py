"""Lines to Marks: what single lines tell about the clock of their source.

    -- Logs begin at Fri 2025-08-22 03:00:07 UTC, end at ... --   -> Mark(line, wall 2025-08-22 03:00:07 UTC, header)
    [    0.000000] Linux version 6.8.0-45-generic ...             -> Mark(line, mono 0.0, boot)
    [Feb13 23:31] example                                         -> Mark(line, wall 02-13 23:31, lacks the year)

The scanner's few lines of a source (its ends, its hits, those that TRIGGER finds) are enough for a report; every line of it is
looked at for the timeline.
"""

from collections.abc import Iterable, Iterator
from datetime import timedelta

from msgspec import Struct

from forensics.core import lazy
from forensics.core.text import last_frame
from forensics.line_formats import parse_prefix
from forensics.model import Line, Observation, Scan, Stamp, Trigger

MONTH_PREFIXES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# `[Feb13 23:31]` of dmesg -H stands only where the minute changes; the lines behind it tell no more than steps. Anchors of under
# eight bytes would slow down the scan of everything, so the line end in front and each day are spelled out.
TRIGGER = Trigger(
    "clock",
    (
        "-- boot ",
        "-- reboot --",
        "-- logs begin at",
        "-- journal begins at",
        "linux version ",
        *(f"\n[{month}{day:>2} " for month in MONTH_PREFIXES for day in range(1, 32)),
    ),
)
BEGINS = lazy.regex(r"-- (?:Logs|Journal) begins? at (.{10,60}?), ends? at ")
NEW_BOOT = lazy.regex(r"-- (?:Boot [0-9a-f]{32}|Reboot) --")
DISORDER_S = 30.0  # two processors' lines may lie back by less; a boot starts anew at zero
FALL = timedelta(hours=6)


class Mark(Struct, frozen=True):
    """A line and what it tells. `boot`: here a boot begins. `header`: its stamp is that of no line, but holds for them."""

    line: int
    stamp: Stamp | None = None
    boot: bool = False
    header: bool = False


def mark(line: Line, stamp: Stamp | None = None) -> Mark | None:
    """The Mark of a line, None where it tells nothing; `stamp`: where the line was peeled before."""
    text = line.text
    if text.startswith("-- "):
        begins = BEGINS.match(text)
        if begins:  # written as in short-full, and so is read as such a line
            return Mark(line.number, parse_prefix(f"{begins[1]} host journal: ").stamp, header=True)
        return Mark(line.number, boot=True, header=True) if NEW_BOOT.match(text) else None
    stamp = stamp or parse_prefix(text).stamp
    if stamp is None:
        return None
    return Mark(line.number, stamp, boot=stamp.mono is not None and "Linux version " in text)


def marks(scan: Scan, events: Iterable[Observation] = ()) -> list[Mark]:
    """What a scan's known lines tell, in order of line, each line once."""
    lines = {x.number: x for x in (*scan.head, *scan.tail)}
    lines |= {x.number: x for hit in scan.hits for x in hit.lines}
    lines |= {r.number: Line(r.number, r.text) for r in scan.regions.get(TRIGGER.kind, ())}
    found = {n: made for n, x in lines.items() if (made := mark(Line(n, _last(x.text))))}
    for event in events:
        if event.stamp:
            found.setdefault(event.line, Mark(event.line, event.stamp))
    return [found[n] for n in sorted(found)]


def _last(text: str) -> str:
    return last_frame(text.encode("utf-8", "replace")) if "\r" in text else text


class Boots:
    """Counts the boots of a source as its marks come by: uptime that falls back, or a line that says so."""

    def __init__(self) -> None:
        self.count = 0
        self.uptime = -1.0  # highest of this boot
        self.announced = False

    def feed(self, mark: Mark) -> int:
        """The number of the boot that `mark` lies in, from 0."""
        uptime = mark.stamp.mono if mark.stamp and not mark.header else None
        if mark.boot and mark.header:
            self.announced = True
        if uptime is None:
            return self.count
        fell = self.uptime - uptime
        if self.uptime >= 0 and (self.announced or fell > DISORDER_S or (mark.boot and fell > 0)):
            self.count += 1
            self.uptime = -1.0
        self.announced = False
        self.uptime = max(self.uptime, uptime)
        return self.count


def telling(marks: Iterable[Mark]) -> Iterator[Mark]:
    """Of the marks of every line, those that a clock needs: the first ones, boots, falls, dates, changes of anchor, the last."""
    boots, boot, zero = Boots(), -1, 0.0
    last: Mark | None = None
    before: Stamp | None = None
    for number, one in enumerate(marks):
        stamp = one.stamp
        here = boots.feed(one)
        keep = number < 60 or one.boot or one.header or here != boot or _turns(before, stamp)
        if stamp and stamp.wall and stamp.mono is not None:
            since = stamp.wall.replace(tzinfo=None).timestamp() - stamp.mono
            keep = keep or abs(since - zero) > 1
            zero = since if keep else zero
        if stamp and stamp.wall:
            before = stamp
        boot, last = here, None if keep else one
        if keep:
            yield one
    if last:
        yield last


def _turns(before: Stamp | None, stamp: Stamp | None) -> bool:
    """Does a date, a year or the kind of stamp change between two stamped lines?"""
    if before is None or stamp is None or before.wall is None or stamp.wall is None:
        return False
    if before.lacks != stamp.lacks or (before.wall.tzinfo is None) != (stamp.wall.tzinfo is None):
        return True
    a, b = before.wall.replace(tzinfo=None), stamp.wall.replace(tzinfo=None)
    return bool(stamp.lacks) and a - b > FALL
