"""Boosted trees as plain numbers: by hand, and as scikit-learn computes them."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.outcome.features import NAMES
from forensics.outcome.trees import Trees

STUMP = ((0, 1.5, 1, 2, 0.0), (-1, 0.0, -1, -1, -2.0), (-1, 0.0, -1, -1, 4.0))


def test_a_feature_at_its_threshold_goes_left() -> None:
    trees = Trees(("a",), 1.0, 0.5, (STUMP,))
    assert trees.raw([1.5]) == 0.0
    assert trees.raw([1.6]) == 3.0


def test_trees_add_up_and_are_calibrated() -> None:
    trees = Trees(("a",), 1.0, 0.5, (STUMP, STUMP), slope=2.0, shift=-1.0)
    assert trees.raw([9.0]) == 5.0
    assert trees.log_odds([9.0]) == 9.0
    assert Trees((), 0.0, 1.0, ()).probability([]) == 0.5


@given(st.floats(-1e9, 1e9))
def test_a_probability_is_one(base: float) -> None:
    assert 0.0 <= Trees((), base, 1.0, ()).probability([]) <= 1.0


def test_they_say_what_scikit_learn_says(monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np
    from sklearn import ensemble

    from forensics.train import outcome_fit

    learners: list[Any] = []

    class Kept(ensemble.HistGradientBoostingClassifier):  # type: ignore[misc]
        def fit(self, *given: object, **named: object) -> Any:
            learners.append(self)
            return super().fit(*given, **named)

    monkeypatch.setattr(ensemble, "HistGradientBoostingClassifier", Kept)
    chance = random.Random(3)
    rows = np.array([[float(chance.randrange(40)) for _ in NAMES] for _ in range(160)])
    bad = [bool(row[0] + row[1] > 40) for row in rows]
    made = outcome_fit.fit_trees(rows, bad, [1.0] * len(bad))
    expected = np.mean([learner.decision_function(rows) for learner in learners], axis=0)
    assert [made.raw(row) for row in rows.tolist()] == pytest.approx(list(expected), abs=0.01)
    assert sum((made.raw(row) > 0) == truth for row, truth in zip(rows.tolist(), bad, strict=True)) > 150


def test_calibration_makes_blind_answers_true() -> None:
    from forensics.train import outcome_fit

    raw = [4.0] * 100 + [-4.0] * 100  # too sure: of the first, 75 are bad, of the others 25
    bad = [True] * 75 + [False] * 25 + [True] * 25 + [False] * 75
    made = outcome_fit.calibrated(Trees(("a",), 4.0, 1.0, ()), raw, bad, [1.0] * 200)
    assert made.probability([0.0]) == pytest.approx(0.75, abs=0.01)
