"""Words of a line: the lists by which readers tell what a name is about, those that models learn from, and where a message ends.

Lists of words, from signatures/readers/word_lists.yaml:

words("training_names")   ->   {"train", "training"}

The words of a line, for the models that learn from words: without numbers, addresses and paths, which differ in each log.

How far the message of a line goes on in the lines behind it.

ValueError: The feature names should match those that were passed during fit.   <- a whole sentence
Feature names unseen at fit time:                                               <- it announces the next lines
- area
- age
"""

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from forensics.core import lazy
from forensics.data_files.cached_data import load_data
from forensics.line_formats import parse_prefix
from forensics.model import Line

WORDS_FILE = "readers/word_lists.yaml"
WORD_OF_NAME_PATTERN = lazy.regex(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")  # of snake_case and camelCase


class WordList(Struct, frozen=True):
    """One list. `match`, `no_match`: names or sentences that have one of the words, and that have none. `line`: of its entry."""

    name: str
    words: tuple[str, ...]
    match: tuple[str, ...]
    no_match: tuple[str, ...]
    line: int


@functools.cache
def words(name: str) -> frozenset[str]:
    """The words of a list. Raises KeyError for an unknown list, DatabaseError for a fault in the file."""
    return _lists()[name]


@functools.cache
def _lists() -> dict[str, frozenset[str]]:
    return {one.name: frozenset(one.words) for one in load_data(WORDS_FILE, WordList, read_lists)}


def words_of_name(name: str) -> set[str]:
    """The words of a name in small letters: `trainOneBatch`, `train_one_batch` -> train, one, batch."""
    return set(map(str.lower, WORD_OF_NAME_PATTERN.findall(name)))


def read_lists(data: Any, path: Path) -> list[WordList]:
    """The lists of the document; raises BadFormError."""
    from forensics.data_files.form import LINE_KEY, entries, keys, text, texts

    keys(data, {"lists"}, {"lists"})
    made = []
    for entry in entries(data, "lists"):
        keys(entry, {"name", "means", "words", "examples"}, {"name", "means", "words", "examples"}, data[LINE_KEY])
        text(entry, "means")
        examples = entry["examples"]
        keys(examples, {"match", "no_match"}, {"match", "no_match"}, entry[LINE_KEY])
        told = text(entry, "name"), texts(entry, "words"), texts(examples, "match"), texts(examples, "no_match")
        made.append(WordList(*told, entry[LINE_KEY]))
    return made


WORD_NOISE_PATTERN = lazy.regex(r"0x[0-9a-fA-F]+|/[\w./+-]{3,}|\b[0-9a-f]{8,}\b|https?://\S+|\d+")
SMALL_WORD_PATTERN = lazy.regex(r"[a-z_]{3,30}")
ENDING_NOISE_PATTERN = lazy.regex(
    r"0x[0-9a-fA-F]+|/[\w./+-]{3,}|\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b|https?://\S+|\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d"
)
# What begins a line that a program printed, where no format of signatures/line_formats does: a level, fields, a clock.
PRINTED_PATTERN = lazy.regex(
    r"\W{0,4}(?:FATAL|CRITICAL|ERROR|WARN(?:ING)?|PANIC|EMERG|Error|[EWF])\b(?:[:\]/]|\s{2})|.{0,24}\b\d\d:\d\d:\d\d\b"
    r"|[*!#>=:]{2,4} ?\S|! \S|[IWEFDC]\d{4} |[^\w{]*\{\W*\"\w+\W{0,2}:|\w+=\S+ \w+=\S"
    r"|[\w./-]+(?:\[\d+\])?: (?:error|warning|fatal|\[\w+\])(?!\w)"
    r"|\W{0,4}(?:FATAL|CRITICAL|ERROR|WARN(?:ING)?|INFO|DEBUG) +"  # a level and the name of a logger
    r"(?=\w+[./-]|\w+_\w)\w+(?:[./-]\w+)*+[ :]"
    r"|[A-Za-z]\w*[._]\w[\w./]*(?:\[\d+\]|:\d+)?: \S"  # the name of a module, or a file and its line
)
ENDING_TOKEN_PATTERN = lazy.regex(r"[A-Za-z_]{2,30}|\d+(?:\.\d+)?|[✓✗✔✘×❌✅]|[#=>%!?]{1,3}")


def is_printed(text: str) -> bool:
    """Does a line have the form in which programs print, rather than that of a sentence of a person?"""
    return bool(parse_prefix(text).formats) or PRINTED_PATTERN.match(text) is not None


def plain_words(text: str) -> list[str]:
    """The words of three letters and more, in small letters."""
    return SMALL_WORD_PATTERN.findall(WORD_NOISE_PATTERN.sub(" ", text).lower())


def words_and_counts(text: str) -> list[str]:
    """The words, signs and numbers of a line; a number counts as 0, 1 or N: `2 errors` -> N, errors."""
    return [_normalised(t) for t in ENDING_TOKEN_PATTERN.findall(ENDING_NOISE_PATTERN.sub(" ", text))]


def _normalised(token: str) -> str:
    if not token[0].isdigit():
        return token.lower()
    return "0" if float(token) == 0 else "1" if token == "1" else "N"


SENTENCE_OVER_PATTERN = lazy.regex(r"[.!?\"'`)\]}>]\s*\Z")
# What PostgreSQL and its clients write below a message, with two blanks: each belongs to it, whole sentence or not.
DETAIL_PATTERN = lazy.regex(r"(?:[^\n]{0,120}[\s:])?(?:DETAIL|HINT|CONTEXT|QUERY|STATEMENT): {2}\S")
CONTINUATION_PATTERN = lazy.regex(r"\s*[-*\u2022] \S|\s+(?!File \"|at )\S|[a-z(](?![\w.-]*@)|\d+ (?:[!=<>]=|[-+*/x]) ?\d")


def continued_lines(line: Line, behind: Sequence[Line]) -> int:
    """How many of the lines `behind` it belong to the message of `line`."""
    count, last = 0, line
    for following in behind:
        if following.number != last.number + 1 or not continues(last.text, following.text):
            break
        count, last = count + 1, following
    return count


def continues(text: str, following: str) -> bool:
    """Does a message of several lines go on? Its line is no whole sentence, and the next one is no record, frame or sentence."""
    if DETAIL_PATTERN.match(following):
        return True
    open_end = text.rstrip().endswith((":", ",", "=", "(", "-")) or not SENTENCE_OVER_PATTERN.search(text)
    return open_end and CONTINUATION_PATTERN.match(following) is not None
