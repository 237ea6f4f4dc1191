"""Steps that become slower: slow-downs, steps that wait for data, a GPU that throttles.

time: 0.41 ... time: 0.40 ... time: 2.9, data_time: 2.5 -> slower by 7.1 from line 812 on, waiting for data

A slow-down is a change of level (trend.shift) by MIN_SLOWDOWN or more that lasts to the end; nearly all values after it are
slower than nearly all before it. By itself it has no cause: it appears in the timeline. It becomes evidence if the log shows why:
- `throttled`: heat, falling clocks or a throttle reason in the same log (throttling.py);
- `starved`: steps are slower by MIN_STARVED_SLOWDOWN and spend MIN_WAITING_SHARE of their time waiting for data. It is strong
  evidence if they are slower by twice that and wait MIN_STRONG_WAITING_SHARE of their time for MIN_STRONG_READINGS readings;
- `slow-down` with a cause: steps wait for data for MIN_DATA_WAITING_SHARE of their time and the log has file system faults, or
  they wait less and the log has network faults. It is a hint for that fault, and shows what it costs.

The reason for a slow-down in the output of nvidia-smi: heat, power, reduced clocks.

clocks_throttle_reasons.active 0x0 ... 0x40 from the line on where steps take twice as long -> "hw thermal slowdown"

- A throttle reason (nvml.h: thermal and hardware slowdowns, power cap, power brake) that is active in MIN_THROTTLED_SHARE of the
  readings after the slow-down began and in at most MAX_THROTTLED_SHARE_BEFORE of those before. A busy GPU is at its power cap all
  the time, so only a reason that starts with the slow-down counts.
- SM clocks that fell to MAX_FALLEN_CLOCK_SHARE while the GPU was within WARM_BELOW_HOT_CELSIUS degrees of HOT_CELSIUS.
- A temperature of HOT_CELSIUS or more.
The first two are strong evidence; the temperature alone is a hint.
"""

import math
from collections.abc import Sequence

from msgspec import Struct

from forensics.core.averages import mean, median
from forensics.model import Line, Observation, Scan, Value, Weight
from forensics.readers.numbers.base import MIN_STRONG_READINGS, Reading, Series
from forensics.series.observations import (
    STARVED,
    THROTTLED,
    WAITS_FOR_DATA,
    WAITS_FOR_PEERS,
    Proves,
    scope_fields,
    series_observation,
)
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


MIN_SLOWDOWN = 1.5  # chosen by hand: a difference that a person would look into; docs/series.md
MIN_SPEED_SEPARATION = 0.9  # chosen by hand: nearly every pair; noise of two levels overlaps more
MIN_READINGS_PER_SIDE = 10  # before and after the change
MAX_SLOWDOWN_READINGS = 400  # the search for the change is quadratic in them
MIN_STARVED_SLOWDOWN = 5.0  # chosen by hand: slower by less, a run is worth waiting for and has not stalled
MIN_WAITING_SHARE = 0.8  # chosen by hand: the step does little else
MIN_STRONG_WAITING_SHARE = 0.9  # chosen by hand: half way from MIN_WAITING_SHARE to nothing else
MIN_DATA_WAITING_SHARE = 0.5  # the larger part


class SlowDown(Struct, frozen=True):
    """From `at` on a step takes `factor` times as long. `before`, `after`: median values of the series, in its own unit."""

    series: Series
    at: Reading
    last: Reading
    factor: float
    before: float
    after: float


def slowdown_events(scan: Scan, series: Sequence[Series], proves: Proves) -> list[Observation]:
    """At most one Observation: the largest slow-down of a source, with its reason if the log shows one."""
    found = [s for one in series if one.quantity in ("step_time", "rate") for s in (slow_down(one),) if s]
    if not found:
        return []
    clearest = max(found, key=lambda s: (not s.series.name.startswith("held-out"), s.factor))
    lines = [Line(r.line, r.text) for r in (clearest.last, clearest.at, clearest.series.readings[0])]
    fields: dict[str, Value] = {
        "series": clearest.series.name,
        "slower_by": round(clearest.factor, 1 if clearest.factor >= 10 else 2),
        "before": clearest.before,
        "after": clearest.after,
        **scope_fields(clearest.series),
        **({} if clearest.at.step is None else {"step_no": int(clearest.at.step)}),
    }
    count = len(clearest.series.readings)
    throttled = throttle_reason(series, clearest.at.line)
    if throttled:
        reading, facts, weight = throttled
        lines = [Line(reading.line, reading.text), *lines]
        return [series_observation(scan, "throttled", proves[THROTTLED].cause, weight, lines, {**fields, **facts}, count)]
    share = _waiting_share(clearest, series)
    fields |= {"data_percent": round(100 * share)} if share else {}
    if share >= MIN_WAITING_SHARE and clearest.factor >= MIN_STARVED_SLOWDOWN:
        since = sum(r.line >= clearest.at.line for r in clearest.series.readings)
        clear = since >= MIN_STRONG_READINGS and share >= MIN_STRONG_WAITING_SHARE and clearest.factor >= 2 * MIN_STARVED_SLOWDOWN
        return [series_observation(scan, "starved", proves[STARVED].cause, "strong" if clear else "hint", lines, fields, count)]
    return [series_observation(scan, "slow-down", _cause_in_log(scan, share, proves), "hint", lines, fields, count)]


def _cause_in_log(scan: Scan, share: float, proves: Proves) -> str | None:
    """A fault in the same log that explains the slow-down: of files if steps wait for data, else of the network."""
    proven = proves[WAITS_FOR_DATA if share >= MIN_DATA_WAITING_SHARE else WAITS_FOR_PEERS]
    return next((h.cause for h in scan.hits if proven.is_beside(h.cause) and h.weight != "hint"), None)


def slow_down(series: Series) -> SlowDown | None:
    """The slow-down in a series of step times or rates; None if there is none."""
    thinned = series.evenly_spaced(MAX_SLOWDOWN_READINGS)
    kept = [i for i, value in enumerate(thinned.values) if math.isfinite(value) and value > 0]
    steady = thinned.picked(kept[len(kept) // 20 :])  # without warm-up steps, which compile and fill caches
    readings, printed = steady.readings, steady.values
    values = [1 / value for value in printed] if series.quantity == "rate" else printed
    found = shift(values, MIN_READINGS_PER_SIDE)
    if found is None or found.before <= 0 or found.separation < MIN_SPEED_SEPARATION or found.after < MIN_SLOWDOWN * found.before:
        return None
    tail = values[-max(3, (len(values) - found.at) // 4) :]
    if median(tail) < MIN_SLOWDOWN * found.before:
        return None
    before, after = median(printed[: found.at]), median(printed[found.at :])
    return SlowDown(series, readings[found.at], readings[-1], found.after / found.before, before, after)


def _waiting_share(slow: SlowDown, series: Sequence[Series]) -> float:
    """The median share of a step that is spent waiting for data, from the slow-down on; 0 if the log does not print it."""
    if slow.series.quantity != "step_time":
        return 0.0
    steps = {r.line: r.value for r in slow.series.readings if r.line >= slow.at.line and r.value > 0}
    waits = (s for s in series if s.quantity == "data_time" and s.scope == slow.series.scope)
    shares = [r.value / steps[r.line] for s in waits for r in s.readings if r.line in steps]
    return median(shares) if shares else 0.0
