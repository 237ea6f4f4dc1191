"""Lists of words by which readers tell what a name or a sentence is about: signatures/readers/word_lists.yaml.

words("training_names")   ->   {"train", "training"}
"""

import functools
from pathlib import Path
from typing import Any

from msgspec import Struct

from forensics.core import lazy
from forensics.data_files.cached_data import load_data

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
