"""Stamps to times: one clock a source, its assumptions told.

Aug 22 03:00:07 (no year, no zone), file written 2025-08-22 -> 2025-08-22T03:00:07+00:00, two warnings
[11686.888109] (seconds since boot, no anchor)              -> no time, lane `boot of dmesg.txt`
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from forensics.layouts import peel
from forensics.model import Event, Line, Scan, Stamp, Warn, Warning
from forensics.text import last_frame

WALL = "wall"
SLACK = timedelta(days=1)  # a file may be copied to a machine whose clock or zone differs
ZONE_UNCERTAINTY_S = 3.0  # two wall clocks of one machine, both rounded to seconds


@dataclass(frozen=True, slots=True)
class Clock:
    """How the stamps of one source become times.

    `year`, `date`: what its stamps lack, where it is known. `boot`: the time of second 0 where a line told both clocks.
    `kind`: as told in the report's sources.
    """

    kind: str
    year: int | None = None
    date: datetime | None = None
    boot: datetime | None = None

    def time(self, stamp: Stamp | None) -> datetime | None:
        """The time of a stamp by this clock; None where it cannot be known."""
        if stamp is None:
            return None
        if stamp.wall is None:
            return self.boot + timedelta(seconds=stamp.mono) if self.boot and stamp.mono is not None else None
        wall = stamp.wall
        try:
            if stamp.lacks == "year":
                if self.year is None:
                    return None
                wall = wall.replace(year=self.year)
            elif stamp.lacks == "date":
                if self.date is None:
                    return None
                wall = wall.replace(year=self.date.year, month=self.date.month, day=self.date.day)
        except ValueError:  # 29 February of a year that has none
            return None
        return wall if wall.tzinfo else wall.replace(tzinfo=UTC)


def clock_of(scan: Scan, others: list[datetime], warn: Warn) -> Clock:
    """The clock of one source, by its first and last lines; `others`: full times met in the sources beside it."""
    stamps = [s for s in (peel(_text(line)).stamp for line in (*scan.head, *scan.tail)) if s]
    name = scan.source.name
    if not stamps:
        return Clock("none")
    walls = [s for s in stamps if s.wall]
    if not walls:
        return Clock("mono")
    year = date = None
    if any(s.lacks == "year" for s in walls):
        year = _year([s for s in walls if s.lacks == "year"], others, scan.source.modified)
        told = f"its stamps have no year; {year} was taken" if year else "its stamps have no year and nothing tells it"
        warn(Warning("year", told, name))
    if any(s.lacks == "date" for s in walls) and not (year or any(not s.lacks for s in walls)):
        date = _date(walls, others, scan.source.modified)
        told = f"its stamps have no date; {date:%Y-%m-%d} was taken" if date else "its stamps have no date and nothing tells it"
        warn(Warning("date", told, name))
    zoned = all(s.wall and s.wall.tzinfo for s in walls)
    if not zoned:
        warn(Warning("zone", "its stamps have no time zone; UTC was taken, as for every other source without one", name))
    clock = Clock("wall+zone" if zoned else "wall", year, date)
    both = next((s for s in stamps if s.wall and s.mono is not None), None)
    anchor = clock.time(both) if both else None
    if both and anchor and both.mono is not None:
        clock = replace(clock, kind="wall+mono", boot=anchor - timedelta(seconds=both.mono))
    return clock


def full_times(scan: Scan) -> list[datetime]:
    """Times of a source's first and last lines that need no assumption but a zone."""
    stamps = (peel(_text(line)).stamp for line in (*scan.head, *scan.tail))
    walls = [s.wall for s in stamps if s and s.wall and not s.lacks]
    return [w if w.tzinfo else w.replace(tzinfo=UTC) for w in walls]


def _text(line: Line) -> str:
    return last_frame(line.text.encode("utf-8", "replace")) if "\r" in line.text else line.text


def _year(stamps: list[Stamp], others: list[datetime], modified: datetime | None) -> int | None:
    """The latest year in which the last of `stamps` is not after the other sources' last time, else not after the file's."""
    anchor = max(others, default=modified)
    last = stamps[-1].wall
    if anchor is None or last is None:
        return None
    for year in range(anchor.year + 1, anchor.year - 5, -1):
        try:
            if last.replace(year=year, tzinfo=UTC) <= anchor + SLACK:
                return year
        except ValueError:  # 29 February
            continue
    return None


def _date(stamps: list[Stamp], others: list[datetime], modified: datetime | None) -> datetime | None:
    """The day of the other source whose clock is nearest, else the day the file was written."""
    times = [s.wall for s in stamps if s.wall and s.lacks == "date"]
    if others:
        last = times[-1]
        return min(
            others, key=lambda o: abs((o - o.replace(hour=last.hour, minute=last.minute, second=last.second)).total_seconds())
        )
    return modified


def place(events: list[Event], clocks: dict[str, Clock]) -> list[Event]:
    """`events` with time, uncertainty in seconds and lane, in order: placed ones by time, others by source and line."""
    placed = [_place(e, clocks[e.source]) for e in events]
    return sorted(placed, key=lambda e: (e.lane, e.time or datetime.min.replace(tzinfo=UTC), e.source, e.line))


def _place(event: Event, clock: Clock) -> Event:
    time = clock.time(event.stamp)
    if time is None or event.stamp is None:
        lane = f"boot of {event.source}" if event.stamp and event.stamp.mono is not None else event.source
        return replace(event, lane=lane)
    uncertainty = event.stamp.resolution_s + (0.0 if clock.kind == "wall+zone" else ZONE_UNCERTAINTY_S)
    proofs = tuple(replace(p, time=time, uncertainty_s=round(uncertainty, 6)) for p in event.proofs)
    return replace(event, time=time, uncertainty_s=round(uncertainty, 6), lane=WALL, proofs=proofs)
