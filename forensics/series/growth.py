"""Growth that does not flatten: a robust trend over a series of memory readings.

A series grows when it has at least MIN_SAMPLES readings, at least PAIRS_UP of all pairs of readings are in rising order (a
Mann-Kendall test without its normal approximation), the last reading is at least GROWTH times the first, and the second half
still rises by at least STILL of the whole rise. Warm-up that levels off fails the last condition, saw-tooth and noise the second.
The slope is Theil and Sen's: the median over all pairs.
"""

import statistics

from forensics.model import Event, Proof, Scan, Value, Weight
from forensics.series.memory import Series

MIN_SAMPLES = 8
MANY_SAMPLES = 16
PAIRS_UP = 0.9
GROWTH = 1.3
STILL = 0.3
MAX_POINTS = 200  # pairs are quadratic


def grows(values: list[int]) -> bool:
    """Does the series rise to its end without flattening? `values` in bytes, in order."""
    if len(values) < MIN_SAMPLES or values[-1] < GROWTH * values[0]:
        return False
    thin = values[:: -(-len(values) // MAX_POINTS)]
    pairs = [(b > a) for i, a in enumerate(thin) for b in thin[i + 1 :] if a != b]
    if len(pairs) < MIN_SAMPLES or sum(pairs) < PAIRS_UP * len(pairs):
        return False
    middle = values[len(values) // 2]
    return values[-1] - middle >= STILL * (values[-1] - values[0])


def slope(values: list[int]) -> float:
    """Theil and Sen's slope, in bytes a reading."""
    step = -(-len(values) // MAX_POINTS)
    thin = values[::step]
    return statistics.median((b - a) / ((j - i) * step) for i, a in enumerate(thin) for j, b in enumerate(thin[i + 1 :], i + 1))


def growth_events(scan: Scan, series: list[Series]) -> list[Event]:
    """An Event for each series that grows."""
    return [_event(scan, s) for s in series if grows([x.bytes for x in s.samples])]


def _event(scan: Scan, series: Series) -> Event:
    values = [x.bytes for x in series.samples]
    weight: Weight = "strong" if len(values) >= MANY_SAMPLES else "hint"
    shown = (series.samples[0], series.samples[len(values) // 2], series.samples[-1])
    fields: dict[str, Value] = {
        "series": series.name,
        "first_bytes": values[0],
        "last_bytes": values[-1],
        "readings": len(values),
        "growth_bytes": round(slope(values)),
    }
    return Event(
        kind="series/growth",
        cause="gpu_memory.leak" if series.gpu else "host_memory.leak",
        weight=weight,
        source=scan.source.name,
        line=series.samples[0].line.number,
        last_line=series.samples[-1].line.number,
        proofs=tuple(Proof(scan.source.name, x.line.number, x.line.text, "series/growth", weight) for x in shown),
        fields=fields if series.rank is None else {**fields, "rank": series.rank},
        count=len(values),
    )
