"""Step times that go up and down again and again, to an Observation: a saw-tooth in the throughput.

0.4 s, 0.4 s, 0.4 s, 2.1 s, 0.4 s, 0.4 s, 0.4 s, 2.0 s ... -> every 4th step, slower by 5, half of the time lost

Told of MIN_WAVE_READINGS readings or more when the logarithms of the times repeat themselves at some distance (autocorrelation
MIN_AUTOCORRELATION at a lag of up to a quarter of the readings; chance alone gives less than 4 / sqrt(MIN_WAVE_READINGS)), the
slow ones are MIN_SWING_RATIO times the fast ones (90th and 10th percentile), they come and go MIN_SWINGS times, and
MIN_LOST_SHARE of the time would be saved if all were as fast. Loaders with too few workers, other jobs on the machine and
clocks that are held down for a while look like that; it names no cause.
"""

import math
import statistics
from collections.abc import Sequence

from forensics.model import Observation, Scan, Value
from forensics.series.base import Series
from forensics.series.observations import distinct_lines, scope_fields, series_observation

MIN_WAVE_READINGS = 60
MAX_WAVE_POINTS = 400
MIN_AUTOCORRELATION = 0.52
MIN_SWING_RATIO = 1.5
MIN_SWINGS = 5
MIN_LOST_SHARE = 0.2


def wave_events(scan: Scan, series: Sequence[Series]) -> list[Observation]:
    """At most one Observation: the first series of step times or rates that is a saw-tooth."""
    for one in series:
        if (
            one.quantity in ("step_time", "rate")
            and not one.name.startswith("held-out")
            and len(one.readings) >= MIN_WAVE_READINGS
        ):
            found = _wave(scan, one)
            if found:
                return [found]
    return []


def _wave(scan: Scan, series: Series) -> Observation | None:
    readings = [r for r in series.evened(MAX_WAVE_POINTS).readings if math.isfinite(r.value) and r.value > 0]
    readings = readings[len(readings) // 20 :]
    if len(readings) < MIN_WAVE_READINGS:
        return None
    seconds = [1 / r.value if series.quantity == "rate" else r.value for r in readings]
    ordered = sorted(seconds)
    fast, slow = ordered[len(ordered) // 10], ordered[-1 - len(ordered) // 10]
    lost = 1 - fast / statistics.fmean(seconds)
    if slow < MIN_SWING_RATIO * fast or lost < MIN_LOST_SHARE or _swings(seconds, fast, slow) < MIN_SWINGS:
        return None
    lag, alike = _repeats([math.log(min(max(s, fast), slow)) for s in seconds])
    if alike < MIN_AUTOCORRELATION:
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
    """How often it becomes slow after it was fast."""
    low, high = fast * (slow / fast) ** 0.33, fast * (slow / fast) ** 0.67
    count, was_fast = 0, True
    for value in seconds:
        if was_fast and value >= high:
            count, was_fast = count + 1, False
        elif value <= low:
            was_fast = True
    return count


def _repeats(values: Sequence[float]) -> tuple[int, float]:
    """The lag from 2 on at which `values` are most like themselves, and how much: their autocorrelation there."""
    mean = statistics.fmean(values)
    off = [v - mean for v in values]
    power = sum(x * x for x in off)
    if not power:
        return 0, 0.0
    lags = range(2, len(values) // 4 + 1)
    alike = {lag: sum(a * b for a, b in zip(off, off[lag:], strict=False)) / power * len(off) / (len(off) - lag) for lag in lags}
    best = max(alike, key=lambda lag: alike[lag])
    return best, alike[best]
