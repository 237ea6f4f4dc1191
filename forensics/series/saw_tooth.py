"""Step times that rise and fall periodically: a saw-tooth in the throughput.

0.4 s, 0.4 s, 0.4 s, 2.1 s, 0.4 s, 0.4 s, 0.4 s, 2.0 s ... -> every 4th step, slower by 5, half of the time lost

Reported for MIN_SAW_TOOTH_READINGS readings or more if
- the logarithms of the times are periodic: their autocorrelation is MIN_AUTOCORRELATION or more at a lag of up to a quarter of
  the readings (chance alone gives less than 4 / sqrt(MIN_SAW_TOOTH_READINGS));
- the slow steps take MIN_SWING_RATIO times as long as the fast ones (90th and 10th percentile), and slow phases begin MIN_SWINGS
  times;
- MIN_LOST_SHARE of the time would be saved if all steps were fast.
Data loaders with too few workers, other jobs on the host, and temporary throttling look like this, so there is no cause.
"""

import math
import statistics
from collections.abc import Sequence

from forensics.model import Observation, Scan, Value
from forensics.readers.numbers.base import Series
from forensics.series.observations import distinct_lines, scope_fields, series_observation

MIN_SAW_TOOTH_READINGS = 60  # the bound on what chance gives follows from it: 4 / sqrt(60) = 0.516
MAX_SAW_TOOTH_READINGS = 400  # the autocorrelation is quadratic in them
MIN_AUTOCORRELATION = 0.52  # just above what chance gives in MIN_SAW_TOOTH_READINGS readings
MIN_SWING_RATIO = 1.5  # chosen by hand: a difference that a person would look into
MIN_SWINGS = 5  # chosen by hand: fewer are pauses for checkpoints
MIN_LOST_SHARE = 0.2  # chosen by hand: what is lost must be worth the reader's time


def saw_tooth_events(scan: Scan, series: Sequence[Series]) -> list[Observation]:
    """At most one Observation: the first series of step times or rates that is a saw-tooth."""
    for one in series:
        if one.quantity in ("step_time", "rate") and not one.name.startswith("held-out"):
            found = _saw_tooth(scan, one)
            if found:
                return [found]
    return []


def _saw_tooth(scan: Scan, series: Series) -> Observation | None:
    readings = [r for r in series.evenly_spaced(MAX_SAW_TOOTH_READINGS).readings if math.isfinite(r.value) and r.value > 0]
    readings = readings[len(readings) // 20 :]  # without warm-up steps
    if len(readings) < MIN_SAW_TOOTH_READINGS:
        return None
    seconds = [1 / r.value if series.quantity == "rate" else r.value for r in readings]
    ordered = sorted(seconds)
    fast, slow = ordered[len(ordered) // 10], ordered[-1 - len(ordered) // 10]
    lost = 1 - fast / statistics.fmean(seconds)
    if slow < MIN_SWING_RATIO * fast or lost < MIN_LOST_SHARE or _swings(seconds, fast, slow) < MIN_SWINGS:
        return None
    lag, autocorrelation = _period([math.log(min(max(s, fast), slow)) for s in seconds])
    if autocorrelation < MIN_AUTOCORRELATION:
        return None
    fields: dict[str, Value] = {
        "series": series.name,
        "readings": len(series.readings),
        "slower_by": round(slow / fast, 2),
        "every": lag,
        "lost_share": round(lost, 2),
        **scope_fields(series),
    }
    slowest = max(readings, key=lambda r: r.value if series.quantity != "rate" else -r.value)
    quickest = min(readings, key=lambda r: abs(r.value - (1 / fast if series.quantity == "rate" else fast)))
    return series_observation(scan, "saw-tooth", None, "hint", distinct_lines((slowest, quickest)), fields, len(series.readings))


def _swings(seconds: Sequence[float], fast: float, slow: float) -> int:
    """The number of changes from fast to slow."""
    low, high = fast * (slow / fast) ** 0.33, fast * (slow / fast) ** 0.67
    count, was_fast = 0, True
    for value in seconds:
        if was_fast and value >= high:
            count, was_fast = count + 1, False
        elif value <= low:
            was_fast = True
    return count


def _period(values: Sequence[float]) -> tuple[int, float]:
    """The lag, from 2 on, with the largest autocorrelation of `values`, and that autocorrelation."""
    mean = statistics.fmean(values)
    deviations = [v - mean for v in values]
    power = sum(x * x for x in deviations)
    if not power:
        return 0, 0.0
    count = len(values)
    by_lag = {
        lag: sum(a * b for a, b in zip(deviations, deviations[lag:], strict=False)) / power * count / (count - lag)
        for lag in range(2, count // 4 + 1)
    }
    best = max(by_lag, key=by_lag.__getitem__)
    return best, by_lag[best]
