"""Memory that steps up at each evaluation and stays up: a leak.

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
import itertools
from collections.abc import Iterable, Sequence

from msgspec import Struct

from forensics.core.averages import mean, median
from forensics.model import Observation, Scan, Value, Weight
from forensics.readers.numbers.base import MIN_STRONG_READINGS, Reading, Series
from forensics.readers.numbers.gather import Numbers
from forensics.series.observations import distinct_lines, scope_fields, series_observation
from forensics.series.outcomes import GPU_MEMORY_GROWS, HOST_MEMORY_GROWS, Proves
from forensics.series.trend import MIN_RISE_SHARE_OF_LEVEL, MIN_STRONG_RISE_SHARE

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
    return [_event(scan, steps, proves) for steps in rising[:MAX_EVALUATION_EVENTS]]


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


def _event(scan: Scan, found: EvaluationSteps, proves: Proves) -> Observation:
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
