"""Numbers that a tool prints in a form of its own, with no label beside them, to series.

A row "0  43  35  1075" below "# gpu  pwr gtemp  pclk" -> Cell(line 3, SM clock in MHz, "gpu 0", 1075.0)
"""

from collections import defaultdict
from collections.abc import Iterable

from msgspec import Struct

from forensics.model import Line
from forensics.series.base import Reading, Series

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


class Measure(Struct, frozen=True):
    """What a number is: the name of its series, its quantity and unit, `factor` to that unit; `sense` and `gpu` as of Series."""

    name: str
    quantity: str
    unit: str
    factor: float = 1.0
    sense: str = ""
    gpu: bool = False


class Cell(Struct, frozen=True):
    """One number of a tool's output. `step`: the step or epoch of its line."""

    line: Line
    what: Measure
    scope: str
    value: float
    step: float | None = None


def series_from_cells(cells: Iterable[Cell]) -> list[Series]:
    """The series of `cells`; of two cells of one series on one line, the later one counts."""
    found: dict[tuple[Measure, str], dict[int, Cell]] = defaultdict(dict)
    for cell in cells:
        found[cell.what, cell.scope][cell.line.number] = cell
    return [_series(what, scope, at) for (what, scope), at in found.items()]


def _series(what: Measure, scope: str, cells: dict[int, Cell]) -> Series:
    readings = (Reading(n, cells[n].line.text, cells[n].value * what.factor, cells[n].step) for n in sorted(cells))
    return Series(what.name, what.quantity, what.unit, scope, tuple(readings), what.sense, what.gpu)
