"""Leaks: memory that grows and does not flatten, free memory that shrinks, memory that steps up at each evaluation.

Memory that grows:

step 0 rss 665 MiB ... step 185 rss 1116 MiB -> host_memory.leak, 665 MiB to 1.09 GiB, 11.6 MiB per reading, 2.4 MiB per step
MEM 6.69 1795406401.4 ... MEM 240.76 1795406430.5  -> the same, 28 GiB per hour, 475 MiB after the same time again

The test is the one of trend.py. It is strong evidence with MIN_STRONG_READINGS readings and a rise of MIN_STRONG_RISE_SHARE of
the first value, else a hint. A watcher often starts before the program and goes on behind its end: only the readings while the
program held its memory count, and if it was given back at the end, growth is a hint. Three to seven readings are a hint at most.
A high-water mark, or the reserve of a caching allocator, rises now and then in healthy runs and needs MIN_STRONG_READINGS. Two
series have rules of their own:
- nvidia-smi's memory grows while the numbers of PyTorch stay constant: a leak outside PyTorch's allocator, however slow;
- free GPU memory shrinks and never recovers, in a log with failed allocations: memory that is not released.

Memory that steps up at each evaluation and stays up: a leak.

step 190 rss 2.0 GiB / val_loss 1.9 / step 200 rss 2.6 GiB ... step 400 rss 3.2 GiB -> "3 evaluations, 0.6 GiB at each"

An evaluation is a group of readings of a held-out set with no training line between them. Only memory between the evaluations is
compared, so a peak during an evaluation that is freed afterwards does not count. The pattern is reported if
- there are MIN_EVALUATIONS evaluations or more, each with at least two readings of memory before and after it;
- at least MIN_RISE_SHARE of the rise since the first evaluation happens across evaluations, not between them;
- at least MIN_RISING_STEPS_SHARE of the steps are above twice the scatter between evaluations, and the mean of the last third of
  the steps is at least MIN_LATE_RISE_RATIO of the mean of all: a pool that fills during the first evaluations is healthy;
- the whole rise is at least MIN_RISE_SHARE_OF_LEVEL of the first level.
"""

import bisect
import datetime
import itertools
import math
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from forensics.core.averages import mean, median
from forensics.model import Observation, Scan, Value, Weight
from forensics.readers.numbers.base import MIN_STRONG_READINGS, Reading, Series, seconds_of
from forensics.readers.numbers.gather import Numbers
from forensics.series.observations import (
    FREE_GPU_MEMORY_SINKS,
    GPU_MEMORY_GROWS,
    HOST_MEMORY_GROWS,
    Proves,
    distinct_lines,
    scope_fields,
    series_observation,
)
from forensics.series.trend import (
    MAX_TREND_POINTS,
    MIN_RISE_SHARE_OF_LEVEL,
    MIN_STRONG_RISE_SHARE,
    Rise,
    rise,
    short_rise,
    theil_sen,
)

MIN_FREE_FALL_SHARE = 0.15  # of the first free memory
MIN_DRIVER_RISE_SHARE = 0.0002  # 16 MiB of an 80 GiB GPU: the driver counts in steps of 2 MiB, and nothing of PyTorch's moved
MAX_GROWTH_EVENTS = 4  # strong evidence first; further series of one program tell of the same
HOUR_S = 3600.0
FIRST_DATE_S = 946_684_800.0  # the year 2000: what is smaller counts from a boot
MAX_LOAD_READINGS = 3  # a watcher that reads every few seconds sees a model half loaded once or twice
MINUTES_FROM_S = 600.0  # a longer time is told in whole minutes
HOURS_FROM_S = 14_400.0  # and a still longer one in whole hours
MIN_SPAN_S = 10.0  # in a shorter time a program loads its data: the rate says nothing about the rest
# Chosen by hand: a percentage is printed as a whole number, so a small rise is one step of rounding.
MIN_PERCENT_RISE_SHARE = 0.15
MIN_VISIBLE_CHANGE_SHARE = 0.02  # of the last value; a report writes sizes with three digits


def growth_events(scan: Scan, series: Sequence[Series], proves: Proves) -> list[Observation]:
    """An Observation for each series of memory that grows, strong evidence first, at most MAX_GROWTH_EVENTS."""
    held = [_while_held(_without_repeated_steps(s)) for s in series if s.quantity == "memory" and len(s.readings) >= 3]
    memory = [replace(h, series=h.series.evenly_spaced(1000)) for h in held]
    found = [(h, r) for h in memory if (r := _rise(h.series))]
    found += [
        (h, r)
        for h in memory
        if not any(h is f for f, _ in found)
        and (r := _only_driver_shows_growth(h.series, [m.series for m in memory]) or _free_falls(h.series, scan, proves))
    ]
    found.sort(key=lambda x: (_weight(*x) != "strong", x[0].series.sense != "used", -x[1].share))
    return [_event(scan, h, r, series, proves) for h, r in found[:MAX_GROWTH_EVENTS]]


class Held(Struct, frozen=True):
    """The readings while a program held its memory; `given_back`: the last reading, if the memory was given back before it."""

    series: Series
    given_back: Reading | None = None


def _while_held(series: Series) -> Held:
    """`series` without what a watcher read before the program was loaded and after it ended.

    Loaded: within MAX_LOAD_READINGS readings memory more than doubles, by at least half of what it rises afterwards, and never
    comes back below that. Ended: it falls below half of its highest value at once and stays there.
    """
    values = series.values
    if series.sense != "used" or len(values) < MIN_STRONG_READINGS or any(r.step is not None for r in series.readings):
        return Held(series)
    highest = max(values)
    if not all(map(math.isfinite, values)) or highest <= 0:
        return Held(series)
    end = max(i for i, v in enumerate(values) if v >= highest / 2) + 1
    highest_until = list(itertools.accumulate(values[:end], max))
    lowest_since = list(itertools.accumulate(reversed(values[:end]), min))[::-1]
    start = 0
    for before, lowest in enumerate(highest_until):
        for at in range(before + 1, min(before + 1 + MAX_LOAD_READINGS, end)):
            if lowest_since[at] > max(2 * lowest, (2 * lowest + highest) / 3):
                start = at
                break
    return Held(replace(series, readings=series.readings[start:end]), series.readings[-1] if end < len(values) else None)


def _without_repeated_steps(series: Series) -> Series:
    """`series` without repeated lines of one step: a logger with two handlers prints each line twice."""
    texts, steps = series.texts, series.steps
    repeats = [step is not None and text == before for text, before, step in zip(texts, (None, *texts), steps, strict=False)]
    return series.picked([i for i, again in enumerate(repeats) if not again]) if any(repeats) else series


def _rise(series: Series) -> Rise | None:
    values = [-v for v in series.values] if series.sense == "free" else series.values
    min_share = MIN_PERCENT_RISE_SHARE if series.unit == "%" else MIN_RISE_SHARE_OF_LEVEL
    if series.sense == "peak" and len(values) < MIN_STRONG_READINGS:
        return None
    if series.sense == "free" and (series.gpu or len(values) < MIN_STRONG_READINGS):
        return None
    found = rise(values, 2 * min_share if series.sense == "peak" else min_share)
    return found or short_rise(values, 2 * min_share)


def _only_driver_shows_growth(series: Series, others: Sequence[Series]) -> Rise | None:
    """The driver's memory rises at every reading, while the allocator's numbers between the same lines never change."""
    if (
        not series.gpu
        or series.sense != "used"
        or "smi" not in series.name
        or not 3 <= len(series.readings) < MIN_STRONG_READINGS
    ):
        return None
    first, last = series.readings[0].line, series.readings[-1].line
    within = [[r.value for r in o.readings if first <= r.line <= last] for o in others if o.gpu and "nvidia" not in o.name]
    compared = [v for v in within if len(v) >= 2]
    return short_rise(series.values, MIN_DRIVER_RISE_SHARE) if compared and all(len(set(v)) == 1 for v in compared) else None


def _free_falls(series: Series, scan: Scan, proves: Proves) -> Rise | None:
    """Free GPU memory never rises and falls at least twice, in a log with failed allocations."""
    if not _is_free_gpu_memory(series) or not any(proves[FREE_GPU_MEMORY_SINKS].is_beside(h.cause) for h in scan.hits):
        return None
    values = series.values
    falls = [a - b for a, b in itertools.pairwise(values)]
    if min(falls) < 0 or sum(f > 0 for f in falls) < 2 or sum(falls) < MIN_FREE_FALL_SHARE * values[0]:
        return None
    return Rise(sum(falls) / values[0], 1.0, 0.0, sum(falls) / len(falls))


def _is_free_gpu_memory(series: Series) -> bool:
    return series.gpu and series.sense == "free"


def _outcome(series: Series) -> str:
    if _is_free_gpu_memory(series):
        return FREE_GPU_MEMORY_SINKS
    return GPU_MEMORY_GROWS if series.gpu else HOST_MEMORY_GROWS


def _weight(held: Held, found: Rise) -> Weight:
    series = held.series
    many = len(series.readings) >= MIN_STRONG_READINGS and series.sense == "used" and found.share >= MIN_STRONG_RISE_SHARE
    return "strong" if many and held.given_back is None else "hint"


def _event(scan: Scan, held: Held, found: Rise, others: Sequence[Series], proves: Proves) -> Observation:
    series, readings = held.series, held.series.readings
    fields: dict[str, Value] = {
        "series": f"{series.name} {series.scope}".strip(),
        "readings": len(readings),
        **scope_fields(series),
    }
    if series.unit == "bytes":
        fields |= {"growth_bytes": round(abs(found.slope)), **_from_to(series), **_by_step(series, scan, others)}
        if "step_bytes" not in fields:
            fields |= _ahead(held, scan, found, others)
    else:
        fields |= {"first_percent": readings[0].value, "last_percent": readings[-1].value}
    return series_observation(
        scan,
        "sinking" if series.sense == "free" else "growth",
        proves[_outcome(series)].cause,
        _weight(held, found),
        distinct_lines(
            (readings[0], readings[-1], readings[len(readings) // 2], *([held.given_back] if held.given_back else []))
        ),
        fields,
        len(readings),
    )


def _from_to(series: Series) -> dict[str, Value]:
    """The first and the last value; empty if a report would print the same for both (growth of a few MB on many GB)."""
    first, last = round(series.readings[0].value), round(series.readings[-1].value)
    if abs(last - first) < MIN_VISIBLE_CHANGE_SHARE * abs(last):
        return {}
    if series.sense == "free":
        return {"first_free_bytes": first, "last_free_bytes": last}
    return {"first_bytes": first, "last_bytes": last}


def _by_step(series: Series, scan: Scan, others: Sequence[Series]) -> dict[str, Value]:
    """Growth per step, and the step at which a limit in the same log would be reached; empty if steps are unknown."""
    known = [(r.step, r.value) for r in series.readings if r.step is not None]
    if len(known) < 3 or any(b[0] <= a[0] for a, b in itertools.pairwise(known)):
        return {}
    known = known[:: -(-len(known) // 200)]
    speed = theil_sen([v for _, v in known], [s for s, _ in known])
    fields: dict[str, Value] = {"step_bytes": round(abs(speed)), "last_step": int(known[-1][0])}
    limit = None if series.gpu else _limit(scan, series, others)
    if limit and speed > 0:
        fields |= {"limit_bytes": limit, "limit_step": math.ceil(known[-1][0] + (limit - known[-1][1]) / speed)}
    return fields


def _ahead(held: Held, scan: Scan, found: Rise, others: Sequence[Series]) -> dict[str, Value]:
    """Growth per hour, and when a limit in the same log would be reached after the last reading; without a limit the memory after
    the same time again. For readings without a time, how many more would reach the limit. Empty for free memory."""
    series = held.series
    if series.sense == "free":
        return {}
    last = series.readings[-1].value
    limit = None if held.given_back else _limit(scan, series, others)
    timed = _timed(series)
    speed = theil_sen([v for _, v in timed[len(timed) // 4 :]], [t for t, _ in timed[len(timed) // 4 :]])
    if speed <= 0:
        more = math.ceil((limit - last) / found.slope) if limit and found.slope > 0 else 0
        return {"limit_bytes": limit, "limit_readings": more} if limit and more else {}
    (first_s, _), (last_s, last) = timed[0], timed[-1]
    fields: dict[str, Value] = {"hour_bytes": round(speed * HOUR_S), "span_s": _rounded(last_s - first_s)}
    if not held.given_back:
        fields["forecast_bytes"] = round(last + speed * (last_s - first_s))
    if limit:
        left = (limit - last) / speed
        fields |= {"limit_bytes": limit, "limit_in_s": _rounded(left)}
        if series.gpu and last_s >= FIRST_DATE_S:  # by the clock of the log
            fields["limit_at"] = f"{datetime.datetime.fromtimestamp(last_s + left, datetime.UTC):%Y-%m-%d %H:%M}"
    return fields


def _rounded(seconds: float) -> int:
    """Seconds, whole minutes or whole hours, still in seconds: no more digits than a reader needs."""
    unit = 3600 if seconds >= HOURS_FROM_S else 60 if seconds >= MINUTES_FROM_S else 1
    return unit * round(seconds / unit)


def _timed(series: Series) -> list[tuple[float, float]]:
    """The readings that have a time, evenly chosen, with the last of them; empty if they are too close."""
    stride = -(-len(series.readings) // MAX_TREND_POINTS)
    chosen = (*series.readings[:-1:stride], series.readings[-1])
    timed = [(t, r.value) for r in chosen if (t := _seconds(r)) is not None]
    return timed if timed and timed[-1][0] - timed[0][0] >= MIN_SPAN_S else []


def _seconds(reading: Reading) -> float | None:
    """The time of a reading: as its tool prints it, or that of its line."""
    return seconds_of(reading.text) if reading.time_s is None else reading.time_s


def _limit(scan: Scan, series: Series, others: Sequence[Series]) -> int | None:
    """A limit of this memory in the same log, if it is above the last reading: the size of the GPU; a cgroup's file, or what the
    kernel's OOM report says."""
    last = series.readings[-1].value
    for one in others:
        same = one.scope == series.scope or not (series.gpu or one.scope)  # of several cgroups each has a limit of its own
        if one.quantity == "limit" and one.gpu == series.gpu and same and one.readings[-1].value >= last:
            return round(one.readings[-1].value)
    for hit in () if series.gpu else scan.hits:
        text = hit.fields.get("limit_kb", "")
        if text.isdigit() and int(text) * 1024 >= last:
            return int(text) * 1024
    return None


MIN_EVALUATIONS = 3  # the fewest whose steps can be compared: two steps
MIN_RISE_SHARE = 0.9  # chosen by hand: nearly all of it; a leak of the training itself rises between them as well
MIN_RISING_STEPS_SHARE = 0.8  # chosen by hand: one of five may be hidden by memory that was freed just then
MIN_LATE_RISE_RATIO = 0.35  # chosen by hand: a pool that fills has steps that fade to nothing; recall in docs/series.md
EDGE_READINGS = 3  # the level next to an evaluation is the median of so many readings
MIN_STRONG_STEPS = 6  # twice MIN_EVALUATIONS; chosen by hand
MAX_EVALUATION_EVENTS = 2  # host and GPU memory; further series tell of the same


class EvaluationSteps(Struct, frozen=True):
    """The steps of memory across evaluations. `share`: the rise, as a share of the first level. `before` and `after`: the
    readings next to the largest step."""

    series: Series
    steps: tuple[float, ...]
    share: float
    before: Reading
    after: Reading


def evaluation_events(scan: Scan, found: Numbers, proves: Proves) -> list[Observation]:
    """An Observation for each series of memory that steps up at evaluations, those with the largest rise first."""
    lines = evaluations(found)
    if len(lines) < MIN_EVALUATIONS:
        return []
    memory = [s for s in found.series if s.quantity == "memory" and s.unit == "bytes"]
    rising = [steps for s in memory if (steps := steps_at_evaluations(s, lines))]
    rising.sort(key=lambda steps: (steps.series.sense != "used", -steps.share))
    return [_jump_event(scan, steps, proves) for steps in rising[:MAX_EVALUATION_EVENTS]]


def evaluations(found: Numbers) -> list[int]:
    """The first line of each evaluation: held-out readings with no line of training progress between them are one evaluation."""
    held_out = sorted({line for s in found.series if s.name.startswith("held-out") for line in s.lines})
    if not held_out:
        return []
    training = found.progress.lines
    later = (b for a, b in itertools.pairwise(held_out) if bisect.bisect_right(training, a) < bisect.bisect_left(training, b))
    return [held_out[0], *later]


def steps_at_evaluations(series: Series, lines: Sequence[int]) -> EvaluationSteps | None:
    """The steps of `series` across the evaluations that begin on `lines`; None if the pattern does not apply."""
    if series.sense == "free":
        return None
    stretches = [s for s in _between(series.readings, lines) if len(s) >= 2]
    if len(stretches) <= MIN_EVALUATIONS:
        return None
    first, last = [_edge(s, 0) for s in stretches], [_edge(s, -1) for s in stretches]
    steps = [b - a for a, b in zip(last, first[1:], strict=False)]
    drift = sum(b - a for a, b in zip(first[1:-1], last[1:-1], strict=True))
    whole = sum(steps) + drift
    if whole < MIN_RISE_SHARE_OF_LEVEL * last[0] or whole <= 0 or sum(steps) < MIN_RISE_SHARE * whole:
        return None
    levels = [median(r.value for r in s) for s in stretches]
    scatter = median(abs(r.value - level) for s, level in zip(stretches, levels, strict=True) for r in s)
    tail = steps[-max(1, len(steps) // 3) :]
    if sum(x > 2 * scatter for x in steps) < MIN_RISING_STEPS_SHARE * len(steps) or mean(tail) < MIN_LATE_RISE_RATIO * mean(
        steps
    ):
        return None
    largest = max(range(len(steps)), key=steps.__getitem__)
    return EvaluationSteps(series, tuple(steps), whole / (last[0] or 1.0), stretches[largest][-1], stretches[largest + 1][0])


def _between(readings: Sequence[Reading], lines: Sequence[int]) -> Iterable[list[Reading]]:
    """The readings before, between and after the evaluations."""
    for _, group in itertools.groupby(readings, key=lambda r: bisect.bisect_right(lines, r.line)):
        yield list(group)


def _edge(stretch: Sequence[Reading], side: int) -> float:
    width = min(EDGE_READINGS, len(stretch) // 2)
    return median(r.value for r in (stretch[:width] if side == 0 else stretch[-width:]))


def _jump_event(scan: Scan, found: EvaluationSteps, proves: Proves) -> Observation:
    series, readings = found.series, found.series.readings
    many = len(found.steps) >= MIN_STRONG_STEPS and len(readings) >= MIN_STRONG_READINGS and series.sense == "used"
    weight: Weight = "strong" if many and found.share >= MIN_STRONG_RISE_SHARE else "hint"
    fields: dict[str, Value] = {
        "series": f"{series.name} {series.scope}".strip(),
        "readings": len(readings),
        "evaluations": len(found.steps),
        "jump_bytes": round(median(found.steps)),
        "first_bytes": round(readings[0].value),
        "last_bytes": round(readings[-1].value),
        **scope_fields(series),
    }
    cause = proves[GPU_MEMORY_GROWS if series.gpu else HOST_MEMORY_GROWS].cause
    quoted = distinct_lines((readings[0], readings[-1], found.before, found.after))
    return series_observation(scan, "evaluation-jump", cause, weight, quoted, fields, len(readings))
