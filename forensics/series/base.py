"""A number that a log prints again and again: its readings in order, and what it measures.

step 40 rss 1,234.5 MB -> Reading(line 12, value 1294467072.0, step 40) of Series("rss", quantity "memory", unit "bytes")
"""

from collections.abc import Sequence
from itertools import accumulate, pairwise

from msgspec import Struct
from msgspec.structs import replace

# What a series can measure. `memory` is in bytes or percent, times in seconds, rates in units a second,
# `throttle` is 1 while clocks are held down, `limit` the most memory that is allowed, `events` a count that only rises.
QUANTITIES = (
    "memory", "loss", "grad_norm", "loss_scale", "lr", "step", "total", "epoch", "step_time", "data_time", "rate",
    "epoch_time", "temperature", "clock", "power", "throttle", "limit", "events",
)  # fmt: skip

UNEVEN = 64  # readings from which on a series may have been sampled unevenly


class Reading(Struct, frozen=True):
    """One number where it was printed. `step`: the step or epoch that its line tells, None where it tells none."""

    line: int
    text: str
    value: float
    step: float | None = None


class Series(Struct, frozen=True):
    """Readings of one quantity in order of their lines.

    `scope`: what it belongs to (`rank 3`, `gpu 0`), empty where nothing tells. `sense`, of memory: `used`, `free` or `peak`
    (a high-water mark, or memory that an allocator keeps: it never falls by itself). `gpu`: memory of a GPU, else of the host.
    """

    name: str
    quantity: str
    unit: str
    scope: str
    readings: tuple[Reading, ...]
    sense: str = ""
    gpu: bool = False

    @property
    def values(self) -> list[float]:
        """The numbers alone."""
        return [r.value for r in self.readings]

    def evenly_sampled(self, most: int) -> "Series":
        """An even sample of at most `most` + 1 readings that keeps the first and the last."""
        count = len(self.readings)
        if count <= most:
            return self
        stride = -(-count // most)
        kept = self.readings[::stride]
        return replace(self, readings=kept if kept[-1] is self.readings[-1] else (*kept, self.readings[-1]))

    def evened(self, most: int) -> "Series":
        """At most about `most` readings, evenly over the lines.

        Of a large log the scanner samples the beginning and the end line by line and the rest in windows; where half of the
        readings lie in the first fifth of the lines, all are thinned to the distance that is kept over most of the rest.
        """
        first, last = self.readings[0].line, self.readings[-1].line
        if len(self.readings) < UNEVEN or self.readings[len(self.readings) // 2].line - first >= (last - first) / 5:
            return self.evenly_sampled(most)
        apart = 0.75 * _usual_gap([r.line for r in self.readings if r.line > first + (last - first) / 5])
        kept = [self.readings[0]]
        for reading in self.readings[1:]:
            if reading.line - kept[-1].line >= apart:
                kept.append(reading)
        return replace(self, readings=tuple(kept)).evenly_sampled(most)


def _usual_gap(lines: Sequence[int]) -> int:
    """The distance such that half of the way from the first of `lines` to the last is made in steps of at least so many."""
    gaps = sorted((b - a for a, b in pairwise(lines)), reverse=True)
    half = sum(gaps) / 2
    return next((gap for gap, way in zip(gaps, accumulate(gaps), strict=True) if way >= half), 0)
