"""Owned observations, questions and models that the tests of this folder make."""

from typing import Any

from forensics.database import Database
from forensics.decision.candidates import FEATURE_NAMES
from forensics.decision.decide import DecisionInput
from forensics.decision.model import Model
from forensics.model import Line, Observation, Proof, Weight
from forensics.model.verdicts import Aftermath, Attempt, Entity, Lane, LaneDigest, LaneKind, OwnedObservation, Owner
from forensics.outcome import features as outcome_features
from forensics.outcome.trees import Trees

DIGEST = LaneDigest(
    100, 100, -1, -1, -1, -1, -1, 0, -1, 0, 0, 0, 0, 0, 90, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, 0.0, (0.0,) * 16
)


def seen(
    cause: str,
    line: int = 10,
    weight: Weight = "strong",
    owner: Owner = "mine",
    ends: str = "process",
    source: str = "train.log",
    before: float | None = None,
    **after: Any,
) -> OwnedObservation:
    """An observation of `cause` on `line` with its owner; `after`: see Aftermath."""
    text = f"what line {line} says of {cause.rpartition('.')[2]}"
    proof = Proof(source, line, text, f"{cause}/made{line}", weight)
    o = Observation(f"{cause}/made{line}", cause, weight, source, line, line, (proof,), ends=ends, scope=("any",))
    return OwnedObservation(o, owner, "made", None, Aftermath(**{"lines_after": 100 - line, **after}), before)


def lane(kind: LaneKind = "job", trouble: tuple[str, ...] = (), last: str = "the last line", good: int = -1) -> Lane:
    """A lane of 100 lines."""
    from msgspec.structs import replace

    lines = tuple(Line(90 + i, text) for i, text in enumerate(trouble))
    at_work = DIGEST.progress if good < 0 else good + 1  # before the good end
    digest = replace(DIGEST, good=good, progress=at_work, trouble=0 if trouble else -1, trouble_count=len(trouble))
    return Lane("train.log", kind, Entity("job", "train.log"), (Attempt(1, 1, 100),), digest, lines, (Line(100, last),))


def question(*owned: OwnedObservation, lanes: tuple[Lane, ...] = (), machine: bool = False) -> DecisionInput:
    return DecisionInput(owned, lanes or (lane(),), machine, False)


def model(bad: float = 6.0, words: Any = None, **values: float) -> Model:
    """A model that says `bad` as log odds of every end, and weighs the features named (`no_evidence` stands for `no evidence`).

    `words`: word -> cause -> coefficient.
    """
    told: dict[str, dict[str, float]] = words or {}
    causes = tuple(sorted({c for by in told.values() for c in by})) or ("code.shape",)
    vocabulary = {word: i for i, word in enumerate(told)}
    unknown = set(values) - {n.replace(" ", "_") for n in FEATURE_NAMES}
    assert not unknown, unknown
    return Model(
        causes=causes,
        vocabulary=vocabulary,
        idf=(1.0,) * len(vocabulary),
        intercepts=(0.0,) * len(causes),
        coefficients=tuple(by.get(c, 0.0) for by in told.values() for c in causes),
        feature_weights=tuple(values.get(n.replace(" ", "_"), 0.0) for n in FEATURE_NAMES),
        outcome=Trees(outcome_features.OUTCOME_FEATURES, bad),
    )


def features_of(found: object, cause: str) -> dict[str, float]:
    """The features of the candidate `cause` among `found`."""
    return next(dict(c.features) for c in found if c.cause == cause)  # type: ignore[attr-defined]


__all__ = ["Database", "features_of", "lane", "model", "question", "seen"]
