"""Infer the clock of a source from its own lines.

A year, date or zone that they lack is assumed from other sources or from the time of the file; each assumption is a Warning.

Aug 22 03:00:07 (no year, no zone), file written 2025-08-22 -> 2025-08-22T03:00:07+00:00, two warnings
Sat Nov 21 00:35:34 PST 2026, then 2026-11-21 00:35:43      -> zone -08:00, one warning
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from itertools import accumulate, pairwise

from msgspec.structs import replace

from forensics.correlation.timestamp_resolver import UPTIME_ERROR_S, Anchor, Clock, TimestampResolver, naive, nearest_year, span
from forensics.model import Source, Stamp, Warn, Warning
from forensics.model.logs import NO_ZONE
from forensics.readers.stamps.clock_samples import MAX_UTC_OFFSET, MIN_DAY_CHANGE, SMALLEST_ZONE_STEP_S, BootCounter, ClockSample

MAX_CLOCK_DIFFERENCE = timedelta(days=1)  # a file may be copied to a machine whose clock or zone differs
MAX_DAY_OFF = timedelta(days=3)  # a zone moves a day by one; the last days of a month count as its 28th
HALF_YEAR = timedelta(days=182)
MAX_NEXT_LINE_GAP_S = 60.0  # chosen by hand: between two lines that follow each other
MAX_PRINTED_DATE_GAP_S = 3600.0  # chosen by hand: between a line that `date` printed and the first line of the program
MIN_CLOCK_FALLS = 3  # without a single rise: one is a clock that was set, two may be two programs


def has_date(known: Iterable[ClockSample]) -> bool:
    """Has one of the samples a full date and time, so that at most the zone has to be assumed?"""
    return any(m.stamp and m.stamp.wall and not m.stamp.lacks for m in known)


def full_times(known: Iterable[ClockSample]) -> list[datetime]:
    """The times of those samples with a full date and time; at most their zone is an assumption."""
    walls = [m.stamp.wall for m in known if m.stamp and m.stamp.wall and not m.stamp.lacks]
    return [w if w.tzinfo else w.replace(tzinfo=UTC) for w in walls]


def infer_clock(
    source: Source,
    known: Sequence[ClockSample],
    others: list[datetime],
    warn: Warn,
    printed: Sequence[datetime] = (),
    local: timedelta | None = None,
) -> Clock:
    """The clock of `source` from its samples `known`, in order of line.

    `others`: full times in the other sources. `printed`: days that its lines print in full beside their stamps. `local`: the zone
    that a captured run recorded for its folder, as the offset from UTC.
    """
    name, modified, known = source.name, source.modified, tuple(known)
    stamps = [m.stamp for m in known if m.stamp and not m.header]
    walls = [s for s in stamps if s.wall]
    if not stamps:
        return Clock("none", samples=known)
    if not walls:
        return Clock("mono" if any(s.mono is not None for s in stamps) else "none", samples=known)
    backwards = _backwards(known)
    ordered = list(reversed(known)) if backwards else list(known)
    start = _start(ordered, name, modified, others, warn, printed)
    clock = Clock("wall", start=start, samples=tuple(ordered), backwards=backwards)
    if all(s.wall and s.wall.tzinfo for s in walls):
        clock = replace(clock, kind="wall+zone")
    else:
        recorded = recorded_zone(known) if local is None else local
        assumed_zone = _zone(ordered, name, warn) if recorded is None else timezone(recorded)
        clock = replace(clock, zone=assumed_zone or UTC, floating=assumed_zone is None)
    clock = _anchored(clock)
    first, last = span(clock, name)
    return replace(clock, first=first, last=last)


def _backwards(known: Sequence[ClockSample]) -> bool:
    """Do the dated lines only ever go back in time?"""
    walls = (naive(m.stamp.wall) for m in known if m.stamp and m.stamp.wall and not m.header and not m.stamp.lacks)
    falls = 0
    for before, after in pairwise(walls):
        if after > before:
            return False
        falls += after < before
    return falls >= MIN_CLOCK_FALLS


def _start(
    known: Sequence[ClockSample],
    name: str,
    modified: datetime | None,
    others: list[datetime],
    warn: Warn,
    printed: Sequence[datetime],
) -> datetime | None:
    """The source's own wall clock at its first stamp."""
    whole = next((m.stamp.wall for m in known if m.stamp and m.stamp.wall and not m.stamp.lacks), None)
    if whole:
        return naive(whole)
    walls = [m.stamp for m in known if m.stamp and m.stamp.wall]
    dated = [s.wall for s in walls if s.lacks == "year" and s.wall]
    if dated and (first_year := _printed_year(dated, printed)):
        return _valid(dated[0], first_year)
    if dated:
        year = _year(dated[-1], others, modified)
        why = f"{year} is assumed" if year else "nothing shows it"
        warn(Warning("year", f"the timestamps that were read have no year; {why}", name))
        return None if year is None else _valid(dated[0], year - sum(_new_years(dated)))
    times = [s.wall for s in walls if s.wall]
    date = _date(times[-1], others, modified)
    why = f"{date:%Y-%m-%d} is assumed for the last one" if date else "nothing shows it"
    warn(Warning("date", f"its timestamps have no date; {why}", name))
    if date is None:
        return None
    midnights = sum(b < a - MIN_DAY_CHANGE for a, b in pairwise(times))
    return datetime(date.year, date.month, date.day, times[0].hour, times[0].minute) - timedelta(days=midnights)


def _printed_year(dated: Sequence[datetime], printed: Sequence[datetime]) -> int | None:
    """The year of the first stamp, if its lines print the day of a stamp in full, and all that do agree; else None.

    Dec 29 21:58:37 ...  time: 2025-12-29_21:58:40     -> 2025
    """
    turns = accumulate([0, *map(int, _new_years(dated))]) if printed else ()
    days = {(stamp.month, stamp.day, turn): stamp for stamp, turn in zip(dated, turns, strict=False)}
    both = ((nearest_year(naive(stamp), day), day, turn) for (_, _, turn), stamp in days.items() for day in printed)
    years = {wall.year - turn for wall, day, turn in both if wall and abs(wall - day) <= MAX_DAY_OFF}
    return years.pop() if len(years) == 1 else None


def _new_years(dated: Sequence[datetime]) -> list[bool]:
    """For stamps without a year: whether a new year began before each. The stamps then fall back by half a year or more."""
    return [naive(b) < naive(a) - HALF_YEAR for a, b in pairwise(dated)]


def _valid(wall: datetime, year: int) -> datetime | None:
    return nearest_year(naive(wall), datetime(year, wall.month, min(wall.day, 28)))


def _year(last: datetime, others: list[datetime], modified: datetime | None) -> int | None:
    """The latest year in which the last stamp is not after the last time of the other sources, or after the file's time."""
    anchor = max(others, default=modified)
    if anchor is None:
        return None
    for year in range(anchor.year + 1, anchor.year - 5, -1):
        try:
            if last.replace(year=year, tzinfo=UTC) <= anchor + MAX_CLOCK_DIFFERENCE:
                return year
        except ValueError:  # 29 February
            continue
    return None


def _date(last: datetime, others: list[datetime], modified: datetime | None) -> datetime | None:
    """The day of the other source whose clock is nearest to the last stamp, else the day on which the file was written.

    If the last stamp is later than the clock of any zone at the moment when the file was written, it is of the day before: the
    file was written just after midnight.
    """
    if not others:
        difference = modified and modified.replace(hour=last.hour, minute=last.minute, second=last.second) - modified
        return modified - timedelta(days=1) if modified and difference and difference > MAX_UTC_OFFSET else modified
    best = min(others, key=lambda o: abs((o - _at(o, last)).total_seconds()))
    return _at(best, last)


def _at(day: datetime, clock: datetime) -> datetime:
    """`clock`'s time of the day before, on or after `day` that is nearest to it."""
    same = day.replace(hour=clock.hour, minute=clock.minute, second=clock.second)
    return min((same + timedelta(days=d) for d in (-1, 0, 1)), key=lambda t: abs(t - day))


def recorded_zone(known: Iterable[ClockSample]) -> timedelta | None:
    """The zone of times without one, as the offset from UTC, if a captured run recorded it; else None."""
    return next((m.local for m in known if m.local is not None), None)


def _zone(known: Sequence[ClockSample], name: str, warn: Warn) -> tzinfo | None:
    """The zone of the stamps without one, if a line next to them has a zone; else None and a Warning."""
    named = sorted({m.stamp.zone for m in known if m.stamp and m.stamp.zone})
    is_told = any(m.stamp and m.stamp.wall and m.stamp.wall.tzinfo for m in known)
    for zoned, bare in pairwise(known) if is_told else ():
        offset = _offset(zoned, bare)
        if offset is not None:
            assumption = f"{_shown(offset)} is assumed, as in line {zoned.line}"
            warn(Warning("zone", f"the timestamps that were read have no time zone; {assumption}", name))
            return timezone(offset)
    assumption = f"its zone {', '.join(named)} is ambiguous; UTC is assumed" if named else NO_ZONE
    warn(Warning("zone", assumption, name))
    return None


def _offset(zoned: ClockSample, bare: ClockSample) -> timedelta | None:
    """The zone of `bare`, if `zoned`, the stamp before it, is of the same clock or of the same minute; else None."""
    a, b = zoned.stamp, bare.stamp
    if not a or not b or not a.wall or not a.wall.tzinfo or a.lacks or not b.wall or b.wall.tzinfo or b.lacks == "date":
        return None
    local = a.wall.replace(tzinfo=None)
    wall = nearest_year(b.wall, local) if b.lacks else b.wall
    if wall is None:
        return None
    own = a.wall.utcoffset() or timedelta()
    gap = (wall - local).total_seconds()
    if zoned.header or -MAX_NEXT_LINE_GAP_S <= gap <= MAX_PRINTED_DATE_GAP_S:
        return own
    rest = (gap + MAX_NEXT_LINE_GAP_S / 2) % SMALLEST_ZONE_STEP_S - MAX_NEXT_LINE_GAP_S / 2
    if bare.line - zoned.line <= 3 and abs(rest) < MAX_NEXT_LINE_GAP_S / 2 and abs(gap) <= MAX_UTC_OFFSET.total_seconds():
        return own + timedelta(seconds=round((gap - rest) / SMALLEST_ZONE_STEP_S) * SMALLEST_ZONE_STEP_S)
    return None


def _shown(offset: timedelta) -> str:
    return datetime(2000, 1, 1, tzinfo=timezone(offset)).strftime("%z") or "+0000"


def _anchored(clock: Clock) -> Clock:
    """`clock` with an anchor for each line that shows both clocks."""
    if not any(m.stamp and m.stamp.wall and m.stamp.mono is not None for m in clock.samples):
        return clock
    counter, resolver, made = BootCounter(), TimestampResolver(clock, ""), clock
    for one in clock.samples:
        boot, placed = counter.feed(one), resolver.place(one)
        stamp: Stamp | None = one.stamp
        if placed.time and stamp and stamp.wall and stamp.mono is not None:
            zero = placed.time - timedelta(seconds=stamp.mono)
            made = made.anchored(boot, Anchor(one.line, stamp.mono, zero, stamp.resolution_s + UPTIME_ERROR_S))
    return replace(made, kind="wall+mono") if made.boots else made
