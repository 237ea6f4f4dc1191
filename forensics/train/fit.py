"""Cases -> a Model, and for each case what a Model says that never saw its source.

forensics train incidents sample_logs -o my.weights
"""

from collections.abc import Sequence

from msgspec.structs import replace

from forensics.database import HEALTHY, Database
from forensics.diagnose.model import Model
from forensics.diagnose.score import standings
from forensics.diagnose.weighing import Spoken, candidates
from forensics.errors import UsageError
from forensics.train import text, weights
from forensics.train.cases import Case, without_its_cause
from forensics.train.weights import Choice

FOLDS = 5
# Weights of a copy whose own cause no signature knew, beside 1 for the case as it is; see docs/model-card.md. Where what is left
# proves another cause, as a consequence does, the model has to learn most from it. Where nothing is left that speaks at all, the
# copy weighs more than an unfamiliar one: of unseen logs that say nothing, two in five belonged to a crash.
UNFAMILIAR = 0.08
MISLEADING = 0.32
SILENT = 0.35


def train(cases: Sequence[Case], knowledge: Database, folds: int = FOLDS) -> Model:
    """The Model of all `cases` and the signatures' examples.

    The weights of the features are learned from what a text model says that never saw the case's source: what it says of
    cases it has learned from is too good. Raises UsageError for fewer sources than `folds`, or cases of one cause only.
    """
    known = text.examples()
    blind = text_models(cases, known, folds)
    made = text.fit([*map(text.document_of, cases), *known])
    return replace(made, values=weights.fit(choices(cases, blind, knowledge)))


def cross_validated(cases: Sequence[Case], knowledge: Database, folds: int = FOLDS) -> list[Model]:
    """For each case, a Model that learned from no case of its source: neither its words nor its features' weights."""
    blind = text_models(cases, text.examples(), folds)
    fold = folds_of(cases, folds)
    made: dict[int, tuple[float, ...]] = {}
    for number in set(fold):
        rest = [i for i, f in enumerate(fold) if f != number]
        made[number] = weights.fit(choices([cases[i] for i in rest], [blind[i] for i in rest], knowledge))
    return [replace(model, values=made[number]) for model, number in zip(blind, fold, strict=True)]


def text_models(cases: Sequence[Case], known: Sequence[text.Document], folds: int) -> list[Model]:
    """For each case, a text model that learned from no case of its source."""
    fold = folds_of(cases, folds)
    documents = [text.document_of(c) for c in cases]
    made = {n: text.fit([*(d for d, f in zip(documents, fold, strict=True) if f != n), *known]) for n in set(fold)}
    return [made[n] for n in fold]


def folds_of(cases: Sequence[Case], folds: int) -> list[int]:
    """The fold of each case; all cases of one source are in one."""
    import numpy as np
    from sklearn.model_selection import GroupKFold

    sources = [c.source for c in cases]
    if len(set(sources)) < folds or len({c.right[0] for c in cases}) < 2:
        raise UsageError(f"too few cases: {folds} sources and two causes are the least to learn from")
    fold = [0] * len(cases)
    split = GroupKFold(folds).split(np.zeros(len(cases)), groups=sources)
    for number, (_, held) in enumerate(split):
        for i in held:
            fold[int(i)] = number
    return fold


def choices(cases: Sequence[Case], models: Sequence[Model], knowledge: Database) -> list[Choice]:
    """Each case as it is, and a copy whose own cause no signature knew."""
    made: list[Choice] = []
    for case, model in zip(cases, models, strict=True):
        made.append(Choice(offered(case, model, knowledge), case.right))
        copy = without_its_cause(case)
        made.append(Choice(offered(copy, model, knowledge), case.right, _weight(copy, knowledge)))
    return made


def _weight(copy: Case, knowledge: Database) -> float:
    first = standings(copy.question.incident, knowledge, copy.question.jobs)[0].cause
    if first == HEALTHY and not copy.question.alarms:
        return SILENT
    return UNFAMILIAR if first == HEALTHY or first in copy.right else MISLEADING


def offered(case: Case, model: Model, knowledge: Database) -> dict[str, list[float]]:
    """The candidates of a case and their features."""
    asked = case.question
    found = standings(asked.incident, knowledge, asked.jobs)
    return candidates(found, Spoken(model, asked.alarms), asked.incident, knowledge)
