"""How the stamps of one source become times: its kind, zone, first year or date, and when its boots began."""

from datetime import UTC, datetime, timedelta, tzinfo

from msgspec import Struct
from msgspec.structs import replace

from forensics.correlation.clock_samples import Boots, Mark

DRIFT_S = 1.0  # a line is stamped by its writer a little after the kernel counted


class Anchor(Struct, frozen=True):
    """A place where both clocks were told: its line, the seconds since boot, the time of second 0, what that may be off by."""

    line: int
    uptime: float
    zero: datetime
    off_s: float


class Clock(Struct, frozen=True):
    """The clock of one source.

    `kind`: as told in the report's sources. `start`: its own wall clock, without zone, near its first stamp: years and dates
    that stamps lack are told from there on; None where nothing tells them. `zone`: of the stamps without one; `floating`: it was
    only taken. `boots`: for each boot, in order, the anchors that give it times. `marks`: the lines it was made of.
    `first`, `last`: its earliest and latest known time.
    """

    kind: str
    start: datetime | None = None
    zone: tzinfo = UTC
    floating: bool = False
    boots: tuple[tuple[Anchor, ...], ...] = ()
    marks: tuple[Mark, ...] = ()
    first: datetime | None = None
    last: datetime | None = None
    backwards: bool = False

    def since_boot(self, boot: int, uptime: float, line: int) -> tuple[datetime | None, float]:
        """The time `uptime` seconds into a boot by the nearest anchor of that boot, and what it may be off by in seconds."""
        anchors = self.boots[boot] if boot < len(self.boots) else ()
        if not anchors:
            return None, 0.0
        best = min(anchors, key=lambda a: (abs(a.uptime - uptime), abs(a.line - line)))
        return best.zero + timedelta(seconds=uptime), best.off_s

    def unanchored(self) -> bool:
        """Does it tell seconds since a boot of which nothing says when it was?"""
        counter = Boots()
        counted = [(counter.feed(m), m.stamp) for m in self.marks]
        alone = {n for n, s in counted if s and s.mono is not None and s.wall is None}
        return any(n >= len(self.boots) or not self.boots[n] for n in alone)

    def anchored(self, boot: int, anchor: Anchor) -> "Clock":
        """This clock with one more anchor."""
        boots = [*self.boots, *[()] * (boot + 1 - len(self.boots))]
        boots[boot] = (*boots[boot], anchor)
        return replace(self, boots=tuple(boots))
