"""Phrases that mark classes of lines, whatever their cause: the patterns in signatures/phrases/<class>.yaml.

goes_on.yaml    "corrupt image 17.jpg, skipping"  ->  the line belongs to the class goes_on

A phrase has an id, a pattern, a source and examples, as a signature, and is checked in the same way. It names no cause.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct

from forensics.data_files.form import LINE_KEY, BadFormError, Fault, entries, keys, parse, text, texts
from forensics.database.files import PHRASES

FILE_KEYS = {"class", "means", "words", "phrases"}
PHRASE_KEYS = {"id", "pattern", "source", "examples"}
MAX_PATTERN_CHARS = 4000  # chosen by hand: a longer pattern is several


class Phrase(Struct, frozen=True):
    """One wording of a class. `words`: of the class; every line of it has one of them, in any case; empty for any line.

    `path`, `line`: of the entry.
    """

    name: str
    pattern: str
    match: tuple[str, ...]
    no_match: tuple[str, ...]
    words: tuple[str, ...] = ()
    path: str = ""
    line: int = 0


def read_phrases(folder: Path) -> tuple[dict[str, list[Phrase]], list[Fault]]:
    """Class -> its phrases, from all files in `folder`/phrases; and every fault of their form or their examples."""
    found: dict[str, list[Phrase]] = {}
    faults: list[Fault] = []
    for path in sorted((folder / PHRASES).glob("*.yaml")):
        try:
            found[path.stem] = _phrases(parse(path.read_text(encoding="utf-8")), path)
        except BadFormError as bad:
            faults.append(Fault(str(path), bad.line, bad.what))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            faults.append(Fault(str(path), 1, f"cannot be read: {error}"))
    faults += [fault for phrases in found.values() for p in phrases for fault in _unproven(p)]
    return found, faults


def _phrases(data: Any, path: Path) -> list[Phrase]:
    keys(data, FILE_KEYS, FILE_KEYS - {"words"})
    if data["class"] != path.stem:
        raise BadFormError(data[LINE_KEY], f"class is {data['class']!r} but the file is named {path.stem!r}")
    words = texts(data, "words")
    made: list[Phrase] = []
    for entry in entries(data, "phrases"):
        keys(entry, PHRASE_KEYS, PHRASE_KEYS, data[LINE_KEY])
        examples = entry["examples"]
        keys(examples, {"match", "no_match"}, {"match", "no_match"}, entry[LINE_KEY])
        yes, no = texts(examples, "match"), texts(examples, "no_match")
        made.append(
            Phrase(text(entry, "id"), text(entry, "pattern", MAX_PATTERN_CHARS), yes, no, words, str(path), entry[LINE_KEY])
        )
    return made


def _unproven(phrase: Phrase) -> list[Fault]:
    import regex

    try:
        pattern = regex.compile(phrase.pattern)
    except regex.error as error:
        return [Fault(phrase.path, phrase.line, f"{phrase.name}: not a valid pattern: {error}")]
    wrong = [
        f"{phrase.name}: none of the words of its class stands in {t!r}"
        for t in phrase.match
        if phrase.words and not any(w in t.lower() for w in phrase.words)
    ]
    wrong += [f"{phrase.name} does not match its example {t!r}" for t in phrase.match if not pattern.search(t)]
    wrong += [f"{phrase.name} matches {t!r}, which it must not" for t in phrase.no_match if pattern.search(t)]
    return [Fault(phrase.path, phrase.line, what) for what in wrong]


def combine_phrases(found: Mapping[str, list[Phrase]]) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Class -> its words and its patterns, which can be joined by `|`.

    A flag at the beginning of a phrase (`(?i)`) applies only to that phrase.
    """
    return {
        name: (tuple(dict.fromkeys(w for p in phrases for w in p.words)), tuple(_scoped(p.pattern) for p in phrases))
        for name, phrases in found.items()
    }


def _scoped(pattern: str) -> str:
    return f"(?i:{pattern[4:]})" if pattern.startswith("(?i)") else f"(?:{pattern})"
