"""Trees as plain numbers, by hand."""

from math import log

import pytest

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


def test_the_mean_of_both_forests_counts_and_no_leaf_is_certain() -> None:
    trees = Trees(("a",), 1.0, STUMP, HALF)
    assert trees.raw([1.0]) == 0.0, "log odds 0 by the boosted ones, a half by the others"
    assert 4.0 < trees.raw([2.0]) < 6.0


def test_calibration_turns_overconfident_scores_into_measured_shares() -> None:
    from scripts.train import outcome_fit

    raw = [4.0] * 100 + [-4.0] * 100  # too sure: of the first, 75 are bad, of the others 25
    bad = [True] * 75 + [False] * 25 + [True] * 25 + [False] * 75
    made = outcome_fit.calibrate(Trees(("a",), 4.0), raw, [None] * 200, bad, [1.0] * 200)
    assert made.log_odds([0.0]) == pytest.approx(log(3), abs=0.05)


def test_a_recorded_exit_status_counts_beside_what_the_output_shows() -> None:
    from scripts.train import outcome_fit

    raw = [1.0] * 200  # the output looks the same in all; the status tells most of them apart
    statuses = [0] * 50 + [1] * 50 + [None] * 100
    bad = [False] * 49 + [True] * 50 + [True] + [True, False] * 50
    made = outcome_fit.calibrate(Trees(("a",), 1.0), raw, statuses, bad, [1.0] * 200)
    assert made.log_odds([0.0], 0) < log(0.25)
    assert made.log_odds([0.0]) == pytest.approx(0.0, abs=0.2)
    assert made.log_odds([0.0], 137) > log(4)
