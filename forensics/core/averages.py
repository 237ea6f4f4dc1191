"""The median and the mean, as the standard library's `statistics` gives them for plain numbers, whose import takes 7 ms."""

from collections.abc import Iterable, Sequence
from math import fsum


def median(values: Iterable[float]) -> float:
    """The middle value, or the mean of the two middle ones; raises IndexError for no values."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def mean(values: Iterable[float]) -> float:
    """The arithmetic mean; raises ZeroDivisionError for no values."""
    every: Sequence[float] = [*values]
    return fsum(every) / len(every)
