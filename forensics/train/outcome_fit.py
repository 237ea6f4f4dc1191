"""Train the trees that predict whether a subject ended badly, with scikit-learn. Only numbers are stored.

All cases of one origin together weigh at most as much as MAX_ORIGIN_WEIGHT cases, so that a repository with a thousand logs of
one program does not dominate. The calibration is fitted on out-of-fold predictions.
"""

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from math import log
from typing import Any

from msgspec.structs import replace

from forensics.outcome.ending_words import ENDING_ROWS, EndingModel
from forensics.outcome.features import OUTCOME_FEATURES
from forensics.outcome.trees import LEAF, Forest, Trees
from forensics.train.cases import Case

MAX_ORIGIN_WEIGHT = 12.0  # chosen by hand: in cases, so that no repository decides what a bad end looks like
BOOSTED_TREES = 200  # chosen by hand, with the rate: 200 small steps of the learning
LEARNING_RATE = 0.06  # chosen by hand: scikit-learn's default is 0.1, with 100 trees
MAX_LEAVES = 16  # chosen by hand: four questions in a row; scikit-learn's default of 31 is for many more cases
LEAST_IN_LEAF = 8  # cases; of fewer than twenty times as many a twentieth
SPLIT_FEATURES_SHARE = 0.2  # chosen by hand: of many features that say nearly the same, each gets its turn
SEEDS_COUNT = 2  # chosen by hand: the mean of two seeds is steadier than one, and the file twice as large
RANDOM_TREES = 80  # chosen by hand: their mean stands beside that of the boosted ones
MIN_RANDOM_LEAF_CASES = 6  # chosen by hand: a leaf of fewer remembers single logs
RANDOM_SPLIT_FEATURES_SHARE = 0.3  # chosen by hand: more than SPLIT_FEATURES_SHARE, as random cuts are mostly bad ones
STRENGTH = 10.0  # scikit-learn's C, the inverse of the penalty: of words that name a cause or a line
CALIBRATION_STRENGTH = 1.0  # scikit-learn's C and default: few cases record a status, and none of them decides alone
ENDING_STRENGTH = 30.0  # scikit-learn's C, the inverse of the penalty: the words of an ending


def case_weights(cases: Sequence[Case], emphasis: Mapping[str, float] | None = None) -> list[float]:
    """The weight of each case. `emphasis`: factors for corpora by name, to count carefully labelled ones more."""
    counts, factor = Counter(c.source for c in cases), emphasis or {}
    return [min(1.0, MAX_ORIGIN_WEIGHT / counts[c.source]) * factor.get(c.corpus, 1.0) for c in cases]


def with_terminal_minimum(trees: Trees, terminal: Sequence[bool], bad: Sequence[bool], weight: Sequence[float]) -> Trees:
    """`trees` with the measured minimum of the log odds for cases with an observation that is terminal by nature.

    One case of each kind is added (Laplace smoothing). `terminal`: has a case such an observation?
    """
    ended_badly = sum(w for w, t, b in zip(weight, terminal, bad, strict=True) if t and b)
    ended_well = sum(w for w, t, b in zip(weight, terminal, bad, strict=True) if t and not b)
    return replace(trees, terminal=log((ended_badly + 1) / (ended_well + 1)))


def fit_ending(rows: Sequence[Sequence[int]], bad: Sequence[bool], weight: Sequence[float]) -> EndingModel:
    """A model that predicts a bad end from the last words of a case. `rows`: of each case, the numbers of its words."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    learner = LogisticRegression(C=ENDING_STRENGTH, max_iter=300)
    learner.fit(words_matrix(rows, ENDING_ROWS), np.array(bad), sample_weight=np.array(weight))
    numbers = np.append(learner.coef_[0], learner.intercept_).astype(np.float32).astype(float).tolist()  # as they are stored
    return EndingModel(numbers[:-1], numbers[-1])


def words_matrix(rows: Sequence[Sequence[int]], width: int) -> Any:
    """A sparse matrix [cases, width] of words, each row normalised to length 1."""
    import numpy as np
    from scipy.sparse import csr_matrix

    counts = np.array([len(r) for r in rows])
    values = np.repeat(1 / np.sqrt(np.maximum(counts, 1)), counts)
    return csr_matrix(
        (values, np.array([n for row in rows for n in row], dtype=int), np.append(0, np.cumsum(counts))), (len(rows), width)
    )


def fit_trees(rows: Any, bad: Sequence[bool], weight: Sequence[float]) -> Trees:
    """Trees without calibration: gradient boosting with a random subset of the features at each split, and extra trees."""
    import numpy as np
    from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier

    failed, share = np.array(bad), np.array(weight)
    boosted: list[list[_Node]] = []
    base = 0.0
    for seed in range(SEEDS_COUNT):
        learner = HistGradientBoostingClassifier(
            max_iter=BOOSTED_TREES,
            learning_rate=LEARNING_RATE,
            max_leaf_nodes=MAX_LEAVES,
            max_depth=None,
            min_samples_leaf=max(1, min(LEAST_IN_LEAF, len(rows) // 20)),
            max_features=SPLIT_FEATURES_SHARE,
            early_stopping=False,
            random_state=seed,
        )
        learner.fit(rows, failed, sample_weight=share)
        boosted += [_of_boosted(stage[0].nodes, 1 / SEEDS_COUNT) for stage in learner._predictors]
        base += float(learner._baseline_prediction[0, 0]) / SEEDS_COUNT
    voters = ExtraTreesClassifier(
        RANDOM_TREES, min_samples_leaf=MIN_RANDOM_LEAF_CASES, max_features=RANDOM_SPLIT_FEATURES_SHARE, random_state=0
    )
    voters.fit(rows, failed, sample_weight=share)
    bad_class = list(voters.classes_).index(True)
    return Trees(
        OUTCOME_FEATURES,
        base,
        forest_of_trees(boosted),
        forest_of_trees([_of_random(e.tree_, bad_class) for e in voters.estimators_]),
    )


# One node: its feature or LEAF, the number of a Forest, and its children.
_Node = tuple[int, float, int, int]


def _of_boosted(tree: Any, scale: float) -> list[_Node]:
    """The nodes of one boosted tree. Its values already include the learning rate."""
    return [
        (LEAF, float(n["value"]) * scale, 0, 0)
        if n["is_leaf"]
        else (int(n["feature_idx"]), float(n["num_threshold"]), int(n["left"]), int(n["right"]))
        for n in tree
    ]


def _of_random(tree: Any, bad_class: int) -> list[_Node]:
    return [
        (LEAF, float(share[0][bad_class]), 0, 0) if left < 0 else (int(feature), float(threshold), int(left), int(right))
        for feature, threshold, left, right, share in zip(
            tree.feature, tree.threshold, tree.children_left, tree.children_right, tree.value, strict=True
        )
    ]


def forest_of_trees(trees: Sequence[Sequence[_Node]]) -> Forest:
    """The nodes of `trees` in depth-first order, with numbers in the stored precision."""
    roots: list[int] = []
    features: list[int] = []
    rights: list[int] = []
    numbers: list[float] = []

    def add(tree: Sequence[_Node], at: int) -> None:
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


def calibrate(
    trees: Trees, raw: Sequence[float], statuses: Sequence[int | None], bad: Sequence[bool], weight: Sequence[float]
) -> Trees:
    """`trees` with what converts raw log odds to calibrated ones (Platt scaling, with the recorded exit status beside it).

    `raw`: out-of-fold predictions. `statuses`: the exit status that the last lines of each case record, see exit_line.py.
    """
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    rows = np.array([(r, s == 0, bool(s)) for r, s in zip(raw, statuses, strict=True)], dtype=float)
    learner = LogisticRegression(C=CALIBRATION_STRENGTH, max_iter=300).fit(rows, np.array(bad), sample_weight=np.array(weight))
    slope, zero, other = learner.coef_[0].tolist()
    return replace(trees, slope=slope, shift=float(learner.intercept_[0]), status_zero=zero, status_other=other)
