"""What nvidia-smi shows beside a slow-down, to the reason for it: heat, power, clocks held down.

clocks_throttle_reasons.active 0x0 ... 0x40 from the line on where steps take twice as long -> "hw thermal slowdown"

- A reason for low clocks (nvml.h: thermal and hardware slowdowns, the power cap, the power brake) that is active in
  MIN_THROTTLED_SHARE of the readings since the slow-down and in less than FREE before it. A power cap is active all the time on
  a busy GPU; only its coming counts.
- SM clocks that fell by a fifth while the GPU was within WARM_BELOW_HOT_CELSIUS degrees of HOT_CELSIUS.
- HOT_CELSIUS degrees or more.
The first two, beside a slow-down, are strong evidence; heat alone is a hint.
"""

import statistics
from collections.abc import Sequence

from forensics.model import Value, Weight
from forensics.series.base import Reading, Series
from forensics.series.trend import shift

HOT_CELSIUS = 85.0
WARM_BELOW_HOT_CELSIUS = 10.0
MIN_THROTTLED_SHARE = 0.8
MAX_THROTTLED_SHARE_BEFORE = 0.2
MIN_THROTTLE_READINGS = 3
CLOCKS = 10  # readings of clocks on each side
MAX_FALLEN_CLOCK_SHARE = 0.8
MIN_CLOCK_SEPARATION = 0.9

Reason = tuple[Reading, dict[str, Value], Weight]


def throttle_reason(series: Sequence[Series], since: int) -> Reason | None:
    """Why a GPU is slow from line `since` on: the reading that says so, fields and weight; None where nothing says so."""
    heat = [r for s in series if s.quantity == "temperature" for r in s.readings]
    hottest = max(heat, key=lambda r: r.value, default=None)
    facts: dict[str, Value] = {"temperature_c": hottest.value} if hottest else {}
    for one in series:
        if one.quantity == "throttle" and (reading := _came(one, since)):
            return reading, {**facts, "reason": one.name}, "strong"
    for clock in (s for s in series if s.quantity == "clock"):
        change = shift(clock.values, CLOCKS)
        warm = hottest is not None and hottest.value >= HOT_CELSIUS - WARM_BELOW_HOT_CELSIUS
        if change and change.apart < 1 - MIN_CLOCK_SEPARATION and change.after < MAX_FALLEN_CLOCK_SHARE * change.before and warm:
            return clock.readings[change.at], {**facts, "reason": "clocks fell"}, "strong"
    return (hottest, facts, "hint") if hottest and hottest.value >= HOT_CELSIUS else None


def _came(throttle: Series, since: int) -> Reading | None:
    """The first active reading of a reason that came with the slow-down."""
    before = [r.value for r in throttle.readings if r.line < since]
    after = [r for r in throttle.readings if r.line >= since]
    if len(after) < MIN_THROTTLE_READINGS or len(before) < MIN_THROTTLE_READINGS:
        return None
    held = (
        statistics.fmean(r.value for r in after) >= MIN_THROTTLED_SHARE and statistics.fmean(before) <= MAX_THROTTLED_SHARE_BEFORE
    )
    return next(r for r in after if r.value) if held else None
