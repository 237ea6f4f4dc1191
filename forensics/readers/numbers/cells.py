"""Series from tables: numbers whose meaning is given by their column, not by a label on the line.

A row "0  43  35  1075" below "# gpu  pwr gtemp  pclk" -> Cell(line 3, SM clock in MHz, "gpu 0", 1075.0)
"""

from collections import defaultdict
from collections.abc import Iterable

from msgspec import Struct

from forensics.model import Line
from forensics.readers.numbers.base import Reading, Series


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
