"""Series as short curves for a report: at most 200 points each, with the extreme values.

4,000 readings of "loss" -> ("loss", "", [(12, 9.1), (57, 7.7), ...])
"""

import itertools
import math

from forensics.model import Scan
from forensics.readers.numbers.base import Reading, Series
from forensics.readers.numbers.gather import gather_numbers

MAX_SERIES_POINTS = 200  # a report draws a curve a few hundred pixels wide
MIN_CURVE_READINGS = 3  # two are a straight line
SHOWN_QUANTITIES = ("memory", "loss", "grad_norm", "loss_scale", "step_time", "data_time", "rate", "temperature", "clock")

Curve = tuple[str, str, list[tuple[int, float]]]


def curves(scan: Scan) -> list[Curve]:
    """(name, unit, [(line, value)]) of each series with at least MIN_CURVE_READINGS finite readings, memory and losses first."""
    wanted = sorted(
        (s for s in gather_numbers(scan).series if s.quantity in SHOWN_QUANTITIES),
        key=lambda s: (SHOWN_QUANTITIES.index(s.quantity), -len(s.readings)),
    )
    made = [(f"{s.name} {s.scope}".strip(), s.unit, points(s)) for s in wanted]
    return [c for c in made if len(c[2]) >= MIN_CURVE_READINGS]


def points(series: Series, max_points: int = MAX_SERIES_POINTS) -> list[tuple[int, float]]:
    """At most `max_points` (line, value) of the finite readings: the lowest and the highest of each of equally long stretches."""
    finite = [r for r in series.readings if math.isfinite(r.value)]
    if len(finite) <= max_points:
        return [(r.line, r.value) for r in finite]
    count = max_points // 2
    edges = [i * len(finite) // count for i in range(count + 1)]
    kept: list[Reading] = []
    for a, b in itertools.pairwise(edges):
        stretch = finite[a:b]
        kept += {min(stretch, key=lambda r: r.value), max(stretch, key=lambda r: r.value)}
    return [(r.line, r.value) for r in sorted(kept, key=lambda r: r.line)]
