"""The words for the moment of a line that has no stamp of its own clock, and the year or date that its stamps lack."""

from datetime import datetime, tzinfo

from msgspec.structs import replace

from forensics.correlation.timestamp_resolver import Clock, naive, nearest_year
from forensics.model import Stamp
from forensics.readers.stamps.moment import Moment, seconds_between

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
