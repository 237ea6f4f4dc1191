"""Curves for the report's charts, from series of memory, losses and rates.

    Series("rss", quantity "memory", unit "bytes", scope "rank 3", readings (line 12, 1294467072.0), ...)
    -> Curve("rss", "memory", "B", "train.log", 3, ((12, 1294467072.0), ...))

They are only drawn; the room `series` interprets the numbers.
"""

import heapq
import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import Literal, TypeVar

from forensics.core import lazy
from forensics.model import Curve, Habit, Source
from forensics.series import Series

CURVE_KINDS: dict[str, Literal["memory", "loss", "throughput"]] = {
    "memory": "memory",
    "loss": "loss",
    "rate": "throughput",
    "step_time": "throughput",  # shown as steps a second, so that slower is lower, as with a rate
}
RANK_PATTERN = lazy.regex(r"rank (\d{1,6})")
MIN_CURVE_POINTS = 8  # fewer are read as numbers more easily than as a picture
MIN_LOSS_POINTS = 20  # readings of the loss, or steps between them: by then every kind of step has been seen, a validation too
MAX_CURVE_POINTS = 160  # one for every four dots of a chart's width
MAX_CURVES = 12  # chosen by hand: as many as a page shows
MANY_CURVES = 1000  # chosen by hand: so many are kept until those that no report shows are dropped

Points = tuple[tuple[int, float | None], ...]
Order = tuple[int, str, str, int, str]  # how long it is, negative; source, name, rank, scope
Ranked = tuple[Order, Curve]
T = TypeVar("T")


def curves(source: Source, found: Iterable[Series]) -> tuple[Ranked, ...]:
    """The curves of one source for a report: of series with MIN_CURVE_POINTS or more, as even samples of MAX_CURVE_POINTS."""
    shown = [(_order(s, source), s) for s in found if s.quantity in CURVE_KINDS and len(s.readings) >= MIN_CURVE_POINTS]
    longest = heapq.nsmallest(MAX_CURVES, shown, key=itemgetter(0))
    return tuple((order, curve) for order, s in longest if (curve := _curve(s, source)).points)


def longest_curves(found: Iterable[Ranked]) -> tuple[Curve, ...]:
    """Of the curves of all sources those that are shown: the longest first, at most MAX_CURVES."""
    return tuple(curve for _, curve in heapq.nsmallest(MAX_CURVES, found, key=itemgetter(0)))


def may_be_shown(found: Sequence[Ranked]) -> list[Ranked]:
    """Of some sources' curves, those that a report on them and on others may show."""
    last = _longest_loss(found)
    shown = {id(one) for one in (*heapq.nsmallest(MAX_CURVES, found, key=itemgetter(0)), last)}
    return [one for one in found if id(one) in shown]


class DrawnCurves:
    """Of the curves of very many sources, those that a report may show: it keeps few at a time."""

    def __init__(self) -> None:
        self.kept: list[Ranked] = []

    def take(self, found: Iterable[Ranked]) -> None:
        """Take the curves of the next source."""
        self.kept += found
        if len(self.kept) > MANY_CURVES:
            self.kept = may_be_shown(self.kept)

    def by_source(self) -> dict[str, tuple[Ranked, ...]]:
        """The curves that are left, by the name of their source."""
        found: dict[str, tuple[Ranked, ...]] = {}
        for one in self.kept:
            found[one[1].source] = (*found.get(one[1].source, ()), one)
        return found


def _longest_loss(found: Iterable[Ranked]) -> Ranked | None:
    """The first of the longest curves of a loss that was reported MIN_LOSS_POINTS times or more, or over so many steps."""
    losses = (one for one in found if one[1].kind == "loss" and max(len(one[1].points), one[1].steps) >= MIN_LOSS_POINTS)
    return max(losses, key=lambda one: len(one[1].points), default=None)


def last_reading(found: Iterable[Ranked]) -> Habit | None:
    """The last report of the loss of a run that reported it MIN_LOSS_POINTS times or more, or over so many steps. `value`: how
    often it did, at most MAX_CURVE_POINTS."""
    ranked = _longest_loss(found)
    if ranked is None:
        return None
    longest = ranked[1]
    return Habit("last_reading", longest.source, longest.points[-1][0], longest.name, float(len(longest.points)))


def _order(series: Series, source: Source) -> Order:
    return -min(len(series.readings), MAX_CURVE_POINTS), source.name, series.name, _rank(series) or 0, series.scope


def _curve(series: Series, source: Source) -> Curve:
    rank = _rank(series)
    shown = "steps per second" if series.quantity == "step_time" else series.name
    name = shown if rank is not None or not series.scope else f"{shown} {series.scope}"
    kept = tuple((source.number_of(line), value) for line, value in _points(series))
    unit = "B" if series.unit == "bytes" else "1/s" if CURVE_KINDS[series.quantity] == "throughput" else ""
    return Curve(name, CURVE_KINDS[series.quantity], unit, source.name, rank, kept, _steps(series))


def _steps(series: Series) -> int:
    """How many steps the run counted between the first and the last reading; since the last time that they began anew."""
    steps = [step for step in series.steps if step is not None and math.isfinite(step)]
    anew = max((i for i, (a, b) in enumerate(pairwise(steps), 1) if b < a), default=0)
    return int(steps[-1] - steps[anew]) if steps else 0


def _rank(series: Series) -> int | None:
    found = RANK_PATTERN.fullmatch(series.scope)
    return int(found[1]) if found else None


def _points(series: Series) -> Points:
    inverse = series.quantity == "step_time"
    points = [*zip(series.lines, series.values, strict=True)]
    shown = thin_points([point for point in points if point[1]] if inverse else points)
    return tuple((line, (1 / value if inverse else value) if math.isfinite(value) else None) for line, value in shown)


def thin_points(points: Sequence[T]) -> Sequence[T]:
    """An even sample of at most MAX_CURVE_POINTS points, with the last one."""
    step = -(-len(points) // MAX_CURVE_POINTS)
    if step < 2:
        return points
    return points[::step] if (len(points) - 1) % step == 0 else [*points[::step][: MAX_CURVE_POINTS - 1], points[-1]]
