"""The clock of one source: how its stamps become times. It has a kind, a zone, a first year or date, and the times of boots."""

from datetime import UTC, datetime, timedelta, tzinfo

from msgspec import Struct
from msgspec.structs import replace

from forensics.readers.stamps.clock_samples import BootCounter, ClockSample

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
        counter = BootCounter()
        counted = [(counter.feed(m), m.stamp) for m in self.samples]
        alone = {n for n, s in counted if s and s.mono is not None and s.wall is None}
        return any(n >= len(self.boots) or not self.boots[n] for n in alone)

    def anchored(self, boot: int, anchor: Anchor) -> "Clock":
        """This clock with one more anchor."""
        boots = [*self.boots, *[()] * (boot + 1 - len(self.boots))]
        boots[boot] = (*boots[boot], anchor)
        return replace(self, boots=tuple(boots))
