"""The median and the mean are those of the standard library."""

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.core.averages import mean, median

VALUES = st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32) | st.integers(-1000, 1000), min_size=1, max_size=20)


@given(VALUES)
def test_they_are_those_of_the_standard_library(values: list[float]) -> None:
    assert median(iter(values)) == statistics.median(values)
    assert mean(iter(values)) == statistics.fmean(values)


def test_of_no_values_there_are_none() -> None:
    with pytest.raises(IndexError):
        median([])
    with pytest.raises(ZeroDivisionError):
        mean([])
