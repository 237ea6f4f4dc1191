"""Regressions and trees: what they find is right, and does not depend on the order in which numbers are added up."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from forensics.outcome.features import OUTCOME_FEATURES
from scripts.train import solvers
from scripts.train.outcome_fit import fit_ending, fit_trees, rounded
from scripts.train.tree_growing import Node, boosted_trees, random_trees

CASES, FEATURES = 240, 12


def made(seed: int = 3, width: int = FEATURES) -> tuple[Any, Any, Any]:
    """A matrix, what its rows are (by two of its features and some chance), and their weights."""
    chance = random.Random(seed)
    rows = np.array([[float(chance.randrange(40)) for _ in range(width)] for _ in range(CASES)])
    bad = np.array([row[0] + row[1] + chance.randrange(-5, 5) > 40 for row in rows])
    return rows, bad, np.array([chance.choice((0.13, 1.0, 2.5)) for _ in rows])


@pytest.mark.seconds
def test_log_odds_equal_those_of_scikit_learn() -> None:
    from sklearn.linear_model import LogisticRegression

    rows, bad, weight = made()
    rows = rows / 40
    weights, intercept = solvers.logistic_regression(rows, bad, weight, 0.1)
    other = LogisticRegression(C=10, tol=1e-10, max_iter=2000).fit(rows, bad, sample_weight=weight)
    assert [*weights, intercept] == pytest.approx([*other.coef_[0], *other.intercept_], abs=1e-5)


@pytest.mark.seconds
def test_the_minimum_is_found_to_more_digits_than_are_stored() -> None:
    rows, _, weight = made()
    classes = (rows[:, 2] // 14).astype(int)
    found = solvers.softmax_regression(rows / 40, classes, weight, 0.1)
    order = np.random.RandomState(1).permutation(CASES)
    again = solvers.softmax_regression(rows[order] / 40, classes[order], weight[order], 0.1)
    assert not np.array_equal(found, again), "rows in another order are other sums"
    assert np.abs(found - again).max() < 1e-7
    assert rounded(found) == rounded(again)


def test_words_that_occur_in_no_case_have_no_weight() -> None:
    learned = fit_ending([(1, 2), (3,), (1,), (3, 4)], [True, False, True, False], [1.0] * 4)
    assert learned.weights[1] > 0 > learned.weights[3]
    assert learned.weights[5] == 0.0


@pytest.mark.parametrize("grow", [lambda *given: boosted_trees(*given)[1], random_trees], ids=["boosted", "random"])
def test_rows_in_another_order_grow_the_same_trees(grow: Callable[..., list[list[Node]]]) -> None:
    rows, bad, weight = made()
    order = np.random.RandomState(1).permutation(CASES)
    assert grow(rows, bad, weight) == grow(rows[order], bad[order], weight[order])


@pytest.mark.seconds
def test_trees_answer_new_cases_as_well_as_those_of_scikit_learn() -> None:
    from sklearn.ensemble import HistGradientBoostingClassifier

    width = len(OUTCOME_FEATURES)
    (rows, bad, weight), (new, truth, _) = made(width=width), made(4, width)
    trees = fit_trees(rows, bad.tolist(), weight.tolist())
    right = sum((trees.raw(row) > 0) == bool(is_bad) for row, is_bad in zip(new.tolist(), truth, strict=True))
    other = HistGradientBoostingClassifier(random_state=0).fit(rows, bad, sample_weight=weight)
    assert right >= (other.predict(new) == truth).sum() - CASES // 50
    assert right > CASES * 0.85
