"""The reason for a slow-down in the output of nvidia-smi: heat, power, reduced clocks.

clocks_throttle_reasons.active 0x0 ... 0x40 from the line on where steps take twice as long -> "hw thermal slowdown"

- A throttle reason (nvml.h: thermal and hardware slowdowns, power cap, power brake) that is active in MIN_THROTTLED_SHARE of the
  readings after the slow-down began and in at most MAX_THROTTLED_SHARE_BEFORE of those before. A busy GPU is at its power cap all
  the time, so only a reason that starts with the slow-down counts.
- SM clocks that fell to MAX_FALLEN_CLOCK_SHARE while the GPU was within WARM_BELOW_HOT_CELSIUS degrees of HOT_CELSIUS.
- A temperature of HOT_CELSIUS or more.
The first two are strong evidence; the temperature alone is a hint.
"""

from collections.abc import Sequence

from forensics.core.averages import mean
from forensics.model import Value, Weight
from forensics.readers.numbers.base import Reading, Series
from forensics.series.trend import shift

HOT_CELSIUS = 85.0  # data-centre GPUs reduce their clocks from about 85 to 90 degrees on
WARM_BELOW_HOT_CELSIUS = 10.0  # chosen by hand: sensors of memory and hot spot read higher than the one that is printed
MIN_THROTTLED_SHARE = 0.8  # chosen by hand: a reason is reported for moments and read now and then
MAX_THROTTLED_SHARE_BEFORE = 0.2  # what is left by MIN_THROTTLED_SHARE
MIN_THROTTLE_READINGS = 3  # on each side: shares of fewer are all or nothing
CLOCK_READINGS_PER_SIDE = 10  # at least so many before and after the fall
MAX_FALLEN_CLOCK_SHARE = 0.8  # chosen by hand: boost clocks of a healthy GPU vary by some percent
MIN_CLOCK_SEPARATION = 0.9  # chosen by hand: nearly every pair, as for the steps

Reason = tuple[Reading, dict[str, Value], Weight]


def throttle_reason(series: Sequence[Series], since: int) -> Reason | None:
    """Why a GPU is slow from line `since` on: (the reading that shows it, fields, weight); None if nothing shows a reason."""
    heat = [r for s in series if s.quantity == "temperature" for r in s.readings]
    hottest = max(heat, key=lambda r: r.value, default=None)
    facts: dict[str, Value] = {"temperature_c": hottest.value} if hottest else {}
    for one in series:
        if one.quantity == "throttle" and (reading := _started_with_slowdown(one, since)):
            return reading, {**facts, "reason": one.name}, "strong"
    for clock in (s for s in series if s.quantity == "clock"):
        change = shift(clock.values, CLOCK_READINGS_PER_SIDE)
        warm = hottest is not None and hottest.value >= HOT_CELSIUS - WARM_BELOW_HOT_CELSIUS
        fell = change and change.separation < 1 - MIN_CLOCK_SEPARATION and change.after < MAX_FALLEN_CLOCK_SHARE * change.before
        if change and fell and warm:
            return clock.readings[change.at], {**facts, "reason": "clocks fell"}, "strong"
    return (hottest, facts, "hint") if hottest and hottest.value >= HOT_CELSIUS else None


def _started_with_slowdown(throttle: Series, since: int) -> Reading | None:
    """The first active reading of a throttle reason that started with the slow-down; None for another one."""
    before = [r.value for r in throttle.readings if r.line < since]
    after = [r for r in throttle.readings if r.line >= since]
    if len(after) < MIN_THROTTLE_READINGS or len(before) < MIN_THROTTLE_READINGS:
        return None
    active_after, active_before = mean(r.value for r in after), mean(before)
    started = active_after >= MIN_THROTTLED_SHARE and active_before <= MAX_THROTTLED_SHARE_BEFORE
    return next(r for r in after if r.value) if started else None
