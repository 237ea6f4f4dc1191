"""The words of an exception's message to the cause that they name, for messages that no signature knows.

    ValueError: The hidden sizes of encoder and decoder must match   ->  code.shape: "match", "of", "sizes", "and"
    RuntimeError: the scheduler lost its state                       ->  code.exception: nothing more than an exception

Libraries word thousands of messages, and a signature knows a few of them. What most share are their words. They were learned from
some thousand messages of libraries and daemons (signatures/tables/exception_messages.csv) as a logistic regression; its weights
stand in signatures/tables/exception_words.csv, and scripts/exception_words.py learns them anew. The words speak only where no
signature does, and only for causes that an exception of a program's own can mean.
"""

import csv
import functools
import math
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from forensics.core import lazy
from forensics.database import Database, builtin_folder
from forensics.model import Observation

KIND = "exception_words"
LEAST_READING_PROBABILITY = 0.4  # below it the likeliest of the nine causes is wrong more often than right
SURE_READING_PROBABILITY = 0.8  # from here on 88 of 100 are right: the words then prove as much as the exception itself
LEAST_WORDS_KNOWN = 2  # chosen by hand: one word alone says too little
MAX_EXCEPTION_CHARS = 300  # chosen by hand: what follows is a dump of values
TELLING_WORDS_SHOWN = 4  # chosen by hand, for reading
INTERCEPT = "(always)"
# Python's own classes that say what is wrong, whatever the names in their messages mean.
MISTAKES_OF_CODE = {
    "AttributeError", "IndentationError", "KeyError", "NameError", "RecursionError", "StopIteration", "SyntaxError",
    "UnboundLocalError", "ZeroDivisionError",
}  # fmt: skip
MESSAGE_WORD_PATTERN = lazy.regex(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+[dD]\b|[=<>!]=?|--")
STEM_SUFFIX_PATTERN = lazy.regex(r"(?<=[a-z]{3})(?:ing|ed|es|s)$")


class Reading(Struct, frozen=True):
    """The cause that words name, how probable it is among all that an exception can mean, and the words that said most for it."""

    cause: str
    probability: float
    words: tuple[str, ...]


def read_exceptions(events: Sequence[Observation], database: Database) -> list[Observation]:
    """`events`, and behind each exception on whose lines no signature speaks for another cause what its words name."""
    named = {line for e in events if e.cause is not None and not _is_exception(e, database) for line in _lines(e)}
    found: list[Observation] = []
    for event in events:
        found.append(event)
        if not _is_exception(event, database) or not named.isdisjoint(_lines(event)):
            continue
        reading = read_message(str(event.fields.get("exc_type", "")), str(event.fields.get("exc_message", "")))
        if reading and reading.cause != event.cause and reading.probability >= LEAST_READING_PROBABILITY:
            found.append(_observation(event, reading))
    return found


def read_message(exception: str, message: str) -> Reading | None:
    """What the words of a message name; None where too few of them are known, or the class of the exception says it all."""
    causes, weights = _weights()
    known = {stem: word for stem, word in stems_of(exception, message).items() if stem in weights}
    if exception.rpartition(".")[2] in MISTAKES_OF_CODE or sum(map(bool, known.values())) < LEAST_WORDS_KNOWN:
        return None
    cause, probability = likeliest(known, causes, weights)
    column = causes.index(cause)
    telling = sorted(
        (stem for stem, word in known.items() if word and weights[stem][column] > 0), key=lambda s: -weights[s][column]
    )
    return Reading(cause, probability, tuple(known[stem] for stem in telling[:TELLING_WORDS_SHOWN]))


def stems_of(exception: str, message: str) -> dict[str, str]:
    """The stems of a message's words, each with the word as it stands there; first `class:ValueError`, with no word."""
    found = {f"class:{exception.rpartition('.')[2]}": ""}
    for word in MESSAGE_WORD_PATTERN.findall(message[:MAX_EXCEPTION_CHARS]):
        if len(word) > 1 or not word.isalpha():
            found.setdefault(STEM_SUFFIX_PATTERN.sub("", word.lower()), word)
    return found


def likeliest(stems: Iterable[str], causes: Sequence[str], weights: Mapping[str, Sequence[float]]) -> tuple[str, float]:
    """The cause that the stems speak for most, and its probability. `weights`: stem to a number for each cause."""
    rows = [weights[INTERCEPT], *(weights[stem] for stem in stems if stem in weights)]
    scores = [sum(column) for column in zip(*rows, strict=True)]
    best = max(range(len(causes)), key=scores.__getitem__)
    return causes[best], 1.0 / sum(math.exp(s - scores[best]) for s in scores)


def _observation(event: Observation, reading: Reading) -> Observation:
    weight = event.weight if reading.probability >= SURE_READING_PROBABILITY else "hint"
    return replace(
        event,
        kind=KIND,
        cause=reading.cause,
        weight=weight,
        proofs=tuple(replace(proof, signature=KIND, weight=weight) for proof in event.proofs),
        fields={**event.fields, "telling_words": ", ".join(reading.words), "words_probability": round(reading.probability, 2)},
        ends=event.ends or "process",
        reads_another=True,
    )


def _is_exception(event: Observation, database: Database) -> bool:
    cause = database.causes.get(event.cause or "")
    return cause is not None and "exception" in cause.traits


def _lines(event: Observation) -> set[int]:
    """The lines that it quotes: of a traceback the last one and the program's own frame."""
    return {proof.line for proof in event.proofs} or {event.line}


@functools.cache
def _weights() -> tuple[Sequence[str], Mapping[str, tuple[float, ...]]]:
    """The causes, and for each stem a number for each cause: log odds, to be added up."""
    with (builtin_folder() / "tables" / "exception_words.csv").open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    return head[1:], {row[0]: tuple(map(float, row[1:])) for row in rows}
