"""What readers of numbers share: a reading with its place and time, a series of readings, a cell of a table.

A number that a log prints repeatedly: its readings in order, and what it measures.

step 40 rss 1,234.5 MB -> Reading(line 12, value 1294467072.0, step 40) of Series("rss", quantity "memory", unit "bytes")

Series from tables: numbers whose meaning is given by their column, not by a label on the line.

A row "0  43  35  1075" below "# gpu  pwr gtemp  pclk" -> Cell(line 3, SM clock in MHz, "gpu 0", 1075.0)
"""

import datetime
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from operator import itemgetter
from typing import overload

from msgspec import Struct
from msgspec.structs import replace

from forensics.line_formats import parse_prefix
from forensics.model import Line, Stamp


def stamp_of(text: str) -> Stamp | None:
    """The timestamp of a line; None if it has none."""
    return parse_prefix(text).stamp


def seconds_of(text: str) -> float | None:
    """The time of a line in seconds, by its own clock; None if it has no timestamp, or one without a date."""
    stamp = stamp_of(text)
    if stamp is None or stamp.lacks == "date":
        return None if stamp is None else stamp.mono
    return stamp.wall.replace(tzinfo=datetime.UTC).timestamp() if stamp.wall else stamp.mono


# A quantity of `memory` is in bytes or percent, times are in seconds, rates in units per second. `throttle` is 1 while the GPU
# lowers its clocks, `limit` is the maximum of memory in bytes, `events` is a counter.

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


class Readings(Sequence[Reading]):
    """Readings as columns, all of one length; a Reading is made where one is asked for."""

    __slots__ = ("lines", "steps", "texts", "values")

    def __init__(
        self, lines: Sequence[int], texts: Sequence[str], values: Sequence[float], steps: Sequence[float | None]
    ) -> None:
        self.lines, self.texts, self.values, self.steps = lines, texts, values, steps

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, at: int) -> Reading: ...
    @overload
    def __getitem__(self, at: slice) -> "Readings": ...
    def __getitem__(self, at: int | slice) -> "Reading | Readings":
        if isinstance(at, slice):
            return Readings(self.lines[at], self.texts[at], self.values[at], self.steps[at])
        return Reading(self.lines[at], self.texts[at], self.values[at], self.steps[at])

    def __iter__(self) -> Iterator[Reading]:
        return map(Reading, self.lines, self.texts, self.values, self.steps)

    def times(self, factor: float) -> "Readings":
        """With each value times `factor`."""
        return Readings(self.lines, self.texts, [value * factor for value in self.values], self.steps)

    def picked(self, places: Sequence[int]) -> "Readings":
        """Those at `places`, in that order."""
        pick = itemgetter(*places) if len(places) > 1 else lambda column: [column[i] for i in places]
        return Readings(pick(self.lines), pick(self.texts), pick(self.values), pick(self.steps))


class Series(Struct, frozen=True):
    """Readings of one quantity in order of their lines.

    `scope`: what it belongs to (`rank 3`, `gpu 0`); empty if unknown. `sense`, only of memory: `used`, `free` or `peak` (a
    high-water mark, or memory that an allocator keeps: it never falls by itself). `gpu`: GPU memory, else host memory.
    """

    name: str
    quantity: str
    unit: str
    scope: str
    readings: Sequence[Reading]
    sense: str = ""
    gpu: bool = False

    @property
    def values(self) -> list[float]:
        """The values of all readings."""
        return [*self.readings.values] if isinstance(self.readings, Readings) else [r.value for r in self.readings]

    @property
    def lines(self) -> Sequence[int]:
        """The numbers of the lines of all readings."""
        return self.readings.lines if isinstance(self.readings, Readings) else [r.line for r in self.readings]

    @property
    def texts(self) -> Sequence[str]:
        """The texts of the lines of all readings."""
        return self.readings.texts if isinstance(self.readings, Readings) else [r.text for r in self.readings]

    @property
    def steps(self) -> Sequence[float | None]:
        """The steps of all readings."""
        return self.readings.steps if isinstance(self.readings, Readings) else [r.step for r in self.readings]

    def evenly_sampled(self, max_readings: int) -> "Series":
        """Every n-th reading, at most `max_readings` + 1 of them, with the first and the last."""
        count = len(self.readings)
        if count <= max_readings:
            return self
        stride = -(-count // max_readings)
        return self.picked([*range(0, count - 1, stride), count - 1])

    def evenly_spaced(self, max_readings: int) -> "Series":
        """About `max_readings` readings at most, with similar distances between their lines.

        The scanner keeps each line at the beginning and the end of a large log and samples windows of the rest. If half of the
        readings lie in the first fifth of the lines, all are thinned to the distance that is usual in the rest, and the last
        one is kept.
        """
        lines = self.lines
        first, last = lines[0], lines[-1]
        if len(lines) < MIN_UNEVEN_READINGS or lines[len(lines) // 2] - first >= (last - first) / 5:
            return self.evenly_sampled(max_readings)
        min_gap = 0.75 * _usual_gap([line for line in lines if line > first + (last - first) / 5])
        kept = [0]
        for i in range(1, len(lines)):
            if lines[i] - lines[kept[-1]] >= min_gap:
                kept.append(i)
        if kept[-1] != len(lines) - 1:
            kept.append(len(lines) - 1)
        return self.picked(kept).evenly_sampled(max_readings)

    def picked(self, places: Sequence[int]) -> "Series":
        """With the readings at `places` only."""
        found = self.readings
        return replace(self, readings=found.picked(places) if isinstance(found, Readings) else tuple(found[i] for i in places))


def _usual_gap(lines: Sequence[int]) -> int:
    """The length-weighted median gap (N50): gaps of at least this size cover half of the way from the first line to the last."""
    gaps = sorted((b - a for a, b in pairwise(lines)), reverse=True)
    half = sum(gaps) / 2
    return next((gap for gap, covered in zip(gaps, accumulate(gaps), strict=True) if covered >= half), 0)


class Measure(Struct, frozen=True):
    """What a number measures: the name of its series, its quantity and unit, the `factor` to that unit; the rest as in Series."""

    name: str
    quantity: str
    unit: str
    factor: float = 1.0
    sense: str = ""
    gpu: bool = False


USED_MEMORY_MEASURE = Measure("memory used", "memory", "bytes", 1, "used")
AVAILABLE_MEMORY_MEASURE = Measure("memory available", "memory", "bytes", 1, "free")


class Cell(Struct, frozen=True):
    """One number of a tool's output. `step`: the step or epoch on its line. `time_s`: as of Reading."""

    line: Line
    measure: Measure
    scope: str
    value: float
    step: float | None = None
    time_s: float | None = None


def series_from_cells(cells: Iterable[Cell]) -> list[Series]:
    """The series of `cells`. If a line has two cells of one series, the later cell is used."""
    found: dict[tuple[Measure, str], dict[int, Cell]] = defaultdict(dict)
    for cell in cells:
        found[cell.measure, cell.scope][cell.line.number] = cell
    return [_series(measure, scope, by_line) for (measure, scope), by_line in found.items()]


def _series(measure: Measure, scope: str, by_line: dict[int, Cell]) -> Series:
    cells = (by_line[n] for n in sorted(by_line))
    readings = tuple(Reading(c.line.number, c.line.text, c.value * measure.factor, c.step, c.time_s) for c in cells)
    return Series(measure.name, measure.quantity, measure.unit, scope, readings, measure.sense, measure.gpu)
