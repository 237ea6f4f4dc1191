"""Train LineWeights from marked lines of failed logs, by logistic regression. Only numbers are stored.

The marked lines of a log together have the weight 1, each other line has OTHER_LINE_WEIGHT. The logs of one origin together have
the weight of the square root of their number.
"""

from collections import Counter
from collections.abc import Sequence

from forensics.outcome.deciding_lines import UNTRAINED_LINE_WEIGHTS, WORD_ROWS, LineWeights
from forensics.train.outcome_fit import WORD_PENALTY, rounded, words_matrix
from forensics.train.rows import CaseRow
from forensics.train.solvers import logistic_regression

STRUCTURE_SCALE = 0.3  # the penalty on the weights of the structure, beside those of the words
OTHER_LINE_WEIGHT = 0.05  # chosen by hand: twenty lines that decide nothing weigh as much as those that do


def fit_lines(cases: Sequence[CaseRow]) -> LineWeights:
    """The weights, trained on the cases with marked lines; UNTRAINED_LINE_WEIGHTS if there are none."""
    import numpy as np
    from scipy.sparse import csr_matrix, hstack

    marked = [c for c in cases if c.lines]
    if not marked:
        return UNTRAINED_LINE_WEIGHTS
    logs = Counter(c.origin for c in marked)
    weight = [
        (1 / sum(e.decides for e in c.lines) if line.decides else OTHER_LINE_WEIGHT) / logs[c.origin] ** 0.5
        for c in marked
        for line in c.lines
    ]
    lines = [line for c in marked for line in c.lines]
    structure = np.array([line.structure for line in lines])
    scale = STRUCTURE_SCALE / np.maximum(structure.std(axis=0), 1e-6)
    rows = hstack([words_matrix([line.words for line in lines], WORD_ROWS), csr_matrix(structure * scale)]).tocsr()
    weights_found, _ = logistic_regression(rows, [line.decides for line in lines], weight, WORD_PENALTY)
    weights_found[WORD_ROWS:] *= scale
    numbers = rounded(weights_found)
    return LineWeights(numbers[:WORD_ROWS], numbers[WORD_ROWS:])
