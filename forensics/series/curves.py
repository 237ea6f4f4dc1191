"""Series to short curves for a picture: at most 200 points, the extremes kept.

4,000 readings of "loss" -> ("loss", "", [(12, 9.1), (57, 7.7), ...])
"""

import itertools
import math

from forensics.model import Scan
from forensics.series.base import Reading, Series
from forensics.series.gather import gather_numbers

POINTS = 200
MIN_CURVE_READINGS = 3
SHOWN_QUANTITIES = ("memory", "loss", "grad_norm", "loss_scale", "step_time", "data_time", "rate", "temperature", "clock")

Curve = tuple[str, str, list[tuple[int, float]]]


def curves(scan: Scan) -> list[Curve]:
    """(name, unit, [(line, value)]) of each series of `scan` with at least MIN_CURVE_READINGS finite readings, memory and
    losses first."""
    wanted = sorted(
        (s for s in gather_numbers(scan).series if s.quantity in SHOWN_QUANTITIES),
        key=lambda s: (SHOWN_QUANTITIES.index(s.quantity), -len(s.readings)),
    )
    made = [(f"{s.name} {s.scope}".strip(), s.unit, points(s)) for s in wanted]
    return [c for c in made if len(c[2]) >= MIN_CURVE_READINGS]


def points(series: Series, most: int = POINTS) -> list[tuple[int, float]]:
    """At most `most` (line, value) of the finite readings: of each equal stretch its lowest and its highest."""
    finite = [r for r in series.readings if math.isfinite(r.value)]
    if len(finite) <= most:
        return [(r.line, r.value) for r in finite]
    count = most // 2
    edges = [i * len(finite) // count for i in range(count + 1)]
    kept: list[Reading] = []
    for a, b in itertools.pairwise(edges):
        stretch = finite[a:b]
        kept += {min(stretch, key=lambda r: r.value), max(stretch, key=lambda r: r.value)}
    return [(r.line, r.value) for r in sorted(kept, key=lambda r: r.line)]
