"""Logistic regressions with a penalty on the squares of the weights, by a truncated Newton method.

The loss has one minimum, and it is approached until the slope is TOLERANCE of what it was at the start. So processors, thread
counts and versions of libraries, which sum in other orders, end in numbers that are equal but for the last of sixteen digits. A
method that stops earlier stops at a place that depends on the way it took.
"""

from typing import Any, NamedTuple

TOLERANCE = 1e-10  # of the slope at the start; beyond some 1e-12 rounding decides
MAX_NEWTON_STEPS = 40  # Newton's method takes some ten
MAX_INNER_STEPS = 400  # of conjugate gradients for one step; near the minimum some 100 are taken
FIRST_ACCURACY = 0.1  # of the first steps, which need the direction alone
MIN_STEP_LENGTH = 1e-3  # near the minimum the loss itself is rounded, and no longer says which length is better
LEAST_CURVATURE = 1e-12  # of a word that stands in no row


class _Place(NamedTuple):
    """At some weights: the loss, its slope, and the probabilities from which its curvature is computed."""

    loss: float
    slope: Any
    shares: Any


def softmax_regression(rows: Any, classes: Any, weight: Any, penalty: float) -> Any:
    """The weights [features + 1, classes] that make the class of each row most probable; the last row are intercepts.

    `rows`: a sparse matrix. `classes`: the number of each row's class. `weight`: of each row. `penalty`: half of it times the
    squares of the weights is added to the loss; intercepts have none.
    """
    import numpy as np

    found = _solved(_Problem(rows, np.eye(int(max(classes)) + 1)[classes], weight, penalty))
    found[-1] -= found[-1].mean()  # intercepts that are all greater say the same
    return found


def logistic_regression(rows: Any, yes: Any, weight: Any, penalty: float) -> tuple[Any, float]:
    """The weights of the features and the intercept of the log odds of `yes`. See softmax_regression."""
    import numpy as np

    found = _solved(_Problem(rows, np.array(yes, dtype=float)[:, None], weight, penalty))[:, 0]
    return found[:-1], float(found[-1])


class _Problem:
    """The loss of a regression. One column of `wanted` is a logistic one, several are a softmax."""

    def __init__(self, rows: Any, wanted: Any, weight: Any, penalty: float) -> None:
        import numpy as np
        from scipy.sparse import csr_matrix, hstack

        self.rows = hstack([csr_matrix(rows), csr_matrix(np.ones((len(wanted), 1)))]).tocsr()
        self.turned = self.rows.T.tocsr()
        self.squared = self.turned.multiply(self.turned).tocsr()
        self.wanted, self.weight = wanted, np.array(weight, dtype=float)[:, None]
        self.penalty = np.append(np.full(rows.shape[1], penalty), 0.0)[:, None]

    def at(self, weights: Any) -> _Place:
        """Loss, slope and probabilities at `weights`."""
        import numpy as np

        z = self.rows @ weights
        top = np.maximum(z.max(axis=1, keepdims=True), 0 if z.shape[1] == 1 else -np.inf)
        powers = np.exp(z - top)
        whole = powers.sum(axis=1, keepdims=True) + (np.exp(-top) if z.shape[1] == 1 else 0)
        shares = powers / whole
        loss = self.weight * (top + np.log(whole) - (z * self.wanted).sum(axis=1, keepdims=True))
        slope = self.turned @ (self.weight * (shares - self.wanted)) + self.penalty * weights
        return _Place(float(loss.sum() + (self.penalty * weights**2).sum() / 2), slope, shares)

    def curved(self, shares: Any, direction: Any) -> Any:
        """The second derivative times `direction`."""
        z = self.rows @ direction
        part = shares * z
        part -= shares * part.sum(axis=1, keepdims=True)
        part *= self.weight
        return self.turned @ part + self.penalty * direction

    def diagonal(self, shares: Any) -> Any:
        """The diagonal of the second derivative."""
        return self.squared @ (self.weight * shares * (1 - shares)) + self.penalty + LEAST_CURVATURE


def _solved(problem: _Problem) -> Any:
    import numpy as np

    weights = np.zeros((problem.rows.shape[1], problem.wanted.shape[1]))
    place = problem.at(weights)
    first = np.abs(place.slope).max()
    for _ in range(MAX_NEWTON_STEPS):
        left = np.abs(place.slope).max() / first
        if left <= TOLERANCE:
            break
        step, length = _newton_step(problem, place, min(FIRST_ACCURACY, left**0.5)), 1.0
        there = problem.at(weights + step)
        while there.loss > place.loss and length > MIN_STEP_LENGTH:
            length /= 2
            there = problem.at(weights + length * step)
        weights, place = weights + length * step, there
    return weights


def _newton_step(problem: _Problem, place: _Place, accuracy: float) -> Any:
    """By conjugate gradients, with the diagonal of the second derivative as preconditioner."""
    import numpy as np

    diagonal = problem.diagonal(place.shares)
    step, left = np.zeros_like(place.slope), -place.slope
    direction = left / diagonal
    size = (left * direction).sum()
    enough = accuracy**2 * size
    for _ in range(MAX_INNER_STEPS):
        bent = problem.curved(place.shares, direction)
        length = size / (direction * bent).sum()
        step, left = step + length * direction, left - length * bent
        scaled = left / diagonal
        last, size = size, (left * scaled).sum()
        if size <= enough:
            break
        direction = scaled + size / last * direction
    return step
