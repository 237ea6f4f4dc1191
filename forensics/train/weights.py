"""Train the ranker, the second half of the classifier: a conditional logit with one weight for each named feature.

Each example is a case with its candidates. The utility of a candidate is the sum of its features times their weights; its
probability is exp(utility) divided by the sum over all candidates. The weights maximise the probability of the right candidates,
with a small penalty.
"""

from collections.abc import Sequence

from msgspec import Struct

from forensics.decision.candidates import FEATURE_NAMES, FEATURES

PENALTY = 0.3  # times the square of each weight, added to the loss of all examples


class RankingExample(Struct, frozen=True):
    """`rows`: the features of each candidate. `right`: which of them are right, one or more."""

    rows: Sequence[Sequence[float]]
    right: Sequence[bool]
    weight: float = 1.0


def fit_ranker(choices: Sequence[RankingExample]) -> tuple[float, ...]:
    """The weights in the order of FEATURE_NAMES, each with the sign that FEATURES prescribes."""
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

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        utility = np.where(there, features @ values, -np.inf)
        powers = np.exp(utility - utility.max(axis=1, keepdims=True))
        share = powers / powers.sum(axis=1, keepdims=True)
        hit = np.maximum((share * right).sum(axis=1), 1e-300)
        slope = weight[:, None] * (share - share * right / hit[:, None])
        gradient = np.einsum("ij,ijk->k", slope, features) + 2 * PENALTY * values
        return float(-(weight * np.log(hit)).sum() + PENALTY * (values**2).sum()), gradient

    signs = [FEATURES[name][1] for name in FEATURE_NAMES]
    bounds = [(0.0, None) if s > 0 else (None, 0.0) if s < 0 else (None, None) for s in signs]
    found = minimize(loss, np.zeros(len(FEATURE_NAMES)), jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 2000})
    return tuple(round(float(v), 6) for v in found.x)
