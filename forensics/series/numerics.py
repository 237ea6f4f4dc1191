"""Losses and gradient norms that become NaN, explode or diverge, and a loss scale that falls to its minimum.

step 120 loss 2.31 ... step 180 loss 4.1e+07 ... step 200 loss nan -> numerics.nan at step 200, after 4.1e+07

Kinds of Observation:
- `nan`: finite readings, then a part of which at least MIN_LOST_READINGS_SHARE, and the last reading, are NaN or infinite. A
  single inf is an overflow that the loss scaler skipped. A value of a held-out set says nothing about training. Or most of
  what each record of the run tells is NaN, from the first record to the last.
- `divergence`: the median of the last sixth is MIN_DIVERGED_LOSS_RATIO times the lowest median of an earlier stretch of that
  length, within the last trial or fold where each line names one. GAN losses, rewards and single loss terms do this in healthy
  runs, so only the total loss of a run counts, and none of a training by rewards.
- `explosion`: most gradient norms are above MIN_EXPLODED_NORM, however few there are. The largest float16 is 65504; an update of
  that size destroys a model.
- `loss-scale`: the loss scale fell MIN_SCALE_FALLS times, never rose in between and is at most MIN_LOSS_SCALE.
"""

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise

from forensics.core.averages import median
from forensics.model import Line, Observation, Scan, Value, Weight
from forensics.readers.numbers.base import MIN_STRONG_READINGS, Reading, Readings, Series
from forensics.readers.numbers.lost_values import NEVER_KNOWN
from forensics.readers.numbers.lost_values import QUANTITY as LOST_METRIC
from forensics.readers.progress.counters import named_counters, trial_number
from forensics.readers.progress.last_step import lines_from_end
from forensics.readers.words import words, words_of_name
from forensics.series.observations import distinct_lines, scope_fields, series_observation
from forensics.series.trend import medians_of_windows

MIN_LOST_READINGS_SHARE = 0.9  # chosen by hand: a few later readings may be of another kind, so not all
# Readings before and behind the loss of a number of any name. Measured: of 1,491 labelled logs the two of lost numbers have one.
MIN_LOST_METRIC_READINGS = 5
MIN_SPIKE = 3.0  # chosen by hand: times the median; losses and norms of healthy runs vary by less from one print to the next
SPIKE_READINGS = 3  # chosen by hand: a spike that more usual values than these follow is not what became NaN
MIN_DIVERGED_LOSS_RATIO = 10.0  # chosen by hand: restarts of a learning rate and new data raise a loss by less; docs/series.md
MIN_STRONG_LOSS_RATIO = 1000.0  # chosen by hand: a hundred times MIN_DIVERGED_LOSS_RATIO
MIN_UNTRAINED_RATIO = 3.0  # chosen by hand: of all last losses over all first ones: an untrained model was far better
MIN_LEARNT_RATIO = 1.5  # chosen by hand: of the first loss over the lowest, of a model that has learnt something
NEAR_UNTRAINED = 0.9  # chosen by hand: a model that lost all that it learnt has about the losses again that it had before
MIN_REGAINED_SHARE = 0.6  # chosen by hand: the same, of each of its last losses and the greatest of its first
MIN_LOSS_READINGS = 8  # two stretches of four; chosen by hand
MIN_FEW_LOSS_READINGS = 5  # chosen by hand: so few tell of a divergence by MIN_STRONG_LOSS_RATIO
MIN_EXPLODED_NORM = 1e8  # chosen by hand, see above: far above every norm that is only large
MIN_SCALE_FALLS = 8  # from the usual 65536 down to 256: a scaler that settles stops before
MIN_LOSS_SCALE = 1.0  # below it gradients are made smaller than they are, and underflow
MAX_LINES_ABOVE = 5000  # chosen by hand: of an epoch, between its heading and a step
MAX_LINES_OF_RECORD = 60  # chosen by hand: of the table that a training by rewards prints at a time
MAX_NAN_EVENTS = 3  # the loss, the gradient norm and one term: the rest follow from them


def numeric_events(scan: Scan, series: Sequence[Series], cause: str | None) -> list[Observation]:
    """Observations of the losses, gradient norms and loss scales of one source, all with `cause`, strong evidence first."""
    found: list[Observation] = []
    for one in series:
        event: Observation | None = None
        if one.name.startswith("held-out"):
            continue
        if one.quantity in ("loss", "grad_norm"):
            event = _nan(scan, one, series, cause) or _diverged(scan, one, cause) or _exploded(scan, one, series, cause)
        elif one.quantity == LOST_METRIC:
            event = _nan(scan, one, series, cause)
        elif one.quantity == NEVER_KNOWN:
            event = _never_known(scan, one, cause)
        elif one.quantity == "loss_scale":
            event = _scale_at_minimum(scan, one, cause)
        found += [event] if event else []
    if any(e.kind == "series/nan" and "loss" in str(e.fields["series"]) for e in found):  # NaN gradients add nothing
        found = [e for e in found if e.kind != "series/nan" or "loss" in str(e.fields["series"])]
    found.sort(key=lambda e: (e.weight != "strong", -len(e.proofs)))
    return found[:MAX_NAN_EVENTS]


def _nan(scan: Scan, series: Series, others: Sequence[Series], cause: str | None) -> Observation | None:
    readings = series.readings
    if math.isfinite(readings[-1].value) or "v_num=" in readings[-1].text:  # Lightning's bar shows nan before the first batch
        return None
    bad = [not math.isfinite(value) for value in series.values]
    lost = [*accumulate(reversed(bad))][::-1]  # for each reading, how many are lost from it on
    first = next((i for i, n in enumerate(lost) if bad[i] and n >= MIN_LOST_READINGS_SHARE * (len(bad) - i)), None)
    if first is None or first == 0 or len(bad) - first < (2 if series.quantity == "loss" else 3):
        return None
    least = MIN_LOST_METRIC_READINGS if series.quantity == LOST_METRIC else 0
    sure = series.quantity in ("loss", LOST_METRIC) and min(first, len(bad) - first) >= least
    weight: Weight = "strong" if sure and len(bad) >= MIN_STRONG_READINGS and len(bad) - first >= 3 else "hint"
    before, at = readings[:first], readings[first]
    fields: dict[str, Value] = {
        "series": series.name,
        "readings": len(bad),
        "nan_readings": len(bad) - first,
        **scope_fields(series),
    }
    fields |= {} if at.step is None else {"step_no": int(at.step)}
    fields |= _epoch_of_step(at, series, scan) | _facts_before(before, at, others, series)
    peak = max(before[-SPIKE_READINGS:], key=lambda r: abs(r.value) if math.isfinite(r.value) else 0.0)
    high = (
        [peak] if abs(peak.value) > MIN_SPIKE * abs(median([r.value for r in before if math.isfinite(r.value)] or [0.0])) else []
    )
    return series_observation(scan, "nan", cause, weight, distinct_lines((at, before[-1], *high, readings[-1])), fields, len(bad))


def _never_known(scan: Scan, series: Series, cause: str | None) -> Observation:
    count, ends = len(series.readings), (series.readings[0], series.readings[-1])
    fields: dict[str, Value] = {"series": series.name, "never_known": series.name, "readings": count, "nan_readings": count}
    return series_observation(scan, "nan", cause, "strong", distinct_lines(ends), fields, count)


def _facts_before(before: Sequence[Reading], at: Reading, others: Sequence[Series], series: Series) -> dict[str, Value]:
    """The last finite value, gradient norm and loss scale, and how far the first two were above the usual."""
    finite = [r.value for r in before if math.isfinite(r.value)]
    facts: dict[str, Value] = {}
    if finite:
        facts["last_finite"] = _rounded(finite[-1])
        if factor := _spike_factor(finite):
            facts["spike"] = factor
    for other in others:
        if other.quantity in ("grad_norm", "loss_scale") and other.scope == series.scope and other is not series:
            rows = [r for r in other.readings if r.line < at.line and math.isfinite(r.value)]
            known = [r.value for r in rows]
            if known and other.quantity == "grad_norm":
                facts["grad_norm_before"] = _rounded(known[-1])
                if factor := _spike_factor(known):
                    facts |= {"grad_spike": factor, **_rise(rows)}
            elif known:
                facts["loss_scale_before"] = known[-1]
    return facts


def _spike_factor(values: Sequence[float]) -> float:
    """How many times the usual value the last one is, if it is far above it; else 0."""
    usual = median(values)
    return _rounded(values[-1] / usual, 3) if usual > 0 and values[-1] > MIN_SPIKE * usual else 0.0


def _rise(rows: Sequence[Reading]) -> dict[str, Value]:
    """The step since which a norm was above the usual, if it was so at more than its last reading."""
    usual = median([r.value for r in rows])
    since = next((i for i in range(len(rows) - 1, -1, -1) if rows[i].value <= MIN_SPIKE * usual), -1) + 1
    step = rows[since].step if since < len(rows) - 1 else None
    return {} if step is None else {"grad_rise_step": int(step)}


def _rounded(value: float, digits: int = 4) -> float:
    """`value` with `digits` significant digits, for a sentence of the report."""
    return float(f"{value:.{digits}g}")


def _epoch_of_step(reading: Reading, series: Series, scan: Scan) -> dict[str, Value]:
    """The epoch of its step, where the steps begin again in each epoch, which has a step of that number then."""
    known = [step for step in series.steps if step is not None]
    if reading.step is None or all(a <= b for a, b in pairwise(known)):
        return {}
    epoch = _epoch(scan, reading)
    return {} if epoch is None else {"epoch_of_step": epoch}


def _epoch(scan: Scan, reading: Reading) -> int | None:
    """The epoch that its line names, or the last line above it that does: `Epoch 2/10` over the bar of Keras."""
    above = lines_from_end(scan, (b"epoch",), MAX_LINES_ABOVE, 1, reading.line)
    named = (c.now for text in (reading.text, *(t for _, t in above)) for c in named_counters(text) if c.unit == "epoch")
    return next(named, None)


def _of_last_trial(readings: Sequence[Reading]) -> Sequence[Reading]:
    """The readings of the last model that is trained, where each line names its trial, fold or run: `trial 7: loss 3.5`."""
    last = trial_number(readings[-1].text)
    if last is None:
        return readings
    return [r for r in readings if (own := trial_number(r.text)) is None or own == last]


def _diverged(scan: Scan, series: Series, cause: str | None) -> Observation | None:
    if series.name not in words("total_loss_names") or len(series.readings) < MIN_FEW_LOSS_READINGS:
        return None
    readings, values = _finite(_of_last_trial(series.readings))
    if len(values) < MIN_FEW_LOSS_READINGS or min(values) <= 0:
        return None
    width = 3 if len(values) < MIN_LOSS_READINGS else max(4, len(values) // 6)
    last = median(values[-width:])
    least = MIN_DIVERGED_LOSS_RATIO if len(values) >= MIN_LOSS_READINGS else MIN_STRONG_LOSS_RATIO
    if last < least * min(values):  # no stretch has a lower median than the lowest value
        return None
    medians = medians_of_windows(values, width)
    best = min(range(len(medians) - width), key=medians.__getitem__) if len(medians) > width else 0
    ratio = medians[-1] / medians[best]
    if ratio < least or medians[-1] < max(medians[0], median(values)):
        return None
    if medians[-1] < NEAR_UNTRAINED * max(medians[: best + 1]):
        return None  # a loss that jumps about was as high before
    if min(values[-max(3, len(values) // 8) :]) < max(3 * medians[best], MIN_REGAINED_SHARE * max(values[:width])):
        return None
    if _learns_by_rewards(scan, readings):
        return None
    lowest = [*accumulate(reversed(values), min)][::-1]  # for each reading, the lowest one from it on
    base = min(medians_of_windows(values[best : best + width], 3))
    onset = next(i for i in range(best, len(values)) if lowest[i] > 3 * base or i == len(values) - width)
    fields: dict[str, Value] = {
        "series": series.name,
        "readings": len(values),
        "lowest": _rounded(min(values[best : best + width])),
        "last_finite": _rounded(values[-1]),
        "ratio": _rounded(ratio),
        **({} if (step := readings[onset].step) is None else {"onset_step": int(step)}),
        **_epoch_of_step(readings[onset], series, scan),
        **scope_fields(series),
    }
    weight = _weight_of_growth(values[:width], values[-width:], len(values), medians[best])
    return series_observation(
        scan, "divergence", cause, weight, distinct_lines((readings[-1], readings[onset], readings[best])), fields, len(values)
    )


def _weight_of_growth(first: Sequence[float], last: Sequence[float], count: int, lowest: float) -> Weight:
    """How sure it is that the loss diverged, by its first and its last readings, of `count` in all, and its lowest median."""
    from_untrained = min(last) / max(first)
    if count < MIN_STRONG_READINGS:
        return "strong" if from_untrained >= MIN_STRONG_LOSS_RATIO else "hint"
    learnt = MIN_LEARNT_RATIO * lowest <= median(first)  # else it may be a mean over an epoch, which grows from 0
    far = median(last) >= MIN_STRONG_LOSS_RATIO * lowest
    return "strong" if far or (learnt and from_untrained >= MIN_UNTRAINED_RATIO) else "hint"


def _learns_by_rewards(scan: Scan, readings: Sequence[Reading]) -> bool:
    """Do the lines of the loss, or those near the last one, tell of rewards?"""
    last, names = readings[-1], sorted(words("reward_words"))
    near = lines_from_end(scan, [name.encode() for name in names], MAX_LINES_OF_RECORD, 1, last.line)
    return any(words_of_name(text) & words("reward_words") for text in (last.text, *(text for _, text in near)))


def _finite(readings: Sequence[Reading]) -> tuple[Sequence[Reading], list[float]]:
    """Those readings that are finite, and their values."""
    values = [*readings.values] if isinstance(readings, Readings) else [r.value for r in readings]
    if all(map(math.isfinite, values)):
        return readings, values
    kept = [r for r in readings if math.isfinite(r.value)]
    return kept, [r.value for r in kept]


def _exploded(scan: Scan, series: Series, others: Sequence[Series], cause: str | None) -> Observation | None:
    """Gradient norms above MIN_EXPLODED_NORM, with the line of the largest one first."""
    if series.quantity != "grad_norm":
        return None
    values = [value for value in series.values if math.isfinite(value)]
    if len(values) < 2 or median(values) < MIN_EXPLODED_NORM or values[-1] < MIN_EXPLODED_NORM:
        return None
    worst = max((r for r in series.readings if math.isfinite(r.value)), key=lambda r: r.value)
    fields: dict[str, Value] = {"series": series.name, "readings": len(values), "largest": worst.value, **scope_fields(series)}
    losses = [r.value for o in others if o.name in words("total_loss_names") for r in o.readings if r.line == worst.line]
    fields |= {"loss": losses[0]} if losses else {}
    return series_observation(scan, "explosion", cause, "hint", distinct_lines((worst, series.readings[-1])), fields, len(values))


def _scale_at_minimum(scan: Scan, series: Series, cause: str | None) -> Observation | None:
    readings = series.readings
    values = series.values
    falls = 0
    for a, b in zip(reversed(values[:-1]), reversed(values), strict=False):
        if b > a:
            break
        falls += b < a
    if falls < MIN_SCALE_FALLS or values[-1] > MIN_LOSS_SCALE:
        return None
    weight: Weight = "strong" if len(values) >= MIN_STRONG_READINGS else "hint"
    fields: dict[str, Value] = {"loss_scale": values[-1], "first_loss_scale": values[0], "readings": len(values)}
    first: Line = Line(readings[0].line, readings[0].text)
    last: Line = Line(readings[-1].line, readings[-1].text)
    return series_observation(scan, "loss-scale", cause, weight, (last, first), fields, len(values))
