r"""Phrases that mark classes of lines, whatever their cause: the patterns in signatures/phrases/<class>.yaml.

goes_on.yaml    "corrupt image 17.jpg, skipping"  ->  the line belongs to the class goes_on

A phrase has an id, a pattern, a source and examples, as a signature, and is checked in the same way. It names no cause.

A line to the classes of phrases that it may belong to: one pass of Hyperscan over it instead of a search for each class.

"Epoch 3/10 loss 0.41"  ->  progress, and no other; whether it is progress is for the pattern of that class to say

Hyperscan reports more than a pattern finds where it cannot tell (a look behind, a look ahead), and never less: these lines may
belong to the class, the others surely do. It reads bytes, and Python's `\s` and `\w` know more letters than those: a line that
is not plain ASCII may belong to all classes.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import hyperscan
import yaml
from msgspec import Struct

from forensics.core import lazy
from forensics.data_files.form import LINE_KEY, BadFormError, Fault, entries, keys, parse, text, texts
from forensics.database.files import PHRASES

LOOKS_AROUND = ("(?=", "(?!", "(?<=", "(?<!")
EVERY_CLASS = -1, 0  # each bit of the first is set, none of the second
SURE_CLASS_OFFSET = 1 << 8  # what Hyperscan finds by itself is reported as the place of the class and this
READ_OTHERWISE = ("{,", "(?x", "(?a", "(?L")  # what Hyperscan would take for something else
ANYTHING = "^"  # stands for a pattern that Hyperscan refuses
SEPARATORS_PATTERN = lazy.regex(r"[\x1c-\x1f]")  # blanks of Python's own


def compile_phrases(phrases: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]) -> Any:
    """A Hyperscan database that reports classes of `phrases` by their place, see SURE_CLASS_OFFSET; None for no phrases.

    It takes a second of processor, so the database's cache keeps it.
    """
    given = [
        (i, ANYTHING if any(other in pattern for other in READ_OTHERWISE) else pattern)
        for i, (_, patterns) in enumerate(phrases.values())
        for pattern in patterns
    ]
    if not given:
        return None
    try:
        return _compiled(given)
    except hyperscan.HyperscanError:
        return _compiled([(i, pattern if _is_accepted(pattern) else ANYTHING) for i, pattern in given])


def _compiled(given: Sequence[tuple[int, str]]) -> Any:
    matcher = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    matcher.compile(
        expressions=[p.encode() for _, p in given],
        ids=[i + SURE_CLASS_OFFSET * _is_found(p) for i, p in given],
        flags=[_flags(p) for _, p in given],
    )
    return matcher


def _is_found(pattern: str) -> bool:
    """Does Hyperscan find just what Python's search finds?"""
    return pattern != ANYTHING and not any(look in pattern for look in LOOKS_AROUND)


def _flags(pattern: str) -> int:
    if pattern == ANYTHING:
        return int(hyperscan.HS_FLAG_ALLOWEMPTY | hyperscan.HS_FLAG_SINGLEMATCH)
    return int(hyperscan.HS_FLAG_SINGLEMATCH | (0 if _is_found(pattern) else hyperscan.HS_FLAG_PREFILTER))


def _is_accepted(pattern: str) -> bool:
    try:
        _compiled([(0, pattern)])
    except hyperscan.HyperscanError:
        return False
    return True


def phrase_filter(matcher: Any) -> Callable[[str], tuple[int, int]]:
    """A function that gives the classes to which a text may belong, and those to which it does, bit i for class i; `matcher`: of
    compile_phrases."""
    local = threading.local()

    def append_place(place: int, _start: int, _end: int, _flags: int, places: Any) -> None:
        places.append(place)

    def possible(text: str) -> tuple[int, int]:
        if matcher is None or not text.isascii() or (not text.isprintable() and SEPARATORS_PATTERN.search(text)):
            return EVERY_CLASS
        scratch = getattr(local, "scratch", None)  # Hyperscan's working space; each thread needs its own
        if scratch is None:
            scratch = local.scratch = hyperscan.Scratch(matcher)
        places: list[int] = []
        matcher.scan(text.encode(), append_place, 0, places, scratch)  # by position, since names take twice as long
        may_be = is_one = 0
        for i in places:
            if i >= SURE_CLASS_OFFSET:
                is_one |= 1 << (i - SURE_CLASS_OFFSET)
            else:
                may_be |= 1 << i
        return may_be | is_one, is_one

    return possible


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
