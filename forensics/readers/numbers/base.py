"""A number that a log prints repeatedly: its readings in order, and what it measures.

step 40 rss 1,234.5 MB -> Reading(line 12, value 1294467072.0, step 40) of Series("rss", quantity "memory", unit "bytes")
"""

from collections.abc import Sequence
from itertools import accumulate, pairwise

from msgspec import Struct
from msgspec.structs import replace

# What a series can measure. `memory` is in bytes or percent, times are in seconds, rates in units per second. `throttle` is 1
# while the GPU lowers its clocks, `limit` is the maximum of memory in bytes, `events` is a counter.
QUANTITIES = (
    "memory", "loss", "grad_norm", "loss_scale", "lr", "step", "total", "epoch", "step_time", "data_time", "rate",
    "temperature", "clock", "power", "throttle", "limit", "events",
)  # fmt: skip

MIN_UNEVEN_READINGS = 64  # shorter series are never sampled unevenly by the scanner
MIN_STRONG_READINGS = 16  # with fewer readings a trend may be chance: it is a hint, never strong evidence


class Reading(Struct, frozen=True):
    """One number and the line that printed it. `step`: the step or epoch on the same line; None if it has none. `time_s`: its
    time in seconds, if the tool prints it in a form that is no timestamp of the line."""

    line: int
    text: str
    value: float
    step: float | None = None
    time_s: float | None = None


class Series(Struct, frozen=True):
    """Readings of one quantity in order of their lines.

    `scope`: what it belongs to (`rank 3`, `gpu 0`); empty if unknown. `sense`, only of memory: `used`, `free` or `peak` (a
    high-water mark, or memory that an allocator keeps: it never falls by itself). `gpu`: GPU memory, else host memory.
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
        """The values of all readings."""
        return [r.value for r in self.readings]

    def evenly_sampled(self, max_readings: int) -> "Series":
        """Every n-th reading, at most `max_readings` + 1 of them, with the first and the last."""
        count = len(self.readings)
        if count <= max_readings:
            return self
        stride = -(-count // max_readings)
        kept = self.readings[::stride]
        return replace(self, readings=kept if kept[-1] is self.readings[-1] else (*kept, self.readings[-1]))

    def evenly_spaced(self, max_readings: int) -> "Series":
        """About `max_readings` readings at most, with similar distances between their lines.

        The scanner keeps each line at the beginning and the end of a large log and samples windows of the rest. If half of the
        readings lie in the first fifth of the lines, all are thinned to the distance that is usual in the rest, and the last
        one is kept.
        """
        first, last = self.readings[0].line, self.readings[-1].line
        if len(self.readings) < MIN_UNEVEN_READINGS or self.readings[len(self.readings) // 2].line - first >= (last - first) / 5:
            return self.evenly_sampled(max_readings)
        min_gap = 0.75 * _usual_gap([r.line for r in self.readings if r.line > first + (last - first) / 5])
        kept = [self.readings[0]]
        for reading in self.readings[1:]:
            if reading.line - kept[-1].line >= min_gap:
                kept.append(reading)
        if kept[-1] is not self.readings[-1]:
            kept.append(self.readings[-1])
        return replace(self, readings=tuple(kept)).evenly_sampled(max_readings)


def _usual_gap(lines: Sequence[int]) -> int:
    """The length-weighted median gap (N50): gaps of at least this size cover half of the way from the first line to the last."""
    gaps = sorted((b - a for a, b in pairwise(lines)), reverse=True)
    half = sum(gaps) / 2
    return next((gap for gap, covered in zip(gaps, accumulate(gaps), strict=True) if covered >= half), 0)
