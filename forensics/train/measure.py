"""Answers beside labels -> numbers: how often the first cause is right, and whether its probability means what it says.

311 cases: top1 0.95, top3 0.99, hard-top1 0.93, ece 0.03, brier 0.04, false alarms 0/24
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import fields

from forensics.database import HEALTHY, Database
from forensics.diagnose.model import Model
from forensics.diagnose.region import region, words
from forensics.diagnose.score import standings
from forensics.diagnose.weighing import Spoken, weighed
from forensics.train.cases import Case

BINS = 10
CONFIDENT = 0.8


class Answer(Struct, frozen=True):
    """What was said of a case: causes with their probabilities, most probable first."""

    case: Case
    said: tuple[tuple[str, float], ...]

    @property
    def first(self) -> str:
        """The cause that is named."""
        return self.said[0][0]

    @property
    def probability(self) -> float:
        """Its probability."""
        return self.said[0][1]

    @property
    def hit(self) -> bool:
        """Is the first cause right?"""
        return self.first in self.case.right

    def among(self, most: int) -> bool:
        """Is one of the first `most` right?"""
        return any(cause in self.case.right for cause, _ in self.said[:most])


class Measures(Struct, frozen=True):
    """`ece`: mean distance of probability and share of right answers over BINS bins; `brier`: mean square of probability minus
    1 or 0. `confident_wrong`: share of all cases that got a wrong cause of CONFIDENT probability or more."""

    cases: int
    top1: float
    top3: float
    hard_top1: float
    ece: float
    brier: float
    false_alarms: int
    healthy: int
    missed: int
    confident_wrong: float

    def __str__(self) -> str:
        """One line of them all."""
        told = (
            f"{f.name} {getattr(self, f.name)}" if f.type is int else f"{f.name} {getattr(self, f.name):.3f}"
            for f in fields(self)
        )
        return ", ".join(told).replace("_", " ")


def by_formula(case: Case, knowledge: Database) -> Answer:
    """What the plain formula says."""
    asked = case.question
    return Answer(case, tuple((s.cause, s.probability) for s in standings(asked.incident, knowledge, asked.jobs)))


def by_model(case: Case, knowledge: Database, model: Model) -> Answer:
    """What the whole says: formula, words and weights."""
    asked = case.question
    plain = standings(asked.incident, knowledge, asked.jobs)
    found = weighed(plain, asked.incident, Spoken(model, asked.alarms), knowledge)
    return Answer(case, tuple((s.cause, s.probability) for s in found))


def by_words(case: Case, model: Model) -> Answer:
    """What the words alone say."""
    found = model.text(words(region(case.question.incident, case.question.alarms)))
    return Answer(case, tuple(sorted(found.items(), key=lambda item: (-item[1], item[0]))))


def measure(answers: Sequence[Answer]) -> Measures:
    """The numbers of `answers`, one at least."""
    hard = [a for a in answers if a.case.hard]
    healthy = [a for a in answers if a.case.healthy]
    wrong = [a for a in answers if not a.hit]
    return Measures(
        cases=len(answers),
        top1=_share(answers, lambda a: a.hit),
        top3=_share(answers, lambda a: a.among(3)),
        hard_top1=_share(hard, lambda a: a.hit),
        ece=sum(n * abs(said - right) for n, said, right in reliability(answers)) / len(answers),
        brier=sum((a.probability - a.hit) ** 2 for a in answers) / len(answers),
        false_alarms=sum(not a.hit for a in healthy),
        healthy=len(healthy),
        missed=sum(a.first == HEALTHY for a in wrong),
        confident_wrong=_share(answers, lambda a: not a.hit and a.probability >= CONFIDENT),
    )


def _share(answers: Sequence[Answer], holds: Callable[[Answer], bool]) -> float:
    return sum(map(holds, answers)) / len(answers) if answers else float("nan")


def reliability(answers: Sequence[Answer]) -> list[tuple[int, float, float]]:
    """Of each bin of probability that is not empty: answers in it, their mean probability, and the share that is right."""
    bins: dict[int, list[Answer]] = defaultdict(list)
    for answer in answers:
        bins[min(BINS - 1, int(answer.probability * BINS))].append(answer)
    return [(len(b), sum(a.probability for a in b) / len(b), sum(a.hit for a in b) / len(b)) for _, b in sorted(bins.items())]


def by_cause(answers: Sequence[Answer]) -> Mapping[str, tuple[int, float, float]]:
    """Cause -> cases of it, precision, recall. An accepted answer counts as the cause it was labelled with; NaN where the
    cause was never named, or never happened."""
    named = [(a.case.right[0] if a.hit else a.first, a.case.right[0]) for a in answers]
    found: dict[str, tuple[int, float, float]] = {}
    for cause in sorted({c for pair in named for c in pair}):
        hits = sum(said == right == cause for said, right in named)
        said, there = sum(s == cause for s, _ in named), sum(r == cause for _, r in named)
        found[cause] = (there, hits / said if said else float("nan"), hits / there if there else float("nan"))
    return found
