"""Curves as sparklines of a few characters, and the choice of curves that are relevant to the cause.

rss 665 MiB, 695 MiB, ... 1.9 GiB -> `▁▁▂▃▄▅▆▇█  665 MiB to 1.9 GiB`
"""

import math

from forensics.core.averages import median
from forensics.core.text import format_size
from forensics.model import Curve, Report

BARS = "▁▂▃▄▅▆▇█"
LOST_MARK = "×"  # a reading that was NaN or infinite
SPARKLINE_CHARS = 32  # a third of a row of 100 columns, beside the first and the last value
MIN_LOG_SCALE_RATIO = 1000.0  # on a linear scale of 32 to 120 steps all smaller values would be drawn as zero
MIN_DRAWN_POINTS = 3  # two are a straight line
MIN_MEMORY_BYTES = 16 * 2**20  # an interpreter alone holds as much; less is a kernel that frees its start-up code
MIN_GROWTH_RATIO = 1.1  # the memory of any program varies by less
MIN_LOSS_RATIO = 3.0  # a loss that only falls ends below its median; a loss that diverges rises far above it
MIN_FALL_RATIO = 2.0  # rates vary by some ten percent from step to step
CURVES_OF_FAMILY = {"host_memory": "memory", "gpu_memory": "memory", "numerics": "loss", "process": "throughput"}


def relevant_curves(report: Report) -> list[Curve]:
    """The informative curves of the kind that the first cause is about: memory for a memory limit, the loss for NaN.

    Of curves with the same course, as those of equal ranks, only the first.
    """
    kind = CURVES_OF_FAMILY.get(report.causes[0].id.split(".")[0])
    relevant: dict[str, Curve] = {}
    for curve in report.curves:
        if curve.kind == kind and is_informative(curve):
            relevant.setdefault(sparkline(curve) if kind != "throughput" else curve.name, curve)
    return list(relevant.values())


def is_informative(curve: Curve) -> bool:
    """Does the curve show a change: memory that grew, a loss that left its range, a rate that fell?"""
    known = [v for _, v in curve.points if v is not None]
    if len(known) < len(curve.points):
        return True
    if len(known) < MIN_DRAWN_POINTS:
        return False
    low, high, usual = min(known), max(known), median(known)
    if curve.kind == "memory":
        return high > max(MIN_GROWTH_RATIO * low, MIN_MEMORY_BYTES)
    if curve.kind == "loss":
        return high > MIN_LOSS_RATIO * abs(usual)
    return known[-1] < usual / MIN_FALL_RATIO


def sparkline(curve: Curve, chars: int = SPARKLINE_CHARS) -> str:
    """At most `chars` characters, low to high, the last of them for the last reading."""
    step = -(-len(curve.points) // chars)
    values = scaled_values(curve)[::-1][::step][::-1]
    known = [v for v in values if v is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    return "".join(LOST_MARK if v is None else BARS[level(v, low, high, len(BARS) - 1)] for v in values)


def scaled_values(curve: Curve) -> list[float | None]:
    """The values to draw; the logarithm for a loss over many powers of ten."""
    values = [v for _, v in curve.points]
    return [None if v is None else math.log10(v) for v in values] if is_wide(curve) else values


def is_wide(curve: Curve) -> bool:
    """Does a loss cover so many powers of ten that a linear scale shows only its peak?"""
    known = [v for _, v in curve.points if v is not None]
    return curve.kind == "loss" and bool(known) and min(known) > 0 and max(known) > MIN_LOG_SCALE_RATIO * min(known)


def level(value: float, low: float, high: float, steps: int) -> int:
    """The position of `value` between `low` and `high`, 0 to `steps`."""
    return round((value - low) / (high - low) * steps) if high > low else 0


def first_to_last(curve: Curve) -> str:
    """First and last value with their unit."""
    first, last = (value_text(curve.points[i][1], curve.unit) for i in (0, -1))
    return f"{first} to {last}"


def value_text(value: float | None, unit: str) -> str:
    """A value for the reader: `434 MiB`, `2.31`, `6.9 1/s`; `NaN` for None."""
    if value is None:
        return "NaN"
    if unit == "B":
        return format_size(value)
    return f"{value:.4g}{'/s' if unit == '1/s' else ''}"
