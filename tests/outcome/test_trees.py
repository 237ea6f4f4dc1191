"""Trees as plain numbers, by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.outcome.trees import LEAF, Forest, Trees

STUMP = Forest((0,), (0, LEAF, LEAF), (2, 1, 2), (1.5, -1.0, 2.0))
TWICE = Forest((0, 3), (0, LEAF, LEAF) * 2, (2, 1, 2, 5, 4, 5), (1.5, -1.0, 2.0) * 2)
HALF = Forest((0,), (0, LEAF, LEAF), (2, 1, 2), (1.5, 0.5, 1.0))


def test_a_feature_at_its_threshold_goes_left() -> None:
    trees = Trees(("a",), 1.0, STUMP)
    assert trees.raw([1.5]) == 0.0
    assert trees.raw([1.6]) == 3.0


def test_trees_add_up_and_are_calibrated() -> None:
    trees = Trees(("a",), 1.0, TWICE, slope=2.0, shift=-1.0)
    assert trees.raw([9.0]) == 5.0
    assert trees.log_odds([9.0]) == 9.0
    assert Trees((), 0.0).probability([]) == 0.5


def test_a_terminal_event_raises_the_probability_whatever_the_features_say() -> None:
    quiet = Trees((), -6.0, terminal=3.0)
    assert quiet.probability([]) < 0.01
    assert quiet.probability([], terminal=True) == pytest.approx(0.953, abs=0.001)


def test_the_mean_of_both_forests_counts_and_no_leaf_is_certain() -> None:
    trees = Trees(("a",), 1.0, STUMP, HALF)
    assert trees.raw([1.0]) == 0.0, "log odds 0 by the boosted ones, a half by the others"
    assert 4.0 < trees.raw([2.0]) < 6.0


@given(st.floats(-1e9, 1e9))
def test_a_probability_is_between_0_and_1(base: float) -> None:
    assert 0.0 <= Trees((), base).probability([]) <= 1.0


def test_calibration_turns_overconfident_scores_into_measured_shares() -> None:
    from forensics.train import outcome_fit

    raw = [4.0] * 100 + [-4.0] * 100  # too sure: of the first, 75 are bad, of the others 25
    bad = [True] * 75 + [False] * 25 + [True] * 25 + [False] * 75
    made = outcome_fit.calibrate(Trees(("a",), 4.0), raw, [None] * 200, bad, [1.0] * 200)
    assert made.probability([0.0]) == pytest.approx(0.75, abs=0.01)


def test_a_recorded_exit_status_counts_beside_what_the_output_shows() -> None:
    from forensics.train import outcome_fit

    raw = [1.0] * 200  # the output looks the same in all; the status tells most of them apart
    statuses = [0] * 50 + [1] * 50 + [None] * 100
    bad = [False] * 49 + [True] * 50 + [True] + [True, False] * 50
    made = outcome_fit.calibrate(Trees(("a",), 1.0), raw, statuses, bad, [1.0] * 200)
    assert made.probability([0.0], status=0) < 0.2
    assert made.probability([0.0]) == pytest.approx(0.5, abs=0.05)
    assert made.probability([0.0], status=137) > 0.8
