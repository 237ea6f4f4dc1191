"""The clock of one source: how its stamps become times, in order, and whether they are in order at all.

Years and dates continue from line to line, boots are counted:

Clock(start 2025-12-31 23:59:50): "Dec 31 23:59:58" -> 2025, "Jan  1 00:00:03" -> 2026
Clock(start 2024-05-13 23:50):    "[I 23:59:59 ..." -> the 13th, "[I 00:00:02 ..." -> the 14th

The clock of one source: how its stamps become times. It has a kind, a zone, a first year or date, and the times of boots.

Find out whether a source is out of order: its stamps go back and forth, so the order of its lines means nothing.

03:00:09 step 90 / 03:00:02 step 20 / 03:00:07 step 70 / 03:00:01 step 10 ...     -> yes: sorted by something else, or mixed

These are in order: a clock that was set, a file to which another run is appended, ranks that write a moment late, and a log with
the newest line first. Their stamps go back rarely, by little, or in one direction only.

The words for the moment of a line that has no stamp of its own clock, and the year or date that its stamps lack.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise
from operator import gt

from msgspec import Struct
from msgspec.structs import replace

from forensics.model import Stamp
from forensics.readers.stamps.clock_samples import MIN_DAY_CHANGE, BootCounter, ClockSample
from forensics.readers.stamps.moment import Moment, seconds_between

UPTIME_ERROR_S = 1.0  # a program stamps a line a little after the kernel counted its time


class Anchor(Struct, frozen=True):
    """A line that shows both clocks: its number, the seconds since boot, the time of the boot, and its error in seconds."""

    line: int
    uptime: float
    zero: datetime
    off_s: float


class Clock(Struct, frozen=True):
    """The clock of one source.

    `kind`: as in the report's table of sources. `start`: its wall clock, without zone, near its first stamp; years and dates that
    stamps lack are counted from there; None if unknown. `zone`: of stamps without one. `floating`: that zone is an assumption.
    `boots`: for each boot, in order, the anchors that give it times. `samples`: the lines that this clock was inferred from.
    `first`, `last`: its earliest and latest known time. `backwards`: the newest line is the first one.
    """

    kind: str
    start: datetime | None = None
    zone: tzinfo = UTC
    floating: bool = False
    boots: tuple[tuple[Anchor, ...], ...] = ()
    samples: tuple[ClockSample, ...] = ()
    first: datetime | None = None
    last: datetime | None = None
    backwards: bool = False

    def since_boot(self, boot: int, uptime: float, line: int) -> tuple[datetime | None, float]:
        """The time `uptime` seconds into a boot, by the nearest anchor of that boot, and its uncertainty in seconds."""
        anchors = self.boots[boot] if boot < len(self.boots) else ()
        if not anchors:
            return None, 0.0
        best = min(anchors, key=lambda a: (abs(a.uptime - uptime), abs(a.line - line)))
        return best.zero + timedelta(seconds=uptime), best.off_s

    def unanchored(self) -> bool:
        """Does it count seconds since a boot whose time is unknown?"""
        if not any(m.stamp and m.stamp.mono is not None for m in self.samples):
            return False
        counter = BootCounter()
        counted = [(counter.feed(m), m.stamp) for m in self.samples]
        alone = {n for n, s in counted if s and s.mono is not None and s.wall is None}
        return any(n >= len(self.boots) or not self.boots[n] for n in alone)

    def anchored(self, boot: int, anchor: Anchor) -> "Clock":
        """This clock with one more anchor."""
        boots = [*self.boots, *[()] * (boot + 1 - len(self.boots))]
        boots[boot] = (*boots[boot], anchor)
        return replace(self, boots=tuple(boots))


WALL = "wall"
ZONE_UNCERTAINTY_S = 3.0  # chosen by hand: two wall clocks of one machine, both rounded to seconds


class ResolvedTime(Struct, frozen=True):
    """The time of a line and its uncertainty in seconds, None if unknown; its lane; its seconds since boot."""

    time: datetime | None
    uncertainty_s: float | None
    lane: str
    uptime_s: float | None = None


class TimestampResolver:
    """Gives times to the samples of one source, one by one in order of line."""

    def __init__(self, clock: Clock, source: str) -> None:
        self.clock, self.source = clock, source
        self.near = clock.start
        self.boots = BootCounter()
        self.minute: datetime | None = None  # the last full stamp, for lines that give seconds since it
        self.steps = 0.0

    def place(self, sample: ClockSample) -> ResolvedTime:
        """The time of the next line; unknown for one without a stamp."""
        boot, time, spread = self._resolved(sample)
        stamp = sample.stamp
        if stamp is None or sample.header:
            return ResolvedTime(None, None, self.source)
        if time is not None:
            return ResolvedTime(time, round(stamp.resolution_s + spread, 6), WALL, stamp.mono)
        if stamp.mono is None:
            return ResolvedTime(None, None, self.source)
        number = f"boot {boot + 1} of" if boot else "boot of"
        return ResolvedTime(None, None, f"{number} {self.source}", stamp.mono)

    def time(self, sample: ClockSample) -> datetime | None:
        """The time of the next line, for a caller that needs no more."""
        return self._resolved(sample)[1]

    def _resolved(self, sample: ClockSample) -> tuple[int, datetime | None, float]:
        """The number of the boot of the next line, its time, and how far the clock may be off, in seconds."""
        boot = self.boots.feed(sample)
        stamp = sample.stamp
        if stamp is None or sample.header:
            return boot, None, 0.0
        time = self._wall(stamp)
        if time is None and stamp.mono is not None:
            return boot, *self.clock.since_boot(boot, stamp.mono, sample.line)
        return boot, time, 0.0 if self.clock.kind == "wall+zone" else ZONE_UNCERTAINTY_S

    def _wall(self, stamp: Stamp) -> datetime | None:
        if stamp.delta is not None:
            return self._step(stamp.delta)
        if stamp.wall is None:
            return None
        wall = self._whole(stamp)
        if wall is None:
            return None
        self.near = wall
        time = wall if wall.tzinfo else datetime.combine(wall, wall.time(), self.clock.zone)  # faster than replace()
        self.minute, self.steps = time, 0.0
        return time

    def _whole(self, stamp: Stamp) -> datetime | None:
        """The wall clock of the stamp, with its year and date completed; None if these are unknown."""
        wall = stamp.wall
        if wall is None or not stamp.lacks:
            return wall
        if self.near is None:
            return None
        near = naive(self.near)
        if stamp.lacks == "year":
            return nearest_year(wall, near)
        wall = wall.replace(year=near.year, month=near.month, day=near.day)
        day = timedelta(days=1)
        if naive(wall) < near - MIN_DAY_CHANGE:
            return wall + day
        return wall - day if naive(wall) > near - MIN_DAY_CHANGE + day else wall

    def _step(self, delta: float) -> datetime | None:
        """The time of a step of dmesg -H; it is within the last minute that was printed, because a new one would be printed."""
        if self.minute is None:
            return None
        self.steps += delta
        return self.minute + timedelta(seconds=min(self.steps, 59.999))


def naive(wall: datetime) -> datetime:
    """`wall` without its zone. Most stamps have none and are returned as they are: a copy takes two microseconds."""
    return wall if wall.tzinfo is None else wall.replace(tzinfo=None)


def nearest_year(wall: datetime, near: datetime) -> datetime | None:
    """`wall` in the year that brings it nearest to `near`; None for a 29 February that no such year has."""
    if abs(wall.month - near.month) < 6:  # less than half a year apart within one year, as nearly every line is
        try:
            return wall.replace(year=near.year)
        except ValueError:
            pass
    found: list[datetime] = []
    for year in (near.year - 1, near.year, near.year + 1):
        try:
            found.append(wall.replace(year=year))
        except ValueError:
            continue
    return min(found, key=lambda w: abs(naive(w) - naive(near)), default=None)


def span(clock: Clock, source: str) -> tuple[datetime | None, datetime | None]:
    """The earliest and the latest time among the samples of a clock."""
    if walls := _whole_walls(clock):  # of one zone they compare as they are
        first, last = (w if w.tzinfo else datetime.combine(w, w.time(), clock.zone) for w in (min(walls), max(walls)))
        return first, last
    resolver = TimestampResolver(clock, source)
    times = [t for t in map(resolver.time, clock.samples) if t]
    return min(times, default=None), max(times, default=None)


def _whole_walls(clock: Clock) -> list[datetime]:
    """The wall clocks of all samples, their years completed; empty if one lacks more than that, or if zones differ."""
    near, walls = clock.start, list[datetime]()
    for stamp in (m.stamp for m in clock.samples if m.stamp and not m.header):
        wall = stamp.wall if stamp.delta is None and stamp.lacks != "date" else None
        if wall and stamp.lacks:
            wall = nearest_year(wall, naive(near)) if near else None
        if wall is None:
            return []
        near = wall
        walls.append(wall)
    return walls if len({wall.tzinfo for wall in walls}) == 1 else []


MIN_STAMPED_LINES = 12  # with fewer, any order may be chance
MIN_BACKWARD_SHARE = 1 / 3  # of the steps from one stamp to the next, those that go back; half of them in random order
LEAP_YEAR_START = datetime(1904, 1, 1)
MIN_BACKWARD_SPANS = 2.5  # the sum of all steps back, in spans of the log; n / 6 for n lines in random order


def is_disordered(samples: Iterable[ClockSample]) -> bool:
    """Is the source of these samples out of order? `samples`: in order of line."""
    stamps = [s.stamp for s in samples if s.stamp and not s.header and s.stamp.delta is None]
    if len(stamps) < MIN_STAMPED_LINES or _seldom_go_back(stamps):
        return False
    times = [seconds for stamp in stamps if (seconds := stamp.seconds) is not None]
    span = max(times, default=0.0) - min(times, default=0.0)
    back = [a - b for a, b in pairwise(times) if b < a]
    forth = len(times) - 1 - len(back)
    return (
        len(times) >= MIN_STAMPED_LINES
        and len(back) / (len(times) - 1) >= MIN_BACKWARD_SHARE
        and forth > 0
        and sum(back) > MIN_BACKWARD_SPANS * span > 0
    )


def _seldom_go_back(stamps: Sequence[Stamp]) -> bool:
    """Have all stamps a wall clock, which seldom goes back from one to the next, as in most logs?"""
    walls = [naive(stamp.wall) for stamp in stamps if stamp.wall is not None]
    return len(walls) == len(stamps) and sum(map(gt, walls, walls[1:])) < MIN_BACKWARD_SHARE * (len(walls) - 1)


FORMATS = {"date": "%H:%M:%S", "year": "%b %d %H:%M:%S", "": "%Y-%m-%d %H:%M:%S"}  # by what a stamp lacks


def completed(moment: Moment, clock: Clock) -> Moment:
    """`moment` with the year or the date that its stamps lack, of a `clock` whose own were told by another source."""
    return Moment(*(_completed(s, clock) if s else None for s in (moment.at, moment.after, moment.before)))


def in_one_zone(moment: Moment, clock: Clock) -> Moment:
    """`moment` with two stamps of one kind: if only one of them has a zone, it is given in that of the `clock`, without it. So is
    the stamp of its own that a line of another program tells in another zone.

    Where the zone of the clock is only assumed, it is taken as written: a program prints both in the zone of its machine.
    """
    wall = moment.at.wall if moment.at else None
    if moment.at and wall and wall.tzinfo and not clock.floating and wall.utcoffset() != wall.astimezone(clock.zone).utcoffset():
        return Moment(_without_zone(moment.at, clock.zone))
    after, before = moment.after, moment.before
    if not after or not before or not after.wall or not before.wall:
        return moment
    if (after.wall.tzinfo is None) == (before.wall.tzinfo is None):
        return moment
    zone = None if clock.floating else clock.zone
    made = Moment(moment.at, _without_zone(after, zone), _without_zone(before, zone))
    return Moment(made.at, made.after, None) if seconds_between(Moment(made.after), Moment(made.before)) < 0 else made


def _without_zone(stamp: Stamp, zone: tzinfo | None) -> Stamp:
    """The stamp in `zone`, or as it is written, without its zone."""
    if not stamp.wall or not stamp.wall.tzinfo or stamp.lacks:
        return stamp
    wall = stamp.wall.astimezone(zone) if zone else stamp.wall
    return replace(stamp, wall=wall.replace(tzinfo=None))


def moment_text(moment: Moment) -> str:
    """`2025-12-26 16:03:03`, `after 15:54:07`, `between 15:54:07 and 15:55:10`; empty for an unknown one."""
    if moment.at:
        return _text(moment.at)
    after, before = (_text(s) if s else "" for s in (moment.after, moment.before))
    if moment.after and moment.before:
        if after == before:
            return after
        return f"between {after} and {_shortened(moment.after, moment.before)}"
    return f"after {after}" if after else f"before {before}" if before else ""


def _completed(stamp: Stamp, clock: Clock) -> Stamp:
    if not stamp.lacks or not stamp.wall or not clock.first or not clock.last:
        return stamp
    if stamp.lacks == "year":
        wall = nearest_year(naive(stamp.wall), naive(clock.first))
        return replace(stamp, wall=wall, lacks="") if wall else stamp
    if clock.first.date() != clock.last.date():
        return stamp
    return replace(stamp, wall=datetime.combine(clock.first.date(), stamp.wall.time(), stamp.wall.tzinfo), lacks="")


def _text(stamp: Stamp) -> str:
    wall = stamp.wall or datetime.min
    return wall.isoformat(sep=" ", timespec="seconds") if wall.tzinfo and not stamp.lacks else wall.strftime(FORMATS[stamp.lacks])


def _shortened(after: Stamp, before: Stamp) -> str:
    """The text of `before`, without its date if that is the one of `after`."""
    a, b = after.wall or datetime.min, before.wall or datetime.min
    same_zone = a.utcoffset() == b.utcoffset()
    same_day = (a.month, a.day) == (b.month, b.day) and (a.year == b.year or bool(after.lacks or before.lacks))
    if not same_zone or "date" in (after.lacks, before.lacks) or not same_day:
        return _text(before)
    return b.strftime(FORMATS["date"])
