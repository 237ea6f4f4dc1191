"""Medians of windows."""

import random
import statistics

import pytest

from forensics.series.trend import medians_of_windows


@pytest.mark.parametrize("width", [1, 2, 3, 8, 40])
def test_the_medians_are_those_of_each_window(width: int) -> None:
    rng = random.Random(width)
    values = [rng.choice([rng.random(), 0.5, 2.0]) for _ in range(40)]
    expected = [statistics.median(values[i : i + width]) for i in range(len(values) - width + 1)]
    assert medians_of_windows(values, width) == pytest.approx(expected)
