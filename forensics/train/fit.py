"""Train a Model from cases, and cross-validate: for each case, a Model that was trained without the cases of its origin.

forensics dev train incidents sample_logs -o my.weights
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from forensics.core.errors import UsageError
from forensics.database import HEALTHY, Database
from forensics.decision.candidates import FEATURE_NAMES, UNLISTED, candidates
from forensics.decision.model import Model
from forensics.model.verdicts import Candidate
from forensics.outcome.ending_words import EndingModel
from forensics.outcome.features import Rates
from forensics.outcome.trees import Trees
from forensics.train import outcome_fit, text, weights
from forensics.train.cases import Case, cause_of_labelled_lines, is_labelled, without_its_cause
from forensics.train.lines_fit import fit_lines
from forensics.train.rates import count_firings
from forensics.train.weights import RankingExample

FOLD_COUNT = 5  # usual: four fifths are learned from, and five trainings take minutes
# Each case is also used once without the signatures of its cause, to train for unknown messages. Those are rarer: such a copy has
# this weight, the case itself 1.
UNFAMILIAR = 0.05
# The weight of a case of which only the lines are labelled that say why, beside 1 for one whose cause is: the cause is derived.
LINES_ONLY = 0.5


def train(
    cases: Sequence[Case], knowledge: Database, folds: int = FOLD_COUNT, emphasis: Mapping[str, float] | None = None
) -> Model:
    """A Model, trained on all `cases` and on the signatures' examples.

    The ranker's weights and the outcome's calibration are trained on out-of-fold predictions: of text models and trees that were
    trained without the case's origin, with rates without that origin. Predictions on training cases would be too good.
    `emphasis`: see outcome_fit.case_weights. Raises UsageError for fewer origins than `folds`, or cases of only one cause.
    """
    fold = folds_of(cases, folds)
    rates = rates_without(cases)
    bad, weight = [not c.healthy for c in cases], outcome_fit.case_weights(cases, emphasis)
    words = [c.question.ending_rows(knowledge) for c in cases]
    rows = outcome_fit.outcome_matrix(cases, rates, _out_of_fold_endings(words, bad, weight, fold), knowledge)
    fold_trees = _out_of_fold_trees(rows, bad, weight, fold)
    raw = [fold_trees[f].raw(row) for f, row in zip(fold, rows.tolist(), strict=True)]
    statuses = [c.question.exit_status(knowledge) for c in cases]
    outcome = outcome_fit.calibrate(outcome_fit.fit_trees(rows, bad, weight), raw, statuses, bad, weight)
    ending = outcome_fit.fit_ending(words, bad, weight)
    outcome = outcome_fit.with_terminal_minimum(outcome, cases, weight, knowledge)
    failed = [i for i, c in enumerate(cases) if c.right[0] != HEALTHY and c.cause_known]
    named, own_rates, shares = [cases[i] for i in failed], [rates[i] for i in failed], [weight[i] for i in failed]
    examples = text.signature_examples()
    fold_models = text_models(named, examples, folds_of(named, folds))
    made = text.fit_text_model([*map(text.document_of, named), *examples])
    by_lines = [
        ranking_example(replace(c, right=right), made, r, LINES_ONLY * w, knowledge)
        for c, r, w in zip(cases, rates, weight, strict=True)
        if not c.cause_known and (right := cause_of_labelled_lines(c, knowledge))
    ]
    ranked = ranking_examples(named, fold_models, own_rates, shares, knowledge)
    values = weights.fit_ranker([*ranked, *by_lines])
    return replace(made, feature_weights=values, outcome=outcome, ending=ending, lines=fit_lines(cases))


def rates_without(cases: Sequence[Case]) -> list[Rates]:
    """For each case, the signatures' rates computed without the cases of its origin."""
    found = count_firings(cases, outcome_fit.case_weights(cases))
    whole = found.rates()
    by_origin = {origin: found.without(origin, whole) for origin in {c.source for c in cases}}
    return [by_origin[c.source] for c in cases]


def cross_validated(
    cases: Sequence[Case], knowledge: Database, folds: int = FOLD_COUNT, emphasis: Mapping[str, float] | None = None
) -> list[Model]:
    """For each case, a Model all parts of which were trained without the cases of its origin."""
    fold = folds_of(cases, folds)
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


def text_models(cases: Sequence[Case], known: Sequence[text.Document], fold: Sequence[int]) -> list[Model]:
    """For each case, a text model that was trained without the cases of its origin."""
    documents = [text.document_of(c) for c in cases]
    made = {n: text.fit_text_model([*(d for d, f in zip(documents, fold, strict=True) if f != n), *known]) for n in set(fold)}
    return [made[n] for n in fold]


def folds_of(cases: Sequence[Case], folds: int) -> list[int]:
    """The fold of each case; all cases of one origin are in one."""
    import numpy as np
    from sklearn.model_selection import GroupKFold

    sources = [c.source for c in cases]
    if len(set(sources)) < folds or len({c.right[0] for c in cases}) < 2:
        raise UsageError(f"too few cases: {folds} sources and two causes are the minimum for training")
    fold = [0] * len(cases)
    split = GroupKFold(folds).split(np.zeros(len(cases)), groups=sources)
    for number, (_, held) in enumerate(split):
        for i in held:
            fold[int(i)] = number
    return fold


def ranking_examples(
    cases: Sequence[Case], models: Sequence[Model], rates: Sequence[Rates], weight: Sequence[float], knowledge: Database
) -> list[RankingExample]:
    """Two examples of each case: with all its observations, and without those of its labelled cause."""
    made: list[RankingExample] = []
    for case, model, own_rates, share in zip(cases, models, rates, weight, strict=True):
        unknown = without_its_cause(case)
        made.append(ranking_example(case, model, own_rates, share, knowledge))
        made.append(ranking_example(unknown, model, own_rates, UNFAMILIAR * share, knowledge))
    return made


def ranking_example(case: Case, model: Model, rates: Rates, weight: float, knowledge: Database) -> RankingExample:
    """The candidate events of a case. Right are those of a labelled cause that show a labelled line; all of these causes if none
    does; UNLISTED, the last one, if there is none."""
    found = candidates(case.question.owned, model.text(case.question.words()), knowledge, rates)
    of_cause = [c.cause in case.right for c in found]
    shown = [right and _shows(c, case.evidence) for c, right in zip(found, of_cause, strict=True)]
    right = shown if any(shown) else of_cause
    if not any(right):
        right = [c.cause == UNLISTED for c in found]
    return RankingExample([[c.features[n] for n in FEATURE_NAMES] for c in found], right, weight)


def _shows(candidate: Candidate, labelled: Sequence[str]) -> bool:
    """Is a labelled line among those of the event?"""
    return any(is_labelled(p.text, labelled) for o in candidate.owned for p in o.observation.proofs)
