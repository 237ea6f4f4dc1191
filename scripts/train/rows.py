"""The numbers that a Model is learned from: for each labelled case its features, without a word of its text.

    a failed run -> features of its outcome, the rows of its last words, features of its three events: "the second is right"

fit.learn needs nothing else. row_file.py keeps them in a file.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from forensics.core.digest import sha256
from forensics.database import Database, builtin_folder
from forensics.decision.candidates import FEATURES, candidates
from forensics.outcome.ending_words import UNTRAINED_ENDING_MODEL
from forensics.outcome.features import Rates, is_terminal_by_nature
from scripts.train import outcome_fit, text
from scripts.train.cases import Case, LineExample, cause_of_labelled_lines, is_labelled, without_its_cause
from scripts.train.rates import count_firings, read_fired

EVENT_FEATURES = tuple(n for n, (group, _, _) in FEATURES.items() if group not in ("text", "unlisted"))
# Each case is also used once without the signatures of its cause, to train for unknown messages. Those are rarer: such a copy has
# this weight, the case itself 1.
UNFAMILIAR = 0.05
# The weight of a case of which only the lines are labelled that say why, beside 1 for one whose cause is: the cause is derived.
LINES_ONLY = 0.5


class EventRow(Struct, frozen=True):
    """An event of a case: the values of EVENT_FEATURES. `shown`: is a labelled line among its own?"""

    cause: str
    features: tuple[float, ...]
    shown: bool


class Choice(Struct, frozen=True):
    """The events of a case between which the ranker chooses. `right`: causes. `strong`: see candidates.with_words."""

    right: tuple[str, ...]
    weight: float
    strong: bool
    events: tuple[EventRow, ...]


class CaseRow(Struct, frozen=True):
    """One labelled case.

    `origin`: a number for its repository or thread. `weight`: of the case. `outcome`: the values of OUTCOME_FEATURES, 0 for that
    of the last words. `ending`: see ending_rows. `status`: its exit status; only 0 and others are told apart. `terminal`: see
    is_terminal_by_nature. `cause`: the labelled one, empty if it is not known or the case is healthy. `words`: numbers in the
    vocabulary, of a case whose cause is labelled.
    """

    origin: int
    weight: float
    bad: bool
    outcome: tuple[float, ...]
    ending: tuple[int, ...]
    status: int | None
    terminal: bool
    cause: str = ""
    words: tuple[int, ...] = ()
    choices: tuple[Choice, ...] = ()
    lines: tuple[LineExample, ...] = ()


class Rows(Struct, frozen=True):
    """All cases. `vocabulary`: the words that are learned. `examples`: of the signatures: the numbers of their words, the cause.

    `known`, `general`: see candidates.with_words.
    """

    vocabulary: tuple[str, ...]
    known: tuple[str, ...]
    general: tuple[str, ...]
    examples: tuple[tuple[tuple[int, ...], str], ...]
    cases: tuple[CaseRow, ...]


def rows_of(
    cases: Sequence[Case], knowledge: Database, emphasis: Mapping[str, float] | None = None, known_words: Sequence[str] = ()
) -> Rows:
    """The rows of `cases`. `emphasis`: see outcome_fit.case_weights. `known_words`: are in the vocabulary in any case."""
    examples = text.signature_examples()
    named = [text.document_of(c) for c in cases if c.cause_known and not c.healthy]
    vocabulary = sorted({*text.kept_words([*named, *examples]), *known_words})
    number = {w: i for i, w in enumerate(vocabulary)}
    shares = outcome_fit.case_weights(cases, emphasis)
    made = [_row(c, w, r, number, knowledge) for c, w, r in zip(cases, shares, rates_without(cases), strict=True)]
    return Rows(
        tuple(vocabulary),
        tuple(sorted(knowledge.causes)),
        tuple(knowledge.traits["exception"]),
        tuple((_numbers(e.words, number), e.cause) for e in examples),
        tuple(made),
    )


def with_new_rows(old: Rows, cases: Sequence[Case], knowledge: Database, emphasis: Mapping[str, float] | None = None) -> Rows:
    """The rows of `cases`, and those of `old` that are of other origins."""
    new = rows_of(cases, knowledge, emphasis, old.vocabulary)
    number, again = {w: i for i, w in enumerate(new.vocabulary)}, {c.origin for c in new.cases}
    places = [number[w] for w in old.vocabulary]
    kept = (replace(c, words=tuple(places[w] for w in c.words)) for c in old.cases if c.origin not in again)
    return replace(new, cases=(*kept, *new.cases))


def rates_without(cases: Sequence[Case]) -> list[Rates]:
    """For each case, the signatures' rates (those of rates.csv, or of `cases` if they are more) without its origin's cases."""
    found = count_firings(cases, outcome_fit.case_weights(cases))
    for kind, fired in read_fired(builtin_folder()).items():
        if kind in found.total:
            found.total[kind] = [*map(max, found.total[kind], fired)]
    whole = found.rates()
    by_origin = {origin: found.without(origin, whole) for origin in {c.source for c in cases}}
    return [by_origin[c.source] for c in cases]


def _row(case: Case, weight: float, rates: Rates, number: Mapping[str, int], knowledge: Database) -> CaseRow:
    asked = case.question
    named = case.cause_known and not case.healthy
    return CaseRow(
        origin=int.from_bytes(sha256(case.source.encode("utf-8", "surrogateescape")).digest()[:4], "little"),
        weight=weight,
        bad=not case.healthy,
        outcome=tuple(asked.features_of_outcome(knowledge, UNTRAINED_ENDING_MODEL, rates)),
        ending=asked.ending_rows(knowledge),
        status=asked.exit_status(knowledge),
        terminal=is_terminal_by_nature(asked.owned, asked.lanes, asked.machine, knowledge),
        cause=case.right[0] if named else "",
        words=_numbers(asked.words(), number) if named else (),
        choices=_choices(case, weight, rates, knowledge),
        lines=case.lines,
    )


def _numbers(words: Any, number: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(sorted(number[w] for w in words if w in number))


def _choices(case: Case, weight: float, rates: Rates, knowledge: Database) -> tuple[Choice, ...]:
    """Two of a case with a labelled cause: with all its observations, and without those of the cause."""
    if case.healthy:
        return ()
    if case.cause_known:
        unknown = without_its_cause(case)
        return (
            _choice(case, weight, rates, knowledge),
            _choice(unknown, UNFAMILIAR * weight, rates, knowledge),
        )
    right = cause_of_labelled_lines(case, knowledge)
    return (_choice(replace(case, right=right), LINES_ONLY * weight, rates, knowledge),) if right else ()


def _choice(case: Case, weight: float, rates: Rates, knowledge: Database) -> Choice:
    *found, none = candidates(case.question.owned, {}, knowledge, rates)
    events = [c for c in found if c.owned]
    rows = (
        EventRow(
            c.cause,
            tuple(c.features[n] for n in EVENT_FEATURES),
            any(is_labelled(p.text, case.evidence) for o in c.owned for p in o.observation.proofs),
        )
        for c in events
    )
    return Choice(case.right, weight, not none.features["unlisted weak"], tuple(rows))
