"""Steps that become slower: slow-downs, steps that wait for data, a GPU that throttles.

time: 0.41 ... time: 0.40 ... time: 2.9, data_time: 2.5 -> slower by 7.1 from line 812 on, waiting for data

A slow-down is a change of level (trend.shift) by MIN_SLOWDOWN or more that lasts to the end; nearly all values after it are
slower than nearly all before it. By itself it has no cause: it appears in the timeline. It becomes evidence if the log shows why:
- `throttled`: heat, falling clocks or a throttle reason in the same log (throttling.py);
- `starved`: steps are slower by MIN_STARVED_SLOWDOWN and spend MIN_WAITING_SHARE of their time waiting for data. It is strong
  evidence if they are slower by twice that and wait MIN_STRONG_WAITING_SHARE of their time for MIN_STRONG_READINGS readings;
- `slow-down` with a cause: steps wait for data for MIN_DATA_WAITING_SHARE of their time and the log has file system faults, or
  they wait less and the log has network faults. It is a hint for that fault, and shows what it costs.
"""

import math
from collections.abc import Sequence

from msgspec import Struct

from forensics.core.averages import median
from forensics.model import Line, Observation, Scan, Value
from forensics.readers.numbers.base import MIN_STRONG_READINGS, Reading, Series
from forensics.series.observations import scope_fields, series_observation
from forensics.series.outcomes import STARVED, THROTTLED, WAITS_FOR_DATA, WAITS_FOR_PEERS, Proves
from forensics.series.throttling import throttle_reason
from forensics.series.trend import shift

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
