"""Train the ranker, the second half of the classifier: a conditional logit with one weight for each named feature.

Each example is a case with its candidates. The utility of a candidate is the sum of its features times their weights; its
probability is exp(utility) divided by the sum over all candidates. The weights maximise the probability of the right candidates,
less a penalty for what they differ from prior.csv: the weights that were learned when all evidence of a cause was one candidate,
from 8,639 cases, and for newer features what their meaning says. A few cases move a weight little, many as far as they show.
"""

import csv
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from forensics.decision.candidates import FEATURE_NAMES, FEATURES

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
    from scipy.optimize import minimize

    most = max(len(c.rows) for c in choices)
    features = np.zeros((len(choices), most, len(FEATURE_NAMES)))
    there = np.zeros((len(choices), most), dtype=bool)
    right = np.zeros((len(choices), most), dtype=bool)
    for i, choice in enumerate(choices):
        for j, row in enumerate(choice.rows):
            features[i, j], there[i, j], right[i, j] = row, True, choice.right[j]
    weight = np.array([c.weight for c in choices])
    known = read_prior() if prior is None else prior
    centre, strength = np.array([p.centre for p in known]), np.array([p.strength for p in known])

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        utility = np.where(there, features @ values, -np.inf)
        powers = np.exp(utility - utility.max(axis=1, keepdims=True))
        share = powers / powers.sum(axis=1, keepdims=True)
        hit = np.maximum((share * right).sum(axis=1), 1e-300)
        slope = weight[:, None] * (share - share * right / hit[:, None])
        gradient = np.einsum("ij,ijk->k", slope, features) + 2 * strength * (values - centre)
        return float(-(weight * np.log(hit)).sum() + (strength * (values - centre) ** 2).sum()), gradient

    signs = [FEATURES[name][1] for name in FEATURE_NAMES]
    bounds = [(0.0, None) if s > 0 else (None, 0.0) if s < 0 else (None, None) for s in signs]
    found = minimize(loss, centre, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 2000})
    return tuple(round(float(v), 6) for v in found.x)
