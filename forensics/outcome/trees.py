"""Decision trees as plain numbers: features -> log odds that the subject ended badly. Without numpy: 10,000 comparisons take 1
ms.

The answer is the mean of two forests: boosted trees, whose values add up to log odds, and random trees, whose leaves hold the
share of bad ends. Boosted trees are sharp where cases are many, random trees are careful where cases are few. The learners are
scikit-learn's HistGradientBoostingClassifier and ExtraTreesClassifier (see scripts/train/outcome_fit.py).
"""

from array import array
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from math import exp, log
from operator import mul

from msgspec import Struct

MAX_SILENT_LOG_ODDS = -0.2  # P = 0.45: without any sign of trouble there is no alarm, even where the log breaks off
MAX_SILENT_PROBABILITY = 1 / (1 + exp(-MAX_SILENT_LOG_ODDS))
MIN_LEAF_SHARE = 1e-3  # of the random trees: with a few hundred cases in a leaf, a smaller share cannot be measured
LEAF = -1  # no feature has this number
STATUS = "status"  # the contribution of an exit status that the last lines record


class Forest(Struct, frozen=True, dict=True):
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

    def shares(self, features: Sequence[float]) -> tuple[float, dict[int, float], float]:
        """What each feature contributes to total(features): the sum of the roots' means, and by number of feature the sum of the
        changes of the mean at its tests. Together they are the total, which comes last. A mean is that of the leaves below."""
        means, tests, rights, numbers = self._means, self.feature, self.right, self.number
        shares = [0.0] * len(features)
        whole = total = 0.0
        for at in self.roots:
            mean = means[at]
            whole += mean
            while (test := tests[at]) != LEAF:
                at = at + 1 if features[test] <= numbers[at] else rights[at]
                below = means[at]
                shares[test] += below - mean
                mean = below
            total += numbers[at]
        return whole, {test: share for test, share in enumerate(shares) if share}, total

    @cached_property
    def _means(self) -> "array[float]":
        """Of each node the mean of the leaves below it."""
        leaves = [*map(LEAF.__eq__, self.feature)]
        sums = [*accumulate(map(mul, leaves, self.number), initial=0.0)]
        counts, means = [*accumulate(leaves, initial=0)], array("d", bytes(8 * len(leaves)))
        ahead = [*zip(self.roots, [*self.roots[1:], len(leaves)], strict=False)]  # without trees there is an end alone
        while ahead:
            at, end = ahead.pop()
            means[at] = (sums[end] - sums[at]) / (counts[end] - counts[at])
            if not leaves[at]:
                ahead += ((at + 1, self.right[at]), (self.right[at], end))
        return means

    def means_to_bytes(self) -> bytes:
        """What shares() computes once of all leaves, to be kept on this machine."""
        return self._means.tobytes()

    def use_means(self, means: bytes) -> None:
        """Take what means_to_bytes() gave; it is computed if it is of another forest."""
        kept = array("d", means)
        if len(kept) == len(self.feature):
            self.__dict__["_means"] = kept

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
        return (boosted + _logit(self.random.total(features) / len(self.random.roots))) / 2

    def shares(self, features: Sequence[float], status: int | None = None) -> tuple[float, dict[str, float]]:
        """What makes log_odds(features, status): a constant, and the contribution of each feature by name."""
        base, found, _ = self.boosted.shares(features)
        base += self.base
        if self.random.roots:
            count = len(self.random.roots)
            root, parts, leaves = self.random.shares(features)
            first, last = _logit(root / count), _logit(leaves / count)
            scale = (last - first) / change if (change := sum(parts.values())) else 0.0
            base, found = (base + first) / 2, {test: part / 2 for test, part in found.items()}
            for test, part in parts.items():
                found[test] = found.get(test, 0.0) + part * scale / 2
        named = {self.names[test]: self.slope * part for test, part in found.items()}
        recorded = {} if status is None else {STATUS: self.status_other if status else self.status_zero}
        return self.slope * base + self.shift, named | recorded


def _logit(share: float) -> float:
    share = max(MIN_LEAF_SHARE, min(1 - MIN_LEAF_SHARE, share))
    return log(share / (1 - share))
