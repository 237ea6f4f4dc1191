"""Take ClockSamples from lines: what single lines show about the clock of their source.

    -- Logs begin at Fri 2025-08-22 03:00:07 UTC, end at ... --   -> ClockSample(line, wall 2025-08-22 03:00:07 UTC, header)
    [    0.000000] Linux version 6.8.0-45-generic ...             -> ClockSample(line, mono 0.0, boot)
    [Feb13 23:31] example                                         -> ClockSample(line, wall 02-13 23:31, lacks the year)
    Dec 12 09:13:10 node7 kernel: rtc_cmos 00:04: setting system clock to 2022-12-11T22:13:08 UTC
                                                                  -> ClockSample(line, wall 2022-12-12 09:13:10 +11:00)

A report needs only the lines that the scanner kept (the first and the last ones, hits, and those that TRIGGER finds). The
timeline reads every line.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta, timezone

from msgspec import Struct
from msgspec.structs import replace

from forensics.core import lazy
from forensics.core.shapes import ZEROS
from forensics.core.text import last_frame
from forensics.data_files.named_parts import patterns_of
from forensics.line_formats import may_have_prefix, parse_prefix, prefixes
from forensics.model import Line, Observation, Scan, Stamp, Trigger

MONTH_PREFIXES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# dmesg -H prints `[Feb13 23:31]` only when the minute changes; the lines after it have only steps in seconds. Literals of under
# eight bytes would slow down the whole scan, so the line end before it and each day are written out.
TRIGGER = Trigger(
    "clock",
    (
        "-- boot ",
        "-- reboot --",
        "-- logs begin at",
        "-- journal begins at",
        "linux version ",
        "setting system clock to",
        *(f"\n[{month}{day:>2} " for month in MONTH_PREFIXES for day in range(1, 32)),
    ),
)
PATTERNS = patterns_of("clock samples")
NEW_BOOT = lazy.regex(r"-- (?:Boot [0-9a-f]{32}|Reboot) --")
MAX_UTC_OFFSET = timedelta(hours=14)  # Kiribati: no zone is further from UTC
SMALLEST_ZONE_STEP_S = 900  # all zones are whole quarters of an hour
MAX_LOGGED_LATER_S = 60.0  # between the setting of the clock and the first line that a log daemon writes
MAX_DISORDER_S = 30.0  # chosen by hand: lines of two processors may be out of order by less; a new boot begins at zero
# A stamp without a date that is earlier than the one before it: by less than this it is out of order, by more of the next day.
MIN_DAY_CHANGE = timedelta(hours=6)


MAX_PRINTED_TEXTS = 4000  # chosen by hand: lines that are searched for a full date
MAX_PRINTED_DAYS = 200  # chosen by hand: no log of one failure has more


# Where one of these stands, a line tells of its clock more than its stamp: see clock_sample().
TOLD_BESIDE_STAMPS = ("\n-- ", "\r-- ", "forensics run: local", "setting system clock to", "Linux version ")


class ClockSample(Struct, frozen=True, gc=False):
    """A line and its stamp. `boot`: a boot begins here. `header`: a heading, whose stamp is valid for the lines after it.
    `local`: what the line says about the zone of all times without one, as the offset from UTC."""

    line: int
    stamp: Stamp | None = None
    boot: bool = False
    header: bool = False
    local: timedelta | None = None


def clock_sample(line: Line, stamp: Stamp | None = None) -> ClockSample | None:
    """The ClockSample of a line; None if it shows nothing. `stamp`: of its prefix, if that was parsed before."""
    text = line.text
    if text.startswith("-- "):
        begins = PATTERNS.begins.match(text)
        if begins:  # the time has the format of `journalctl -o short-full`, so it is parsed as such a line
            return ClockSample(line.number, parse_prefix(f"{begins[1]} host journal: ").stamp, header=True)
        return ClockSample(line.number, boot=True, header=True) if NEW_BOOT.match(text) else None
    stamp = stamp or parse_prefix(text).stamp
    local = PATTERNS.local_zone.search(text) if "forensics run: local" in text else None
    if local:
        offset = timedelta(hours=int(local[2]), minutes=int(local[3]))
        return ClockSample(line.number, stamp, local=-offset if local[1] == "-" else offset)
    if stamp is None:
        return None
    if stamp.lacks == "year" and stamp.wall and (utc := PATTERNS.clock_set.search(text)):
        stamp = _with_year_and_zone(stamp, stamp.wall, datetime.fromisoformat(utc[1]))
    return ClockSample(line.number, stamp, boot=stamp.mono is not None and "Linux version " in text)


def _with_year_and_zone(stamp: Stamp, wall: datetime, utc: datetime) -> Stamp:
    """The complete `stamp` of a line written within a minute after `utc`; unchanged if no zone has its `wall`, without a year."""
    if (wall.month, wall.day) == (2, 29):
        return stamp
    years = (wall.replace(year=utc.year + d, tzinfo=None) for d in (-1, 0, 1))
    dated = min(years, key=lambda t: abs(t - utc))
    ahead = (dated - utc).total_seconds()
    offset = ahead // SMALLEST_ZONE_STEP_S * SMALLEST_ZONE_STEP_S
    if ahead - offset > MAX_LOGGED_LATER_S or abs(offset) > MAX_UTC_OFFSET.total_seconds():
        return stamp
    return replace(stamp, wall=dated.replace(tzinfo=timezone(timedelta(seconds=offset))), lacks="")


def clock_samples(scan: Scan, events: Iterable[Observation] = ()) -> list[ClockSample]:
    """The samples of the lines that a scan kept, in order of line, each line once."""
    stamped = [event for event in events if event.stamp]
    if scan.tail is scan.head and not scan.hits and not stamped and TRIGGER.kind not in scan.regions:
        return SamplesOfLines(samples_of(scan.head))
    lines = {x.number: x for x in scan.tail} if scan.tail is not scan.head else {}
    lines |= {x.number: x for hit in scan.hits for x in hit.lines}
    lines |= {r.number: r.line for r in scan.regions.get(TRIGGER.kind, ())}
    found = {x.number: made for x in map(_last_shown, lines.values()) if (made := clock_sample(x))}
    found |= {made.line: made for made in samples_of(scan.head) if made.line not in lines}
    for event in stamped:
        found.setdefault(event.line, ClockSample(event.line, event.stamp))
    return [found[n] for n in sorted(found)]


class SamplesOfLines(list[ClockSample]):
    """The samples that the first lines of a source show, where nothing else shows more."""


def samples_of(lines: Sequence[Line]) -> list[ClockSample]:
    """The samples of `lines`, in order, whose prefixes other stages ask for, too."""
    parsed = prefixes(lines)
    joined = "\n".join([line.text for line in lines])
    if joined.startswith("-- ") or any(map(joined.__contains__, TOLD_BESIDE_STAMPS)):
        return [made for line in lines if (made := clock_sample(_last_shown(line)))]
    several = "\r" in joined
    return [
        ClockSample(line.number, stamp)
        for line, prefix in zip(lines, parsed, strict=True)
        if (stamp := _stamp_of_frame(line) if several and "\r" in line.text else prefix.stamp)
    ]


def _stamp_of_frame(line: Line) -> Stamp | None:
    """The stamp of the last frame of a line."""
    text = _last_shown(line).text
    return parse_prefix(text).stamp if may_have_prefix(text.translate(ZEROS)) else None


def _last_shown(line: Line) -> Line:
    return line if "\r" not in line.text else Line(line.number, last_frame(line.text.encode("utf-8", "replace")))


def printed_dates(scan: Scan) -> list[datetime]:
    """The full dates in the texts of the lines that a scan kept: `audit(1458695528.636:26)`, `2025-12-29_21:58:40`."""
    texts = [x.text for x in (*scan.head, *scan.tail)] + [x.text for hit in scan.hits for x in hit.lines]
    found: set[datetime] = set()
    for m in (m for text in texts[:MAX_PRINTED_TEXTS] for m in PATTERNS.printed_date.finditer(text)):
        if m["epoch"]:
            found.add(datetime.fromtimestamp(int(m["epoch"]), UTC).replace(tzinfo=None))
        elif 1 <= int(m["month"]) <= 12 and int(m["day"]):  # to the month's last days the 28th is near enough
            found.add(datetime(int(m["year"]), int(m["month"]), min(28, int(m["day"]))))
    return sorted({datetime(d.year, d.month, d.day) for d in found})[:MAX_PRINTED_DAYS]


class BootCounter:
    """Counts the boots of a source, sample by sample: at a boot the uptime falls, or a line says that the machine booted."""

    def __init__(self) -> None:
        self.count = 0
        self.uptime = -1.0  # highest of this boot
        self.announced = False

    def feed(self, sample: ClockSample) -> int:
        """The number of the boot of the sample `sample`, from 0."""
        uptime = sample.stamp.mono if sample.stamp and not sample.header else None
        if sample.boot and sample.header:
            self.announced = True
        if uptime is None:
            return self.count
        fell = self.uptime - uptime
        if self.uptime >= 0 and (self.announced or fell > MAX_DISORDER_S or (sample.boot and fell > 0)):
            self.count += 1
            self.uptime = -1.0
        self.announced = False
        self.uptime = max(self.uptime, uptime)
        return self.count


def needed_samples(samples: Iterable[ClockSample]) -> Iterator[ClockSample]:
    """Of the samples of all lines, those that a clock needs: first and last, boots, steps back, dates, changes of the anchor."""
    boots, boot, zero = BootCounter(), -1, 0.0
    last: ClockSample | None = None
    before: Stamp | None = None
    for number, one in enumerate(samples):
        stamp = one.stamp
        here = boots.feed(one)
        keep = number < 60 or one.boot or one.header or here != boot or _changes_date(before, stamp)
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


def _changes_date(before: Stamp | None, stamp: Stamp | None) -> bool:
    """Does a date, a year or the kind of stamp change between two stamped lines?"""
    if before is None or stamp is None or before.wall is None or stamp.wall is None:
        return False
    if before.lacks != stamp.lacks or (before.wall.tzinfo is None) != (stamp.wall.tzinfo is None):
        return True
    a, b = before.wall.replace(tzinfo=None), stamp.wall.replace(tzinfo=None)
    return bool(stamp.lacks) and a - b > MIN_DAY_CHANGE
