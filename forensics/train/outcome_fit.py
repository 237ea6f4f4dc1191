"""Cases to the boosted trees that say whether a subject ended badly: scikit-learn learns, plain numbers are kept.

Weights: all cases of one origin together weigh as much as LARGEST_ORIGIN cases at most, so that a repository with a thousand logs
of one program does not decide. The calibration is fitted on what trees say that never saw a case's origin.
"""

from collections import Counter
from collections.abc import Sequence
from math import log
from typing import Any

from msgspec.structs import replace

from forensics.database import Database
from forensics.outcome.features import NAMES, Rates
from forensics.outcome.trees import Node, Trees
from forensics.train.cases import Case

LARGEST_ORIGIN = 12.0
TREES = 220
RATE = 0.06
LEAVES = 12
LEAST_IN_LEAF = 8
SUBSAMPLE = 0.6
FEATURES_A_SPLIT = 0.3
SEED = 4


def weights(cases: Sequence[Case]) -> list[float]:
    """The weight of each case."""
    counts = Counter(c.source for c in cases)
    return [min(1.0, LARGEST_ORIGIN / counts[c.source]) for c in cases]


def matrix(cases: Sequence[Case], rates: Sequence[Rates], knowledge: Database) -> Any:
    """The features [cases, NAMES] as an array. `rates`: for each case, those without what its own origin told."""
    import numpy as np

    return np.array([c.question.outcome_features(knowledge, r) for c, r in zip(cases, rates, strict=True)])


def fit_trees(rows: Any, bad: Sequence[bool], weight: Sequence[float]) -> Trees:
    """Trees without calibration."""
    import numpy as np
    from sklearn.ensemble import GradientBoostingClassifier

    learner = GradientBoostingClassifier(
        n_estimators=TREES,
        learning_rate=RATE,
        max_leaf_nodes=LEAVES,
        max_depth=None,
        min_samples_leaf=LEAST_IN_LEAF,
        subsample=SUBSAMPLE,
        max_features=FEATURES_A_SPLIT,
        random_state=SEED,
    )
    learner.fit(rows, np.array(bad), sample_weight=np.array(weight))
    share = float(np.average(np.array(bad), weights=np.array(weight)))
    return Trees(NAMES, log(share / (1 - share)), RATE, tuple(_nodes(stage[0].tree_) for stage in learner.estimators_))


def _nodes(tree: Any) -> tuple[Node, ...]:
    return tuple(
        (int(f) if left >= 0 else -1, round(float(t), 5), int(left), int(right), round(float(v), 5))
        for f, t, left, right, v in zip(
            tree.feature, tree.threshold, tree.children_left, tree.children_right, tree.value[:, 0, 0], strict=True
        )
    )


def calibrated(trees: Trees, raw: Sequence[float], bad: Sequence[bool], weight: Sequence[float]) -> Trees:
    """`trees` with slope and shift by which `raw`, told blindly, becomes true log odds (Platt's logistic calibration)."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    learner = LogisticRegression(C=1e6).fit(np.array(raw)[:, None], np.array(bad), sample_weight=np.array(weight))
    return replace(trees, slope=float(learner.coef_[0, 0]), shift=float(learner.intercept_[0]))
