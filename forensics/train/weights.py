"""Train the ranker, the second half of the classifier: a conditional logit with one weight for each named feature.

Each example is a case with its candidates. The utility of a candidate is the sum of its features times their weights; its
probability is exp(utility) divided by the sum over all candidates. The weights maximise the probability of the right candidates,
less a penalty for what they differ from prior.csv: the weights that were learned from 8,639 cases, most of whose logs cannot be
had again. A few cases move a weight little, many as far as they show. (With a tenth of the penalty the weights of what stands
behind and before an event were lost, and of two kills the earlier one was named.)
"""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from forensics.decision.candidates import FEATURE_NAMES, FEATURES
from forensics.train.outcome_fit import STORED_DIGITS
from forensics.train.solvers import MAX_NEWTON_STEPS, MIN_STEP_LENGTH

RANKER_TOLERANCE = 1e-8  # of the slope: the weights are right in more digits than are stored
PRIOR_FILE = Path(__file__).parent / "prior.csv"


class Prior(Struct, frozen=True):
    """Before any case is seen: the `centre` of a weight, and its `strength`, the factor of the squared distance from it."""

    centre: float
    strength: float


FLAT = Prior(0.0, 0.3)  # nothing is known: a small penalty keeps a weight finite that all cases agree on


def read_prior() -> list[Prior]:
    """The prior of each feature, in the order of FEATURE_NAMES."""
    with PRIOR_FILE.open(encoding="utf-8", newline="") as file:
        rows = {row["feature"]: Prior(float(row["centre"]), float(row["strength"])) for row in csv.DictReader(file)}
    return [rows.get(name, FLAT) for name in FEATURE_NAMES]


class RankingExample(Struct, frozen=True):
    """`rows`: the features of each candidate. `right`: which of them are right, one or more."""

    rows: Sequence[Sequence[float]]
    right: Sequence[bool]
    weight: float = 1.0


def fit_ranker(choices: Sequence[RankingExample], prior: Sequence[Prior] | None = None) -> tuple[float, ...]:
    """The weights in the order of FEATURE_NAMES, each with the sign that FEATURES prescribes. `prior`: instead of prior.csv."""
    import numpy as np

    problem = _Choices(choices, read_prior() if prior is None else prior)
    signs = np.array([FEATURES[name][1] for name in FEATURE_NAMES])
    low, high = np.where(signs > 0, 0.0, -np.inf), np.where(signs < 0, 0.0, np.inf)
    weights = np.clip(problem.centre, low, high)
    loss, slope, bend = problem.at(weights)
    for _ in range(MAX_NEWTON_STEPS):
        free = ~(((weights <= low) & (slope > 0)) | ((weights >= high) & (slope < 0)))
        if not free.any() or np.abs(slope[free]).max() <= RANKER_TOLERANCE:
            break
        step, length = np.zeros_like(weights), 1.0
        step[free] = -np.linalg.solve(bend[np.ix_(free, free)], slope[free])
        while problem.at(there := np.clip(weights + length * step, low, high))[0] > loss and length > MIN_STEP_LENGTH:
            length /= 2
        weights = there
        loss, slope, bend = problem.at(weights)
    return tuple(round(float(w), STORED_DIGITS) + 0.0 for w in weights)


class _Choices:
    """The loss of weights: how improbable they make the right candidates, and how far they are from the prior."""

    def __init__(self, choices: Sequence[RankingExample], prior: Sequence[Prior]) -> None:
        import numpy as np

        shape = len(choices), max(len(c.rows) for c in choices)
        self.features = np.zeros((*shape, len(FEATURE_NAMES)))
        self.there, self.right = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
        for i, choice in enumerate(choices):
            count = len(choice.rows)
            self.features[i, :count], self.there[i, :count], self.right[i, :count] = choice.rows, True, choice.right
        self.weight = np.array([c.weight for c in choices])
        self.centre, self.strength = np.array([p.centre for p in prior]), np.array([p.strength for p in prior])

    def at(self, weights: Any) -> tuple[float, Any, Any]:
        """The loss, its slope, and a second derivative that is never negative: where several candidates are right, without
        what makes it so."""
        import numpy as np

        utility = np.where(self.there, self.features @ weights, -np.inf)
        powers = np.exp(utility - utility.max(axis=1, keepdims=True))
        share = powers / powers.sum(axis=1, keepdims=True)
        hit = np.maximum((share * self.right).sum(axis=1), 1e-300)
        apart = weights - self.centre
        loss = (self.strength * apart**2).sum() - (self.weight * np.log(hit)).sum()
        slope = self.weight[:, None] * (share - share * self.right / hit[:, None])
        mean = np.einsum("ij,ijk->ik", share, self.features)
        spread = np.sqrt(self.weight[:, None] * share)[:, :, None] * (self.features - mean[:, None, :])
        spread = spread[self.there]
        bend = spread.T @ spread + np.diag(2 * self.strength)
        return float(loss), np.einsum("ij,ijk->k", slope, self.features) + 2 * self.strength * apart, bend
