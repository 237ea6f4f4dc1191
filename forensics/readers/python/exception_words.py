"""The likely cause of an exception, from the words of its message, for messages that no signature knows.

    ValueError: The hidden sizes of encoder and decoder must match   ->  code.shape: "match", "of", "sizes", "and"
    RuntimeError: the scheduler lost its state                       ->  code.exception: nothing more than an exception

Libraries have thousands of messages, and signatures know only some of them; but most messages share their words. The model is a
logistic regression, fitted to some thousand messages of libraries and daemons (signatures/tables/exception_messages.csv). Its
weights are in signatures/tables/exception_words.csv; scripts/exception_words.py fits them again. The words are used only where no
signature matches, and only for causes that an exception of a program's own can mean.
"""

import functools
import math
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from forensics.core import lazy
from forensics.data_files.named_parts import patterns_of
from forensics.database import Database, builtin_folder
from forensics.line_formats import unlabelled
from forensics.model import Observation
from forensics.readers.python.traceback import OWN_SENTENCE

KIND = "exception_words"
OF_OTHER_LANGUAGES = "uncaught"  # R and Java word them differently: `contrasts can be applied only to` is no setting
LEAST_READING_PROBABILITY = 0.4  # below this, the likeliest of the nine causes is wrong more often than right
LEAST_WORDS_PROBABILITY = 0.5  # chosen by hand: of words without the class, more likely than all other causes together
SURE_READING_PROBABILITY = 0.8  # from here on 88 of 100 are right: the words then prove as much as the exception itself
LEAST_WORDS_KNOWN = 2  # chosen by hand: one word alone says too little
MAX_EXCEPTION_CHARS = 300  # chosen by hand: after so much text, a message usually lists values
TELLING_WORDS_SHOWN = 4  # chosen by hand, for reading
INTERCEPT = "(always)"
# Python's own exception classes that say by themselves what is wrong; the names in their messages are not evidence.
MISTAKES_OF_CODE = {
    "AttributeError", "IndentationError", "KeyError", "NameError", "RecursionError", "StopIteration", "SyntaxError",
    "UnboundLocalError", "ZeroDivisionError",
}  # fmt: skip
MESSAGE_WORD_PATTERN = lazy.regex(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|(?<!\d)\d+[dD]\b|[=<>!]=?|--")
STEM_SUFFIX_PATTERN = lazy.regex(r"(?<=[a-z]{3})(?:ing|ed|es|s)$")
PATTERNS = patterns_of("exception words")


class Reading(Struct, frozen=True):
    """A cause, its probability among all causes that an exception can mean, and the words that count most for it."""

    cause: str
    probability: float
    words: tuple[str, ...]


def tells_of_lost_numbers(message: str) -> bool:
    """Is the message of an exception about numbers that are NaN or infinite?"""
    return PATTERNS.lost_numbers.search(message) is not None


def tells_of_failed_tries(exception: str, message: str) -> bool:
    """Does an exception only tell that each of several tries failed?"""
    return PATTERNS.tries.search(f"{exception}: {message}") is not None


def read_exceptions(events: Sequence[Observation], database: Database) -> list[Observation]:
    """`events`; after each exception, an event for the cause that its words name, if its message names another cause well enough.
    An exception is skipped if a signature already names another cause on its lines, or on a line with the same words."""
    told = [e for e in events if e.cause is not None and not _is_exception(e, database)]
    named = {line for e in told for line in _lines(e)}
    said = {unlabelled(proof.text) for e in told if e.count > 1 for proof in e.proofs}
    found: list[Observation] = []
    for event in events:
        found.append(event)
        if not _is_exception(event, database) or not named.isdisjoint(_lines(event)):
            continue
        if event.proofs and unlabelled(event.proofs[0].text) in said:
            continue
        if event.kind == OF_OTHER_LANGUAGES:
            continue
        exception, message = str(event.fields.get("exc_type", "")), str(event.fields.get("exc_message", ""))
        reading = read_message(exception, message, OWN_SENTENCE in event.fields)
        if reading and reading.cause != event.cause and reading.probability >= LEAST_READING_PROBABILITY:
            found.append(_observation(event, reading))
    return found


def is_half_sure(event: Observation) -> bool:
    """Is the event what words suggest without proving it?"""
    return event.kind == KIND and event.fields.get("words_probability", 1.0) < SURE_READING_PROBABILITY  # type: ignore[operator]


def read_message(exception: str, message: str, of_program: bool = False) -> Reading | None:
    """The cause that the words of a message name; None if too few words are known, or if the exception's class says enough.

    `of_program`: the program itself raises it. What its class mostly means was learned of libraries, so its words must tell
    the cause without that.
    """
    causes, weights = _weights()
    known = {stem: word for stem, word in stems_of(exception, message).items() if stem in weights}
    if exception.rpartition(".")[2] in MISTAKES_OF_CODE or sum(map(bool, known.values())) < LEAST_WORDS_KNOWN:
        return None
    cause, probability = likeliest(known, causes, weights)
    if of_program:
        by_words, share = likeliest((stem for stem, word in known.items() if word), causes, weights)
        if by_words != cause or share < LEAST_WORDS_PROBABILITY:
            return None
    column = causes.index(cause)
    telling = sorted(
        (stem for stem, word in known.items() if word and weights[stem][column] > 0), key=lambda s: -weights[s][column]
    )
    return Reading(cause, probability, tuple(known[stem] for stem in telling[:TELLING_WORDS_SHOWN]))


def stems_of(exception: str, message: str) -> dict[str, str]:
    """The stems of a message's words, each with the word as written. The first is the class, `class:ValueError`, with no word."""
    found = {f"class:{exception.rpartition('.')[2]}": ""}
    for word in MESSAGE_WORD_PATTERN.findall(message[:MAX_EXCEPTION_CHARS]):
        if len(word) > 1 or not word.isalpha():
            found.setdefault(STEM_SUFFIX_PATTERN.sub("", word.lower()), word)
    return found


def likeliest(stems: Iterable[str], causes: Sequence[str], weights: Mapping[str, Sequence[float]]) -> tuple[str, float]:
    """The most probable cause for these stems, and its probability. `weights`: for each stem, a number for each cause."""
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
    """The numbers of the lines that the event quotes; for a traceback, its last line and the program's own frame."""
    return {proof.line for proof in event.proofs} or {event.line}


class _Weights(dict[str, tuple[float, ...]]):
    """The weights of stems, each read from its line when it is first asked for: a message has some ten of 2,200 stems."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = {line.partition(",")[0]: line for line in lines}

    def __contains__(self, stem: object) -> bool:
        return stem in self.lines

    def __missing__(self, stem: str) -> tuple[float, ...]:
        self[stem] = tuple(map(float, self.lines[stem].split(",")[1:]))
        return self[stem]


@functools.cache
def _weights() -> tuple[Sequence[str], Mapping[str, tuple[float, ...]]]:
    """The causes, and for each stem a weight for each cause. Weights are log odds: those of all stems are added up."""
    table = builtin_folder() / "tables" / "exception_words.csv"
    head, *lines = table.read_text(encoding="utf-8").splitlines()
    return head.split(",")[1:], _Weights(lines)
