"""Epochs of very different duration: uneven speed of the same work.

1352/1352 [05:25<00:00 ... 1352/1352 [09:41<00:00 ... 1352/1352 [05:30<00:00 -> "epochs of 5:25 to 9:41"

The first epoch is left out: it compiles, fills caches and benchmarks kernels. An epoch is uneven if its duration differs from the
median by the factor MIN_EPOCH_TIME_RATIO, up or down. Reported if at least MIN_UNEVEN_EPOCH_SHARE of MIN_EPOCHS or more epochs,
and at least two, are uneven. One slow epoch is a pause; epochs that become slower and stay so are a slow-down (slowdown.py).
The Observation has no cause: it appears in the timeline.
"""

import statistics
from collections.abc import Sequence

from forensics.model import Observation, Scan
from forensics.readers.numbers.base import Series
from forensics.series.observations import distinct_lines, scope_fields, series_observation
from forensics.series.trend import shift

MIN_EPOCH_S = 10.0  # chosen by hand: of shorter rounds the start alone, or the length of a text, makes such differences
MIN_EPOCHS = 6  # with the first left out five, of which two can be uneven by chance only where all are; chosen by hand
MIN_EPOCH_TIME_RATIO = 1.3  # chosen by hand: a checkpoint or an evaluation adds less; recall and false alarms in docs/series.md
MIN_UNEVEN_EPOCH_SHARE = 0.2  # chosen by hand: one in five is no single pause
EPOCHS_PER_SIDE = 3  # at least so many epochs before and after a change of level
MIN_LEVEL_SEPARATION = 0.95  # chosen by hand: nearly every pair; then it is a lasting change and not uneven epochs


def epoch_events(scan: Scan, series: Sequence[Series]) -> list[Observation]:
    """At most one Observation, of the series of epoch times with the largest ratio of slowest to median."""
    found = [e for s in series if s.quantity == "epoch_time" for e in (_uneven(scan, s),) if e]
    return sorted(found, key=lambda e: -float(e.fields["slowest_s"]) / float(e.fields["usual_s"]))[:1]


def _uneven(scan: Scan, series: Series) -> Observation | None:
    readings = [r for r in series.readings[1:] if r.value > 0]
    values = [r.value for r in readings]
    usual = statistics.median(values) if len(values) >= MIN_EPOCHS else 0.0
    if usual < MIN_EPOCH_S:
        return None
    uneven = [v for v in values if v >= MIN_EPOCH_TIME_RATIO * usual or v * MIN_EPOCH_TIME_RATIO <= usual]
    if len(uneven) < max(2, MIN_UNEVEN_EPOCH_SHARE * len(values)) or _is_level_change(values):
        return None
    slowest, fastest = max(readings, key=lambda r: r.value), min(readings, key=lambda r: r.value)
    fields = {
        "series": series.name,
        "readings": len(readings),
        "usual_s": round(usual, 3),
        "slowest_s": slowest.value,
        "fastest_s": fastest.value,
        "uneven_epochs": len(uneven),
        **scope_fields(series),
    }
    return series_observation(scan, "uneven-epochs", None, "hint", distinct_lines((slowest, fastest)), fields, len(readings))


def _is_level_change(values: Sequence[float]) -> bool:
    """Does the duration change its level once, with even epochs before and after?"""
    found = shift(values, EPOCHS_PER_SIDE)
    return found is not None and max(found.separation, 1 - found.separation) >= MIN_LEVEL_SEPARATION
