"""Epochs that take now long and now short, to Events: uneven performance of the same work.

1352/1352 [05:25<00:00 ... 1352/1352 [09:41<00:00 ... 1352/1352 [05:30<00:00 -> "epochs of 5:25 to 9:41"

The first epoch is left out: it compiles, fills caches, measures kernels. Of the rest, MIN_EPOCHS or more, an epoch is off when it
takes MIN_EPOCH_TIME_RATIO times the median, or the median takes MIN_EPOCH_TIME_RATIO times as long; reported when
MIN_SLOW_EPOCH_SHARE of them are off, two at least. One slow epoch is a pause, and epochs that get slower once and for all are a
slow-down (pace.py). It names no cause; it is for the timeline.
"""

import statistics
from collections.abc import Sequence

from forensics.model import Observation, Scan
from forensics.series.base import Series
from forensics.series.observations import distinct_lines, scope_fields, series_observation
from forensics.series.trend import shift

MIN_EPOCHS = 6
MIN_EPOCH_TIME_RATIO = 1.3
MIN_SLOW_EPOCH_SHARE = 0.2
EPOCHS_PER_SIDE = 3  # epochs on each side of a change of level
MIN_LEVEL_SEPARATION = 0.95


def epoch_events(scan: Scan, series: Sequence[Series]) -> list[Observation]:
    """At most one Observation: the most uneven series of epoch times."""
    found = [e for s in series if s.quantity == "epoch_time" for e in (_uneven(scan, s),) if e]
    return sorted(found, key=lambda e: -float(e.fields["slowest_s"]) / float(e.fields["usual_s"]))[:1]


def _uneven(scan: Scan, series: Series) -> Observation | None:
    readings = [r for r in series.readings[1:] if r.value > 0]
    values = [r.value for r in readings]
    if len(values) < MIN_EPOCHS:
        return None
    usual = statistics.median(values)
    off = [v for v in values if v >= MIN_EPOCH_TIME_RATIO * usual or v * MIN_EPOCH_TIME_RATIO <= usual]
    if len(off) < max(2, MIN_SLOW_EPOCH_SHARE * len(values)) or _settled(values):
        return None
    slowest, fastest = max(readings, key=lambda r: r.value), min(readings, key=lambda r: r.value)
    fields = {
        "series": series.name,
        "readings": len(readings),
        "usual_s": round(usual, 3),
        "slowest_s": slowest.value,
        "fastest_s": fastest.value,
        "uneven_epochs": len(off),
        **scope_fields(series),
    }
    return series_observation(scan, "uneven-epochs", None, "hint", distinct_lines((slowest, fastest)), fields, len(readings))


def _settled(values: Sequence[float]) -> bool:
    """One change of level, and even epochs on both sides of it."""
    found = shift(values, EPOCHS_PER_SIDE)
    return found is not None and max(found.apart, 1 - found.apart) >= MIN_LEVEL_SEPARATION
