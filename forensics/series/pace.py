"""Step times and rates that change, to Events: slow-downs, starving for data, a GPU that throttles.

time: 0.41 ... time: 0.40 ... time: 2.9, data_time: 2.5 -> slower by 7.1 from line 812 on, waiting for data

A slow-down is a change of level (trend.shift) that lasts to the end, by MIN_SLOWDOWN at least, with nearly all values behind it
slower than nearly all before. By itself it is no cause: an Observation without one, for the timeline. It becomes a hint where the
log shows why:
- `throttled`: heat, falling clocks or a reason for low clocks in the same log (heat.py) (`throttled` of signatures/records.yaml);
- `starved`: at the end nearly all of a step is waiting for data and steps are MIN_STARVED_SLOWDOWN slower -> process.stalled;
  strong evidence where it is twice that, MIN_STRONG_WAITING_SHARE of each step, for MIN_STRONG_READINGS readings;
- a slow-down with half of a step spent waiting for data, where the log tells of trouble with files, or without, where it tells
  of trouble with the network, is a hint for that trouble: it shows what it cost.
"""

import math
import statistics
from collections.abc import Sequence

from msgspec import Struct

from forensics.model import Line, Observation, Scan, Value
from forensics.series.base import Reading, Series
from forensics.series.heat import throttle_reason
from forensics.series.observations import scope_fields, series_observation
from forensics.series.outcomes import STARVED, THROTTLED, WAITS_FOR_DATA, WAITS_FOR_PEERS, Proves
from forensics.series.trend import shift

MIN_SLOWDOWN = 1.5
MIN_LEVEL_SEPARATION_PACE = 0.9
MIN_READINGS_PER_SIDE = 10  # readings on each side
MAX_PACE_POINTS = 400
MIN_STARVED_SLOWDOWN = 5.0
MIN_WAITING_SHARE = 0.8
MIN_STRONG_WAITING_SHARE = 0.9
MIN_DATA_WAITING_SHARE = 0.5
MIN_STRONG_READINGS = 16


class SlowDown(Struct, frozen=True):
    """From `at` on a step takes `factor` times as long; seconds a step before and after where the unit is known."""

    series: Series
    at: Reading
    last: Reading
    factor: float
    before: float
    after: float


def pace_events(scan: Scan, series: Sequence[Series], proves: Proves) -> list[Observation]:
    """At most one Observation: the clearest slow-down of a source, with what explains it."""
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
    heat = throttle_reason(series, clearest.at.line)
    if heat:
        reading, facts, weight = heat
        lines = [Line(reading.line, reading.text), *lines]
        return [series_observation(scan, "throttled", proves[THROTTLED].cause, weight, lines, {**fields, **facts}, count)]
    share = _waiting(clearest, series)
    fields |= {"data_percent": round(100 * share)} if share else {}
    if share >= MIN_WAITING_SHARE and clearest.factor >= MIN_STARVED_SLOWDOWN:
        since = sum(r.line >= clearest.at.line for r in clearest.series.readings)
        clear = since >= MIN_STRONG_READINGS and share >= MIN_STRONG_WAITING_SHARE and clearest.factor >= 2 * MIN_STARVED_SLOWDOWN
        return [series_observation(scan, "starved", proves[STARVED].cause, "strong" if clear else "hint", lines, fields, count)]
    return [series_observation(scan, "slow-down", _explained(scan, share, proves), "hint", lines, fields, count)]


def _explained(scan: Scan, share: float, proves: Proves) -> str | None:
    """The trouble with files (where steps wait for data) or the network (where they do not) that the same log tells of."""
    proven = proves[WAITS_FOR_DATA if share >= MIN_DATA_WAITING_SHARE else WAITS_FOR_PEERS]
    return next((h.cause for h in scan.hits if proven.is_beside(h.cause) and h.weight != "hint"), None)


def slow_down(series: Series) -> SlowDown | None:
    """The slow-down of a series of step times or rates; None where there is none."""
    thin = series.evened(MAX_PACE_POINTS)
    readings = [r for r in thin.readings if math.isfinite(r.value) and r.value > 0]
    readings = readings[len(readings) // 20 :]  # the first steps compile, fill caches, measure little
    values = [1 / r.value if series.quantity == "rate" else r.value for r in readings]
    found = shift(values, MIN_READINGS_PER_SIDE)
    if found is None or found.before <= 0 or found.apart < MIN_LEVEL_SEPARATION_PACE or found.after < MIN_SLOWDOWN * found.before:
        return None
    tail = values[-max(3, (len(values) - found.at) // 4) :]
    if statistics.median(tail) < MIN_SLOWDOWN * found.before:
        return None
    plain = [r.value for r in readings]
    before, after = statistics.median(plain[: found.at]), statistics.median(plain[found.at :])
    return SlowDown(series, readings[found.at], readings[-1], found.after / found.before, before, after)


def _waiting(slow: SlowDown, series: Sequence[Series]) -> float:
    """The part of a step that is waiting for data, from the slow-down on; 0 where the log does not tell."""
    if slow.series.quantity != "step_time":
        return 0.0
    steps = {r.line: r.value for r in slow.series.readings if r.line >= slow.at.line and r.value > 0}
    waits = (s for s in series if s.quantity == "data_time" and s.scope == slow.series.scope)
    shares = [r.value / steps[r.line] for s in waits for r in s.readings if r.line in steps]
    return statistics.median(shares) if shares else 0.0
