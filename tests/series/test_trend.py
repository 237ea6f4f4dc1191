"""The statistics against what is known of them, and properties that must hold for any numbers."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.readers.numbers.base import Reading, Series
from forensics.series.trend import mann_kendall, rise, shift, short_rise, theil_sen

NUMBERS = st.lists(st.floats(min_value=-1e9, max_value=1e9), min_size=8, max_size=120)


def test_kendalls_tau_of_known_lists() -> None:
    assert mann_kendall([1, 2, 3, 4])[0] == 1.0
    assert mann_kendall([4, 3, 2, 1])[0] == -1.0
    assert mann_kendall([1, 3, 2, 4])[0] == pytest.approx(4 / 6)
    assert mann_kendall([5, 5, 5]) == (0.0, 0.0)
    # n = 10, all in order: S = 45, variance 10 * 9 * 25 / 18 = 125
    assert mann_kendall(range(10))[1] == pytest.approx(44 / 125**0.5)


def test_theil_and_sens_slope_does_not_follow_outliers() -> None:
    values = [2.0 * i for i in range(50)]
    values[7], values[30] = 1e6, -1e6
    assert theil_sen(values) == pytest.approx(2.0)
    assert theil_sen([0, 10, 20], at=[0, 5, 10]) == 2.0


def test_a_change_of_level_is_found_where_it_is() -> None:
    rng = random.Random(3)
    values = [rng.gauss(1.0, 0.1) for _ in range(40)] + [rng.gauss(3.0, 0.1) for _ in range(60)]
    found = shift(values)
    assert found is not None
    assert found.at == 40
    assert found.separation == 1.0
    assert (found.before, found.after) == (pytest.approx(1.0, abs=0.1), pytest.approx(3.0, abs=0.1))


@pytest.mark.parametrize(
    ("name", "values", "rises"),
    [
        ("even", [100 + i for i in range(40)], True),
        ("level", [100.0] * 40, False),
        ("falls", [100 - i for i in range(40)], False),
        ("flattens", [100 + 100 * (1 - 0.8**i) for i in range(40)], False),
        ("one step", [100] * 20 + [200] * 20, False),
        ("two steps", [100] * 15 + [150] * 15 + [200] * 15, False),
        ("teeth", [100 + 10 * (i % 5) for i in range(40)], False),
        ("teeth that rise", [100 + 10 * (i % 5) + 2 * i for i in range(40)], True),
        ("too little", [1000 + 0.1 * i for i in range(40)], False),
        ("eight", [100, 120, 140, 160, 180, 200, 220, 240], True),
    ],
)
def test_a_steady_rise_is_told_from_steps_teeth_and_a_level(name: str, values: list[float], rises: bool) -> None:
    assert (rise(values) is not None) == rises


@pytest.mark.parametrize(
    ("values", "rises"),
    [
        ([415.8, 456.7, 493.2], True),
        ([100, 110], False),
        ([100, 150, 151], False),
        ([100, 90, 200], False),
        ([100, 101, 102], False),
        ([5.9, 9.8, 12.5, 14.4, 15.7, 16.6], True),
    ],
)
def test_a_few_readings_rise_only_if_they_rise_much(values: list[float], rises: bool) -> None:
    assert (short_rise(values) is not None) == rises


@given(NUMBERS)
def test_a_series_and_its_mirror_do_not_both_rise(values: list[float]) -> None:
    assert not (rise(values) and rise([-v for v in values]))


@given(NUMBERS, st.integers(min_value=1, max_value=1000))
def test_scale_does_not_matter(values: list[float], factor: int) -> None:
    whole = [float(round(v)) for v in values]
    assert (rise(whole) is None) == (rise([v * factor for v in whole]) is None)


@pytest.mark.seconds
@given(st.lists(st.integers(min_value=1, max_value=10**6), min_size=64, max_size=400, unique=True), st.integers(20, 300))
def test_thinning_keeps_order_and_ends(lines: list[int], most: int) -> None:
    readings = tuple(Reading(n, "", float(n)) for n in sorted(lines))
    series = Series("rss", "memory", "bytes", "", readings)
    for thinned in (series.evenly_sampled(most), series.evenly_spaced(most)):
        kept = [r.line for r in thinned.readings]
        assert kept == sorted(set(kept))
        assert kept[0] == readings[0].line
        assert len(kept) <= most + 1 or len(readings) <= most
    assert series.evenly_sampled(most).readings[-1] is readings[-1]
