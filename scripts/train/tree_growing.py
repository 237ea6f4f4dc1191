"""Grow the trees that predict whether a subject ended badly: boosted ones, and random ones beside them.

The sums that a split is chosen by are of whole numbers, so they are the same in any order: the same rows give the same trees on
each processor, with each version of numpy. The methods are those of scikit-learn's HistGradientBoostingClassifier (leaves in the
order of their gain, a new draw of features at each split) and ExtraTreesClassifier (one random cut for each feature drawn).
"""

from array import array
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from forensics.outcome.trees import LEAF, Forest

BOOSTED_TREES = 200  # chosen by hand, with the rate: 200 small steps of the learning
LEARNING_RATE = 0.06  # chosen by hand: scikit-learn's default is 0.1, with 100 trees
MAX_LEAVES = 16  # chosen by hand: four questions in a row; scikit-learn's default of 31 is for many more cases
LEAST_IN_LEAF = 8  # cases; of fewer than twenty times as many a twentieth
SPLIT_FEATURES_SHARE = 0.2  # chosen by hand: of many features that say nearly the same, each gets its turn
MAX_CUTS = 31  # of one feature: with 255, scikit-learn's default, the trees are no better
LEAST_GAIN = 1e-6  # of a split: less is rounding
RANDOM_TREES = 80  # chosen by hand: their mean stands beside that of the boosted ones
MIN_RANDOM_LEAF_CASES = 6  # chosen by hand: a leaf of fewer remembers single logs
RANDOM_SPLIT_FEATURES_SHARE = 0.3  # chosen by hand: more than SPLIT_FEATURES_SHARE, as random cuts are mostly bad ones
WHOLE = 1 << 16  # slopes and weights are counted in units of one part of so many: fine beside a case's weight, exact in sums

# One node: its feature or LEAF, the number of a Forest, and its children.
Node = tuple[int, float, int, int]


class _Growing(Struct):
    """A leaf of a boosted tree that can be split: the gain, its node and rows, the feature and the cut."""

    gain: float
    node: int
    rows: Any
    feature: int
    cut: int


def boosted_trees(matrix: Any, bad: Any, weight: Any, seed: int = 0) -> tuple[float, list[list[Node]]]:
    """Log odds before any tree, and trees whose values add up to what the features change of it."""
    import numpy as np

    cuts = [_cuts(column) for column in matrix.T]
    places = np.stack([np.searchsorted(c, x) for c, x in zip(cuts, matrix.T, strict=True)], axis=1)
    chance = np.random.RandomState(seed)  # its numbers are the same in each version of numpy
    base = round(float(np.log((weight * bad).sum() / (weight * ~bad).sum())), 6)
    odds, trees = np.full(len(matrix), base), []
    for _ in range(BOOSTED_TREES):
        share = 1 / (1 + np.exp(-odds))
        slopes = np.rint(weight * (share - bad) * WHOLE)
        bends = np.rint(weight * share * (1 - share) * WHOLE)
        tree = _Boosted(places, slopes, bends, chance)
        odds += tree.values
        trees.append([(f, v if f == LEAF else float(cuts[f][int(v)]), a, b) for f, v, a, b in tree.nodes])
    return base, trees


def _cuts(column: Any) -> Any:
    """Numbers between values of `column`, at most MAX_CUTS, with as many rows between any two as can be."""
    import numpy as np

    values, counts = np.unique(column, return_counts=True)
    middles = (values[:-1] + values[1:]) / 2
    if len(middles) <= MAX_CUTS:
        return middles
    below = counts.cumsum()[:-1]
    wanted = np.arange(1, MAX_CUTS + 1) * len(column) // (MAX_CUTS + 1)
    return middles[np.unique(np.minimum(np.searchsorted(below, wanted), len(middles) - 1))]


class _Boosted:
    """One tree. `places`: of each row and feature, the number of cuts below it. `nodes`: a cut is its number."""

    def __init__(self, places: Any, slopes: Any, bends: Any, chance: Any) -> None:
        import numpy as np

        self.places, self.slopes, self.bends, self.chance = places, slopes, bends, chance
        self.least = max(1, min(LEAST_IN_LEAF, len(places) // 20))
        self.nodes: list[Node] = []
        self.open: list[_Growing] = []
        self.values = np.zeros(len(places))
        self._add(np.arange(len(places)))
        leaves = 1
        while self.open and leaves < MAX_LEAVES:
            best = max(self.open, key=lambda leaf: (leaf.gain, -leaf.node))
            self.open.remove(best)
            left = places[best.rows, best.feature] <= best.cut
            children = self._add(best.rows[left]), self._add(best.rows[~left])
            self.nodes[best.node] = (best.feature, float(best.cut), *children)
            leaves += 1

    def _add(self, rows: Any) -> int:
        """A new leaf, and how it can be split best."""
        slope, bend = self.slopes[rows].sum(), self.bends[rows].sum()
        value = float(-LEARNING_RATE * slope / max(bend, 1.0))
        self.values[rows] = value
        self.nodes.append((LEAF, value, 0, 0))
        if len(rows) >= 2 * self.least:
            self._offer(rows, slope, bend)
        return len(self.nodes) - 1

    def _offer(self, rows: Any, slope: float, bend: float) -> None:
        import numpy as np

        count = self.places.shape[1]
        drawn = self.chance.rand(count).argsort(kind="stable")[: max(1, int(SPLIT_FEATURES_SHARE * count))]
        width = MAX_CUTS + 1
        cells = (self.places[rows][:, drawn] + np.arange(len(drawn)) * width).ravel()

        def left_of_cuts(numbers: Any) -> Any:
            sums = np.bincount(cells, np.repeat(numbers[rows], len(drawn)), len(drawn) * width)
            return sums.reshape(-1, width).cumsum(axis=1)[:, :-1]

        slopes, bends, rows_left = map(left_of_cuts, (self.slopes, self.bends, np.ones(len(self.places))))
        allowed = (np.minimum(rows_left, len(rows) - rows_left) >= self.least) & (np.minimum(bends, bend - bends) > 0)
        parts = slopes**2 / np.maximum(bends, 1.0) + (slope - slopes) ** 2 / np.maximum(bend - bends, 1.0)
        gains = np.where(allowed, parts - slope**2 / max(bend, 1.0), 0.0)
        best = int(gains.argmax())
        if (gain := float(gains.flat[best])) > LEAST_GAIN:
            feature, cut = divmod(best, MAX_CUTS)
            self.open.append(_Growing(gain, len(self.nodes) - 1, rows, int(drawn[feature]), cut))


def random_trees(matrix: Any, bad: Any, weight: Any, seed: int = 0) -> list[list[Node]]:
    """Trees whose leaves hold the share of bad ends."""
    import numpy as np

    chance, weights = np.random.RandomState(seed), np.rint(weight * WHOLE)
    return [_random_tree(matrix, weights, weights * bad, chance) for _ in range(RANDOM_TREES)]


def _random_tree(matrix: Any, weights: Any, bad: Any, chance: Any) -> list[Node]:
    import numpy as np

    nodes: list[Node] = []

    def add(rows: Any) -> int:
        number = len(nodes)
        whole, ill = weights[rows].sum(), bad[rows].sum()
        nodes.append((LEAF, float(ill / whole), 0, 0))
        split = _random_split(matrix[rows], weights[rows], bad[rows], chance) if 0 < ill < whole else None
        if split:
            feature, cut = split
            left = matrix[rows, feature] <= cut
            nodes[number] = (feature, cut, add(rows[left]), add(rows[~left]))
        return number

    add(np.arange(len(matrix)))
    return nodes


def _random_split(matrix: Any, weights: Any, bad: Any, chance: Any) -> tuple[int, float] | None:
    """The best of one random cut for each feature that is drawn; None if none leaves enough rows on both sides."""
    import numpy as np

    low, high = matrix.min(axis=0), matrix.max(axis=0)
    drawn = (low < high).nonzero()[0]
    drawn = drawn[chance.rand(len(drawn)).argsort(kind="stable")]
    drawn = drawn[: max(1, int(RANDOM_SPLIT_FEATURES_SHARE * matrix.shape[1]))]
    cuts = low[drawn] + (high[drawn] - low[drawn]) * chance.rand(len(drawn))
    left = (matrix[:, drawn] <= cuts).astype(float)
    rows_left, whole_left, bad_left = left.sum(axis=0), weights @ left, bad @ left
    whole_right, bad_right = weights.sum() - whole_left, bad.sum() - bad_left
    pure = bad_left**2 + (whole_left - bad_left) ** 2
    pure = pure / np.maximum(whole_left, 1.0) + (bad_right**2 + (whole_right - bad_right) ** 2) / np.maximum(whole_right, 1.0)
    pure = np.where(np.minimum(rows_left, len(matrix) - rows_left) >= MIN_RANDOM_LEAF_CASES, pure, 0.0)
    best = int(pure.argmax()) if len(drawn) else 0
    return (int(drawn[best]), float(cuts[best])) if len(drawn) and pure[best] > 0 else None


def forest_of_trees(trees: Sequence[Sequence[Node]]) -> Forest:
    """The nodes of `trees` in depth-first order, with numbers in the stored precision."""
    roots: list[int] = []
    features: list[int] = []
    rights: list[int] = []
    numbers: list[float] = []

    def add(tree: Sequence[Node], at: int) -> None:
        feature, number, left, right = tree[at]
        place = len(features)
        features.append(feature)
        numbers.append(number)
        rights.append(place)
        if feature != LEAF:
            add(tree, left)
            rights[place] = len(features)
            add(tree, right)

    for tree in trees:
        roots.append(len(features))
        add(tree, 0)
    return Forest(roots, features, rights, array("f", numbers))
