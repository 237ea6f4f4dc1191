"""Train what predicts whether a subject ended badly: its trees with their calibration, and the words of an ending.

All cases of one origin together weigh at most as much as MAX_ORIGIN_WEIGHT cases, so that a repository with a thousand logs of
one program does not dominate. The calibration is fitted on out-of-fold predictions.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log
from typing import Any

from msgspec.structs import replace

from forensics.outcome.ending_words import ENDING_ROWS, EndingModel
from forensics.outcome.features import OUTCOME_FEATURES
from forensics.outcome.trees import Trees
from scripts.train.cases import Case
from scripts.train.solvers import logistic_regression
from scripts.train.tree_growing import boosted_trees, forest_of_trees, random_trees

MAX_ORIGIN_WEIGHT = 12.0  # chosen by hand: in cases, so that no repository decides what a bad end looks like
WORD_PENALTY = 0.1  # of words that name a cause or a line
CALIBRATION_PENALTY = 1.0  # few cases record a status, and none of them decides alone
ENDING_PENALTY = 1 / 30  # of the words of an ending
STORED_DIGITS = 4  # of a number: what is smaller says nothing, and may differ between processors


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
    return replace(trees, terminal=round(log((ended_badly + 1) / (ended_well + 1)), STORED_DIGITS))


def fit_ending(rows: Sequence[Sequence[int]], bad: Sequence[bool], weight: Sequence[float]) -> EndingModel:
    """A model that predicts a bad end from the last words of a case. `rows`: of each case, the numbers of its words."""
    weights, intercept = logistic_regression(words_matrix(rows, ENDING_ROWS), bad, weight, ENDING_PENALTY)
    return EndingModel(rounded(weights), *rounded([intercept]))


def rounded(numbers: Any) -> list[float]:
    """The numbers as they are stored: with STORED_DIGITS, and 32 bits."""
    import numpy as np

    return np.round(numbers, STORED_DIGITS).astype(np.float32).astype(float).tolist()  # type: ignore[no-any-return]


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
    """Trees without calibration."""
    import numpy as np

    given = rows, np.array(bad), np.array(weight)
    base, boosted = boosted_trees(*given)
    return Trees(OUTCOME_FEATURES, base, forest_of_trees(boosted), forest_of_trees(random_trees(*given)))


def calibrate(
    trees: Trees, raw: Sequence[float], statuses: Sequence[int | None], bad: Sequence[bool], weight: Sequence[float]
) -> Trees:
    """`trees` with what converts raw log odds to calibrated ones (Platt scaling, with the recorded exit status beside it).

    `raw`: out-of-fold predictions. `statuses`: the exit status that the last lines of each case record, see exit_line.py.
    """
    import numpy as np

    rows = np.array([(r, s == 0, bool(s)) for r, s in zip(raw, statuses, strict=True)], dtype=float)
    weights, shift = logistic_regression(rows, bad, weight, CALIBRATION_PENALTY)
    slope, zero, other, shift = (round(float(x), STORED_DIGITS) for x in (*weights, shift))
    return replace(trees, slope=slope, shift=shift, status_zero=zero, status_other=other)
