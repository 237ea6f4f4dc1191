"""The rows that make each probability. Their sum is the number that a report shows, and every rule that changes it is a row.

a cause:            rows add up to the logarithm of its probability
it ended badly:     rows add up to the log odds of its probability
"""

from collections.abc import Sequence
from math import exp, log
from typing import TypeVar

from msgspec.structs import replace

from forensics.model import Adjustment, Finding
from forensics.model.verdicts import Candidate, OwnedObservation

MIN_PROBABILITY = 1e-6  # keeps the logarithms finite
MIN_LOG_ODDS = 0.01  # smaller contributions stand together in one row
ROW_DIGITS = 4  # of a row: forty of them are exact to a thousandth together
FURTHER = "further features"
AGAINST_ALL = "all candidates"
BAD_END = "it ended badly"
NO_BAD_END = "it did not end badly"
MEANINGS = {
    "outcome proof": "messages that prove an end, and what follows them",
    "outcome strong": "messages that strongly suggest an end, and what follows them",
    "outcome hint": "messages that hint at an end, and what follows them",
    "outcome notice": "messages that end nothing, and what follows them",
    "outcome trait": "the kind of the messages: an exception, a death, a fault of the machine, a stop",
    "outcome ends": "what they say has ended: the machine, the job",
    "outcome healthy": "messages of a good end",
    "outcome unknown": "messages that only time or place links to the job",
    "outcome lane": "how its log ends: trouble, progress, a good end in its last lines",
    "outcome lanes": "how its other logs end",
    "outcome setting": "what was given: a machine's log, a host's log beside it, how many attempts",
    "outcome ending": "the words of its last lines",
    "outcome status": "the exit status that its last lines record",
    FURTHER: "features that contribute less than 0.01 each",
    AGAINST_ALL: "makes the shares of all candidates, and of none of them, add up to 1",
    BAD_END: "the logarithm of its probability",
    NO_BAD_END: "the logarithm of its probability",
}
Told = TypeVar("Told", Candidate, Finding)


def moved(told: Told, probability: float, rule: str, source: str | None = None, line: int | None = None) -> Told:
    """`told` with `probability`, and the row of the rule that moves it there, on the line that shows it."""
    if probability == told.probability:
        return told
    change = log(max(probability, MIN_PROBABILITY) / max(told.probability, MIN_PROBABILITY))
    return replace(told, probability=probability, ledger=(*told.ledger, _row(rule, 1.0, change, source, line)))


def first_of(found: Sequence[Candidate]) -> int:
    """The place of the most probable one."""
    return max(range(len(found)), key=lambda n: found[n].probability, default=0)


def exchange(found: list[Candidate], i: int, j: int, rules: tuple[str, str], word: OwnedObservation) -> None:
    """Exchange the probabilities of the candidates `i` and `j`, each with its rule in the ledger."""
    last, rival = found[i], found[j]
    on = word.observation.source, word.observation.line
    found[i] = moved(replace(last, explained_by=None), rival.probability, rules[0], *on)
    found[j] = moved(rival, last.probability, rules[1], *on)


def rows_of(
    contributions: Sequence[tuple[str, float, float]], source: str | None = None, line: int | None = None
) -> tuple[Adjustment, ...]:
    """A row for each (name, value, contribution), greatest first, and one for all the small ones."""
    large = sorted((c for c in contributions if abs(c[2]) >= MIN_LOG_ODDS), key=lambda c: -abs(c[2]))
    rest = sum(c[2] for c in contributions if abs(c[2]) < MIN_LOG_ODDS)
    rows = [_row(name, value, part, source, line) for name, value, part in large]
    return (*rows, _row(FURTHER, 0.0, rest)) if round(rest, ROW_DIGITS) else tuple(rows)


def total(rows: Sequence[Adjustment]) -> float:
    """The sum of the rows."""
    return sum(r.log_odds for r in rows)


def probability_of(rows: Sequence[Adjustment]) -> float:
    """The probability whose log odds the rows add up to."""
    return 1 / (1 + exp(-total(rows)))


def with_rule(
    rows: tuple[Adjustment, ...], probability: float, rule: str, source: str | None = None, line: int | None = None
) -> tuple[Adjustment, ...]:
    """`rows`, of log odds, with the row of the rule that moves them to `probability`."""
    bounded = min(max(probability, MIN_PROBABILITY), 1 - MIN_PROBABILITY)
    return (*rows, _row(rule, 1.0, log(bounded / (1 - bounded)) - total(rows), source, line))


def _row(name: str, value: float, part: float, source: str | None = None, line: int | None = None) -> Adjustment:
    return Adjustment(name, round(value, 3), round(part, ROW_DIGITS), source, line)
