"""What the numbers of two runs tell otherwise: where their losses part, the pace and the memory.

    step 900 loss 1.9 took 0.20 s         step 900 loss 3.1 took 0.35 s
    -> Change("loss", "7.5, 7.3, 7.1 to 1.7", "7.5, 7.3, 7.1 to 24"), Change("loss from step 900 on", "1.9", "3.1"),
       Change("time per step", "0.2 s", "0.35 s")

Only numbers that both runs print are compared; the time of a step is also taken from the times of their lines.
"""

import math
from collections.abc import Iterable, Iterator
from itertools import pairwise

from msgspec.structs import replace

from forensics.core.averages import median
from forensics.core.text import format_size
from forensics.model import Scan
from forensics.model.answers import Change
from forensics.readers.numbers.times import seconds_of
from forensics.series import Series, series_of

MIN_COMPARED_READINGS = 3  # the first ones say whether two runs began alike, the last where they ended
MAX_FIRST_VALUES = 3  # chosen by hand: enough to see whether two runs began alike
NOISE_FACTOR = 4.0  # two runs with other seeds differ by about as much as one reading from the next; four times that is no chance
MIN_PARTED_SHARE = 0.05  # chosen by hand: of the good run's loss; less is no other course
PACE_RATIO = 1.2  # chosen by hand: the pace of one program on one machine varies by less from run to run
MEMORY_RATIO = 1.1  # the memory of any program varies by less
END_SHARE = 5  # the last fifth of the readings tells how a run went at its end


def compared_numbers(good: Iterable[Scan], bad: Iterable[Scan], *, paced: bool) -> tuple[Change, ...]:
    """The numbers that both runs print, of each name the first series. `paced`: the pace is known to differ already."""
    then, now = _first_series(good), _first_series(bad)
    both = [(then[name], now[name]) for name in now if name in then]
    found = [change for a, b in both if not (paced and a.quantity == "step_time") for change in _compared(a, b)]
    if not paced and not any(a.quantity in ("step_time", "rate") for a, _ in both):
        found += [change for a, b in both[:1] if (change := _pace_by_times(a, b))]
    return tuple(found)


def _first_series(run: Iterable[Scan]) -> dict[tuple[str, str], Series]:
    """The longest series of each name and sense, losses first."""
    order = ("loss", "step_time", "rate", "memory")
    series = [s for scan in run for s in _placed(scan) if s.quantity in order and len(s.readings) >= MIN_COMPARED_READINGS]
    first: dict[tuple[str, str], Series] = {}
    for each in sorted(series, key=lambda s: (order.index(s.quantity), -len(s.readings), s.scope)):
        first.setdefault((each.name, each.sense), each)
    return first


def _placed(scan: Scan) -> Iterator[Series]:
    """The series of a source with the lines of its file."""
    for one in series_of(scan):
        yield replace(one, readings=tuple(replace(r, line=scan.source.number_of(r.line)) for r in one.readings))


def _compared(good: Series, bad: Series) -> Iterator[Change]:
    if good.quantity == "loss":
        then, now = _course(good), _course(bad)
        yield from (_change(good, bad, then, now), *_parting(good, bad)) if then != now else ()
    elif good.quantity == "memory":
        yield from _compared_memory(good, bad)
    else:
        yield from _compared_pace(good, bad)


def _compared_memory(good: Series, bad: Series) -> Iterator[Change]:
    if good.unit == bad.unit == "bytes":
        most = min if good.sense == "free" else max
        then, now = most(good.values), most(bad.values)
        if _is_other(then, now, MEMORY_RATIO):
            yield _change(good, bad, format_size(then), format_size(now), f", at {'least' if most is min else 'most'}")


def _compared_pace(good: Series, bad: Series) -> Iterator[Change]:
    then, now = (median([*filter(math.isfinite, s.values)]) for s in (good, bad))
    end = median([*filter(math.isfinite, bad.values)][-max(1, len(bad.values) // END_SHARE) :])
    if _is_other(then, now, PACE_RATIO) or _is_other(then, end, PACE_RATIO):
        late = f", {_value(end, bad)} at the end" if _is_other(now, end, PACE_RATIO) else ""
        yield _change(good, bad, _value(then, good), _value(now, bad) + late)


def _is_other(one: float, other: float, ratio: float) -> bool:
    low, high = sorted((one, other))
    return high > ratio * low


def _value(value: float, series: Series) -> str:
    told = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{told} {series.unit}" if series.unit[:1].isalpha() else told


def _change(good: Series, bad: Series, then: str, now: str, of: str = "") -> Change:
    name = good.name.removesuffix(good.unit.replace("/", " ")) + good.unit if good.unit.startswith("/") else good.name
    return Change(name + of, then, now, good.lines[0], bad.lines[0])


def _course(series: Series) -> str:
    """The first values, which tell whether two runs began alike, and the last."""
    told = [_loss(value) for value in series.values]
    return ", ".join(told[:MAX_FIRST_VALUES]) + (f" to {told[-1]}" if len(told) > MAX_FIRST_VALUES else "")


def _loss(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "NaN"


def _parting(good: Series, bad: Series) -> Iterator[Change]:
    """The step from which on the two losses stay apart, with its values."""
    expected = _by_step(good)
    both = [(step, expected[step], value) for step, value in _by_step(bad).items() if step in expected]
    if len(both) < MIN_COMPARED_READINGS:
        return
    noise = median([abs(b - a) for a, b in pairwise(e for _, e, _ in both)])
    apart = [not abs(value - e) <= max(NOISE_FACTOR * noise, MIN_PARTED_SHARE * abs(e)) for _, e, value in both]
    last = next((i for i, is_apart in reversed([*enumerate(apart)]) if not is_apart), -1)
    if last + 1 < len(both) - 1 or not math.isfinite(both[-1][2]):  # one reading alone may be chance
        step, e, value = both[last + 1]
        yield _change(good, bad, _loss(e), _loss(value), f" from step {step:g} on")


def _by_step(series: Series) -> dict[float, float]:
    """The values by their steps; nothing of a series whose steps begin again."""
    known = [(step, value) for step, value in zip(series.steps, series.values, strict=True) if step is not None]
    return dict(known) if all(a[0] < b[0] for a, b in pairwise(known)) else {}


def _pace_by_times(good: Series, bad: Series) -> Change | None:
    """The time of a step by the times of the lines, where both runs have them."""
    then, now = _seconds_a_step(good), _seconds_a_step(bad)
    if not then or not now or not _is_other(then, now, PACE_RATIO):
        return None
    return Change("seconds a step", f"{then:.3g}", f"{now:.3g}", good.lines[0], bad.lines[0])


def _seconds_a_step(series: Series) -> float | None:
    """The middle one of the times from one reading to the next, divided by their steps."""
    known = [
        (step, moment)
        for step, text in zip(series.steps, series.texts, strict=True)
        if step is not None and (moment := seconds_of(text)) is not None
    ]
    paces = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(known) if b[0] > a[0] and b[1] > a[1]]
    return median(paces) if len(paces) >= MIN_COMPARED_READINGS else None
