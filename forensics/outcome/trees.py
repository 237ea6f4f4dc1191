"""Decision trees as plain numbers: features -> log odds that the subject ended badly. Without numpy: 10,000 comparisons take 1
ms.

The answer is the mean of two forests: boosted trees, whose values add up to log odds, and random trees, whose leaves hold the
share of bad ends. Boosted trees are sharp where cases are many, random trees are careful where cases are few. The learners are
scikit-learn's HistGradientBoostingClassifier and ExtraTreesClassifier (see train/outcome_fit.py).
"""

from collections.abc import Sequence
from math import exp, log

from msgspec import Struct

MAX_SILENT_LOG_ODDS = -0.2  # P = 0.45: without any sign of trouble there is no alarm, even where the log breaks off
MAX_SILENT_PROBABILITY = 1 / (1 + exp(-MAX_SILENT_LOG_ODDS))
MIN_LEAF_SHARE = 1e-3  # of the random trees: with a few hundred cases in a leaf, a smaller share cannot be measured
LEAF = -1  # no feature has this number


class Forest(Struct, frozen=True):
    """The nodes of several trees, each depth-first: the left child of a node follows it.

    `roots`: where each tree begins. Of each node: `feature`, LEAF for a leaf; `number`, the greatest value of the feature that
    goes left, or the value of a leaf; `right`, the index of the node for greater values.
    """

    roots: Sequence[int] = ()
    feature: Sequence[int] = ()
    right: Sequence[int] = ()
    number: Sequence[float] = ()

    def total(self, features: Sequence[float]) -> float:
        """The sum of the values of all trees."""
        return sum(self._leaf(at, features) for at in self.roots)

    def _leaf(self, at: int, features: Sequence[float]) -> float:
        tests, rights, numbers = self.feature, self.right, self.number
        while (test := tests[at]) != LEAF:
            at = at + 1 if features[test] <= numbers[at] else rights[at]
        return numbers[at]


class Trees(Struct, frozen=True):
    """The model of the outcome.

    `names`: the features. `boosted`: log odds without `base`. `random`: shares of bad ends; may be empty. `slope`, `shift`: the
    calibration on logs that were not learned from. `status_zero`, `status_other`: what it adds where the last lines record the
    exit status 0, or another one (see exit_line.py). `terminal`: measured log odds of what is terminal by nature, a lower bound.
    """

    names: tuple[str, ...]
    base: float
    boosted: Forest = Forest()
    random: Forest = Forest()
    slope: float = 1.0
    shift: float = 0.0
    terminal: float = -30.0
    status_zero: float = 0.0
    status_other: float = 0.0

    def log_odds(self, features: Sequence[float], status: int | None = None) -> float:
        """Calibrated log odds; `features` in the order of `names`. `status`: the exit status that the last lines record."""
        recorded = 0.0 if status is None else self.status_other if status else self.status_zero
        return self.slope * self.raw(features) + self.shift + recorded

    def raw(self, features: Sequence[float]) -> float:
        """Log odds before calibration."""
        boosted = self.base + self.boosted.total(features)
        if not self.random.roots:
            return boosted
        share = self.random.total(features) / len(self.random.roots)
        share = max(MIN_LEAF_SHARE, min(1 - MIN_LEAF_SHARE, share))
        return (boosted + log(share / (1 - share))) / 2

    def probability(
        self, features: Sequence[float], terminal: bool = False, silent: bool = False, status: int | None = None
    ) -> float:
        """The probability that the subject ended badly.

        `terminal`: see features.is_terminal_by_nature. `silent`: see features.is_silent. `status`: see log_odds.
        """
        least, most = self.terminal if terminal else -30.0, MAX_SILENT_LOG_ODDS if silent else 30.0
        return 1.0 / (1.0 + exp(-max(least, min(most, self.log_odds(features, status)))))
