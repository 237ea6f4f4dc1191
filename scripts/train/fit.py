"""Train a Model from cases, and cross-validate: for each case, a Model that was trained without the cases of its origin.

python -m scripts.train learn incidents sample_logs -o my.weights

Train LineWeights from marked lines of failed logs, by logistic regression. Only numbers are stored.

The marked lines of a log together have the weight 1, each other line has OTHER_LINE_WEIGHT. The logs of one origin together have
the weight of the square root of their number.

Train the ranker, the second half of the classifier: a conditional logit with one weight for each named feature.

Each example is a case with its candidates. The utility of a candidate is the sum of its features times their weights; its
probability is exp(utility) divided by the sum over all candidates. The weights maximise the probability of the right candidates,
less a penalty for what they differ from prior.csv: the weights that were learned from 8,639 cases, most of whose logs cannot be
had again. A few cases move a weight little, many as far as they show. (With a tenth of the penalty the weights of what stands
behind and before an event were lost, and of two kills the earlier one was named.)
"""

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from forensics.core.errors import UsageError
from forensics.database import Database
from forensics.decision.candidates import FEATURE_NAMES, FEATURES, UNLISTED, with_words
from forensics.decision.model import Model
from forensics.model.verdicts import Candidate
from forensics.outcome.deciding_lines import UNTRAINED_LINE_WEIGHTS, WORD_ROWS, LineWeights
from forensics.outcome.ending_words import EndingModel
from forensics.outcome.features import ENDING, OUTCOME_FEATURES
from forensics.outcome.trees import Trees
from scripts.train import outcome_fit, text
from scripts.train.cases import Case
from scripts.train.outcome_fit import STORED_DIGITS, WORD_PENALTY, rounded, words_matrix
from scripts.train.rows import EVENT_FEATURES, CaseRow, Choice, Rows, rows_of
from scripts.train.solvers import MAX_NEWTON_STEPS, MIN_STEP_LENGTH, logistic_regression

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


RANKER_TOLERANCE = 1e-8  # of the slope: the weights are right in more digits than are stored
PRIOR_FILE = Path(__file__).parent / "prior.csv"


class Prior(Struct, frozen=True):
    """Before any case is seen: the `centre` of a weight, and its `strength`, the factor of the squared distance from it."""

    centre: float
    strength: float


FLAT = Prior(0.0, 0.3)  # nothing is known: a small penalty keeps a weight finite that all cases agree on


def read_prior() -> list[Prior]:
    """The prior of each feature, in the order of FEATURE_NAMES."""
    with PRIOR_FILE.open(encoding="utf-8", newline="") as file:
        rows = {row["feature"]: Prior(float(row["centre"]), float(row["strength"])) for row in csv.DictReader(file)}
    return [rows.get(name, FLAT) for name in FEATURE_NAMES]


class RankingExample(Struct, frozen=True):
    """`rows`: the features of each candidate. `right`: which of them are right, one or more."""

    rows: Sequence[Sequence[float]]
    right: Sequence[bool]
    weight: float = 1.0


def fit_ranker(choices: Sequence[RankingExample], prior: Sequence[Prior] | None = None) -> tuple[float, ...]:
    """The weights in the order of FEATURE_NAMES, each with the sign that FEATURES prescribes. `prior`: instead of prior.csv."""
    import numpy as np

    problem = _Choices(choices, read_prior() if prior is None else prior)
    signs = np.array([FEATURES[name][1] for name in FEATURE_NAMES])
    low, high = np.where(signs > 0, 0.0, -np.inf), np.where(signs < 0, 0.0, np.inf)
    weights = np.clip(problem.centre, low, high)
    loss, slope, bend = problem.at(weights)
    for _ in range(MAX_NEWTON_STEPS):
        free = ~(((weights <= low) & (slope > 0)) | ((weights >= high) & (slope < 0)))
        if not free.any() or np.abs(slope[free]).max() <= RANKER_TOLERANCE:
            break
        step, length = np.zeros_like(weights), 1.0
        step[free] = -np.linalg.solve(bend[np.ix_(free, free)], slope[free])
        while problem.at(there := np.clip(weights + length * step, low, high))[0] > loss and length > MIN_STEP_LENGTH:
            length /= 2
        weights = there
        loss, slope, bend = problem.at(weights)
    return tuple(round(float(w), STORED_DIGITS) + 0.0 for w in weights)


class _Choices:
    """The loss of weights: how improbable they make the right candidates, and how far they are from the prior."""

    def __init__(self, choices: Sequence[RankingExample], prior: Sequence[Prior]) -> None:
        import numpy as np

        shape = len(choices), max(len(c.rows) for c in choices)
        self.features = np.zeros((*shape, len(FEATURE_NAMES)))
        self.there, self.right = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
        for i, choice in enumerate(choices):
            count = len(choice.rows)
            self.features[i, :count], self.there[i, :count], self.right[i, :count] = choice.rows, True, choice.right
        self.weight = np.array([c.weight for c in choices])
        self.centre, self.strength = np.array([p.centre for p in prior]), np.array([p.strength for p in prior])

    def at(self, weights: Any) -> tuple[float, Any, Any]:
        """The loss, its slope, and a second derivative that is never negative: where several candidates are right, without
        what makes it so."""
        import numpy as np

        utility = np.where(self.there, self.features @ weights, -np.inf)
        powers = np.exp(utility - utility.max(axis=1, keepdims=True))
        share = powers / powers.sum(axis=1, keepdims=True)
        hit = np.maximum((share * self.right).sum(axis=1), 1e-300)
        apart = weights - self.centre
        loss = (self.strength * apart**2).sum() - (self.weight * np.log(hit)).sum()
        slope = self.weight[:, None] * (share - share * self.right / hit[:, None])
        mean = np.einsum("ij,ijk->ik", share, self.features)
        spread = np.sqrt(self.weight[:, None] * share)[:, :, None] * (self.features - mean[:, None, :])
        spread = spread[self.there]
        bend = spread.T @ spread + np.diag(2 * self.strength)
        return float(loss), np.einsum("ij,ijk->k", slope, self.features) + 2 * self.strength * apart, bend


FOLD_COUNT = 5  # usual: four fifths are learned from, and five trainings take minutes
NO_FEATURES = dict.fromkeys(FEATURE_NAMES, 0.0)


def train(
    cases: Sequence[Case], knowledge: Database, folds: int = FOLD_COUNT, emphasis: Mapping[str, float] | None = None
) -> Model:
    """A Model, trained on all `cases` and on the signatures' examples. `emphasis`: see outcome_fit.case_weights."""
    return learn(rows_of(cases, knowledge, emphasis), folds)


def learn(rows: Rows, folds: int = FOLD_COUNT, kept: Model | None = None) -> Model:
    """The Model of `rows`; with the trees and the words of an ending of `kept`, if it is given.

    The ranker's weights and the outcome's calibration are trained on out-of-fold predictions: of text models and trees that were
    trained without the case's origin, with rates without that origin. Predictions on training cases would be too good.
    Raises UsageError for fewer origins than `folds`, or cases of only one cause.
    """
    if len({c.cause for c in rows.cases}) < 2:
        raise UsageError("too few cases: two causes are the minimum for training")
    outcome, ending = (kept.outcome, kept.ending) if kept else _outcome_and_ending(rows, folds)
    made, ranked = _text_and_choices(rows, folds)
    values = fit_ranker(ranked)
    return replace(made, feature_weights=values, outcome=outcome, ending=ending, lines=fit_lines(rows.cases))


def _outcome_and_ending(rows: Rows, folds: int) -> tuple[Trees, EndingModel]:
    """The trees with their calibration, and the model of the words at the end."""
    import numpy as np

    fold = folds_of([c.origin for c in rows.cases], folds)
    bad, weight = [c.bad for c in rows.cases], [c.weight for c in rows.cases]
    words = [c.ending for c in rows.cases]
    matrix = np.array([c.outcome for c in rows.cases])
    endings = _out_of_fold_endings(words, bad, weight, fold)
    matrix[:, OUTCOME_FEATURES.index(ENDING)] = outcome_fit.rounded([m.log_odds(w) for m, w in zip(endings, words, strict=True)])
    fold_trees = _out_of_fold_trees(matrix, bad, weight, fold)
    raw = [fold_trees[f].raw(row) for f, row in zip(fold, matrix.tolist(), strict=True)]
    trees = outcome_fit.fit_trees(matrix, bad, weight)
    outcome = outcome_fit.calibrate(trees, raw, [c.status for c in rows.cases], bad, weight)
    outcome = outcome_fit.with_terminal_minimum(outcome, [c.terminal for c in rows.cases], bad, weight)
    return outcome, outcome_fit.fit_ending(words, bad, weight)


def _text_and_choices(rows: Rows, folds: int) -> tuple[Model, list[RankingExample]]:
    """The text model, and what the ranker is trained on: of each case by a text model that was trained without its origin."""
    named = [c for c in rows.cases if c.cause]
    documents = [(c.words, c.cause) for c in named]
    fold = folds_of([c.origin for c in named], folds)
    made = text.fit_text_model([*documents, *rows.examples], rows.vocabulary)
    blind = {
        n: text.fit_text_model([*(d for d, f in zip(documents, fold, strict=True) if f != n), *rows.examples], rows.vocabulary)
        for n in set(fold)
    }
    known = frozenset(rows.known)
    ranked: list[RankingExample] = []
    for case, number in zip(named, fold, strict=True):
        likely = blind[number].text_of_rows(case.words)
        ranked += [ranking_example(choice, likely, known, rows.general) for choice in case.choices]
    unnamed: list[CaseRow] = [c for c in rows.cases if c.choices and not c.cause]
    for case in unnamed:
        ranked += [ranking_example(choice, made.text_of_rows(case.words), known, rows.general) for choice in case.choices]
    return made, ranked


def cross_validated(
    cases: Sequence[Case], knowledge: Database, folds: int = FOLD_COUNT, emphasis: Mapping[str, float] | None = None
) -> list[Model]:
    """For each case, a Model all parts of which were trained without the cases of its origin."""
    fold = folds_of([c.source for c in cases], folds)
    made: dict[int, Model] = {}
    for number in sorted(set(fold)):
        made[number] = train([c for c, f in zip(cases, fold, strict=True) if f != number], knowledge, folds, emphasis)
    return [made[f] for f in fold]


def _out_of_fold_trees(rows: Any, bad: Sequence[bool], weight: Sequence[float], fold: Sequence[int]) -> dict[int, Trees]:
    """Fold -> trees that were trained without it."""
    made: dict[int, Trees] = {}
    for number in set(fold):
        kept = [i for i, f in enumerate(fold) if f != number]
        made[number] = outcome_fit.fit_trees(rows[kept], [bad[i] for i in kept], [weight[i] for i in kept])
    return made


def _out_of_fold_endings(
    words: Sequence[Sequence[int]], bad: Sequence[bool], weight: Sequence[float], fold: Sequence[int]
) -> list[EndingModel]:
    """For each case, a model of the words at the end that was trained without the cases of its origin."""
    made: dict[int, EndingModel] = {}
    for number in set(fold):
        kept = [i for i, f in enumerate(fold) if f != number]
        made[number] = outcome_fit.fit_ending([words[i] for i in kept], [bad[i] for i in kept], [weight[i] for i in kept])
    return [made[f] for f in fold]


def folds_of(origins: Sequence[object], folds: int) -> list[int]:
    """The fold of each case; all cases of one origin are in one. Raises UsageError for fewer origins than `folds`."""
    if len(set(origins)) < folds:
        raise UsageError(f"too few cases: {folds} sources are the minimum for training")
    counts = Counter(origins)
    sizes, of_origin = [0] * folds, {}
    for origin in sorted(counts, key=lambda o: (-counts[o], str(o))):
        of_origin[origin] = sizes.index(min(sizes))
        sizes[of_origin[origin]] += counts[origin]
    return [of_origin[origin] for origin in origins]


def ranking_example(choice: Choice, likely: Mapping[str, float], known: frozenset[str], general: Sequence[str]) -> RankingExample:
    """The candidates of a choice. Right are those of a labelled cause that show a labelled line; all of these causes if none
    does; UNLISTED, the last one, if there is none. `likely`: cause -> probability by words."""
    events = [Candidate(e.cause, (), NO_FEATURES | dict(zip(EVENT_FEATURES, e.features, strict=True))) for e in choice.events]
    found = with_words(events, choice.strong, likely, known, general)
    shows = [e.shown for e in choice.events] + [False] * (len(found) - len(events))
    of_cause = [c.cause in choice.right for c in found]
    shown = [right and s for right, s in zip(of_cause, shows, strict=True)]
    right = shown if any(shown) else of_cause
    if not any(right):
        right = [c.cause == UNLISTED for c in found]
    return RankingExample([[c.features[n] for n in FEATURE_NAMES] for c in found], right, choice.weight)
