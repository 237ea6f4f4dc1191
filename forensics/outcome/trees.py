"""Boosted trees as plain numbers: features -> log odds that the subject ended badly. No numpy: 10,000 comparisons take 1 ms.

A tree is a list of nodes in depth-first order: (feature, threshold, left, right, value); a leaf has the feature -1. A feature
that is at most the threshold goes left. The learner is scikit-learn's HistGradientBoostingClassifier (see train/).
"""

from collections.abc import Sequence
from math import exp

from msgspec import Struct

SILENT_MAX = -0.2  # log odds, 0.45: where nothing speaks of trouble no alarm is raised, however the log breaks off
Node = tuple[int, float, int, int, float]


class Trees(Struct, frozen=True):
    """`base`: log odds before the first tree. `rate`: what each tree's value counts. `slope`, `shift`: the calibration, by which
    the sum of all becomes log odds that are true on logs that were not learned from. `terminal`: log odds of what is terminal by
    nature, measured: the least that is said of it."""

    names: tuple[str, ...]
    base: float
    rate: float
    trees: tuple[tuple[Node, ...], ...]
    slope: float = 1.0
    shift: float = 0.0
    terminal: float = -30.0

    def log_odds(self, features: Sequence[float]) -> float:
        """Calibrated log odds; `features` in the order of `names`."""
        return self.slope * self.raw(features) + self.shift

    def raw(self, features: Sequence[float]) -> float:
        """The sum of the trees, before calibration."""
        return self.base + self.rate * sum(_leaf(tree, features) for tree in self.trees)

    def probability(self, features: Sequence[float], terminal: bool = False, silent: bool = False) -> float:
        """The probability that the subject ended badly.

        `terminal`: something in it is terminal by nature. `silent`: nothing in it speaks of an end.
        """
        least, most = self.terminal if terminal else -30.0, SILENT_MAX if silent else 30.0
        return 1.0 / (1.0 + exp(-max(least, min(most, self.log_odds(features)))))


def _leaf(tree: Sequence[Node], features: Sequence[float]) -> float:
    at = 0
    while True:
        feature, threshold, left, right, value = tree[at]
        if feature < 0:
            return value
        at = left if features[feature] <= threshold else right
