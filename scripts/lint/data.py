"""Faults of data that readers use: line formats, signs of an environment, lists of words, rows of patterns.

signatures/line_formats/kiln.yaml:7: kiln: does not match its sample '<WARNING 2026/11/21 ...'
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from forensics.data_files import cached_data
from forensics.data_files.cached_data import parsed_data
from forensics.data_files.form import Fault
from forensics.data_files.named_parts import PARTS_FILE, PartRow, read_part_rows
from forensics.line_formats.base import LineFormat, shape
from forensics.line_formats.read_formats import FORMATS_FOLDER, read_formats
from forensics.readers.settings.environment_signs import SIGNS_FILE, ContextSign, read_signs
from forensics.readers.words import WORDS_FILE, WordList, read_lists, words_of_name

T = TypeVar("T")
GROUPS = {
    *("y", "mo", "mon", "d", "h", "m", "s", "frac", "ampm", "zone", "unix", "mono", "delta"),
    *("host", "program", "pid", "rank", "level", "inside", "pri", "short"),
}  # of a line format


def data_faults() -> list[Fault]:
    """All of them."""
    return [*format_faults(), *sign_faults(), *word_faults(), *part_faults()]


def format_faults() -> list[Fault]:
    """Every fault of the formats: of form, of names, of samples that another format reads first."""
    formats, faults = parsed_data(cached_data.data_files(FORMATS_FOLDER), read_formats)
    formats.sort(key=lambda form: form.rank)
    found = ((form, what) for form in formats for what in _wrong_format(form, formats))
    return faults + [Fault(form.path, form.line, f"{form.name}: {what}") for form, what in found]


def _wrong_format(form: LineFormat, formats: Sequence[LineFormat]) -> Iterator[str]:
    if unknown := form.compiled.groupindex.keys() - GROUPS:
        yield f"unknown group {', '.join(sorted(unknown))}; known are {', '.join(sorted(GROUPS))}"
    if any(other.name == form.name for other in formats if other is not form):
        yield "another format has this name"
    for sample in form.samples:
        if form.parse(sample) is None:
            yield f"does not match its sample {sample!r}"
        if not form.starts(shape(sample)):
            yield f"first={form.first!r} does not fit {shape(sample)!r}, all that it sees of {sample!r}"
        before = [o.name for o in formats if o.rank <= form.rank and o is not form and o.parse(sample)]
        if before:
            yield f"{', '.join(before)} reads {sample!r}, too; the one that says more of a line needs a smaller rank"


def _faults(place: str, read: Callable[[Any, Path], list[T]], wrong: Callable[[T], Iterable[str]]) -> list[Fault]:
    """Every fault of signatures/<place>: of form, and what `wrong` says of a value, at its line."""
    found: list[Fault] = []
    for path in cached_data.data_files(place):
        made, faults = parsed_data([path], read)
        found += faults + [Fault(str(path), one.line, what) for one in made for what in wrong(one)]  # type: ignore[attr-defined]
    return found


def sign_faults() -> list[Fault]:
    """Every fault of the signs: of form, and examples that a sign does not fit."""
    return _faults(SIGNS_FILE, read_signs, _wrong_sign)


def _wrong_sign(sign: ContextSign) -> Iterator[str]:
    named = f"{sign.fact} {sign.value}: "
    yield from (f"{named}its example {text!r} does not show it" for text in sign.match if not sign.shown_by(text))
    yield from (f"{named}{text!r} shows it, and must not" for text in sign.no_match if sign.shown_by(text))


def word_faults() -> list[Fault]:
    """Every fault of the lists: of form, words written twice, examples that do not fit."""
    return _faults(WORDS_FILE, read_lists, _wrong_list)


def _wrong_list(one: WordList) -> Iterator[str]:
    if len(set(one.words)) < len(one.words):
        yield f"{one.name}: a word is written twice"
    yield from (f"{one.name}: its example {text!r} has none of its words" for text in one.match if not _has(one, text))
    yield from (f"{one.name}: {text!r} has one of its words, and must not" for text in one.no_match if _has(one, text))


def _has(one: WordList, text: str) -> bool:
    return bool(words_of_name(text) & set(one.words)) or any(re.match(rf"{re.escape(w)}\b", text) for w in one.words)


def part_faults() -> list[Fault]:
    """Every fault of the patterns: of form, and examples that a row does not fit."""
    return _faults(PARTS_FILE, read_part_rows, _wrong_row)


def _wrong_row(row: PartRow) -> Iterator[str]:
    yield from (f"{row.group}: its example {text!r} is not fitted" for text in row.match if not row.regex.search(text))
    yield from (f"{row.group}: {text!r} is fitted, and must not be" for text in row.no_match if row.regex.search(text))
