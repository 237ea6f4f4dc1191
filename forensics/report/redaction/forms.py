"""Secrets that are recognised by their own form, in any place: `forms.csv` holds a kind and a shape in each row.

    github-token,gh(p|o|u|s|r)_<alnum 30-255>        a choice of plain texts, then 30 to 255 letters and digits

The facts (prefixes, alphabets, lengths) are those that issuers document, and that public scanners of secrets look for. No row
holds an example, because scanners of repositories would report it: `example_of()` makes one.
"""

import csv
import functools
import itertools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from forensics.core import lazy

ALPHABETS = {
    "digit": "0-9",
    "hex": "0-9a-f",
    "xdigit": "0-9a-fA-F",
    "upper": "A-Z0-9",
    "lower": "a-z0-9",
    "alnum": "A-Za-z0-9",
    "alnum%": "A-Za-z0-9%",
    "word": "A-Za-z0-9_-",
    "word=": "A-Za-z0-9_=-",
    "dotted": "A-Za-z0-9_.-",
    "dotted=": "A-Za-z0-9_.=-",
    "dotted~": "A-Za-z0-9_.~-",
    "b64": "A-Za-z0-9+/=",
    "b64_": "A-Za-z0-9+/=_-",
}
PART = lazy.regex(r"<(?P<alphabet>[\w%=~]+) (?P<least>\d+)(?:-(?P<most>\d+))?>|\((?P<choice>[^)]*)\)|(?P<plain>[^<(]+)")
KEY_CHARS = 3  # of a prefix: as many are looked up at each start of a word
STARTS = lazy.regex(rf"(?<![a-z0-9])(?=([a-z0-9].{{{KEY_CHARS - 1}}}))")
LONG_RUN = lazy.regex(r"[a-z0-9_.~-]{20}")  # each form without a prefix has one
DISTINCTIVE_CHARS = 4  # a longer prefix may stand behind a letter: `x_ghp_...`
FREE = r"(?<![A-Za-z0-9])"
FREE_WORD = r"(?<![A-Za-z0-9_-])"


class Part(NamedTuple):
    """A part of a shape: one of several plain texts, or `least` to `most` characters of an alphabet."""

    choices: tuple[str, ...]
    alphabet: str = ""
    least: int = 0
    most: int = 0


class Form(Struct, frozen=True):
    """`kind`: the word in the mask. `anchors`: lower-case texts of which one must occur. `pattern`: all of it is masked.
    `starts`: does each secret of this form begin with an anchor?"""

    kind: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    starts: bool


def parts_of(shape: str) -> tuple[Part, ...]:
    """The parts of a shape; raises ValueError for a text that is none."""
    found, at = [], 0
    for match in PART.finditer(shape):
        if match.start() != at:
            break
        at = match.end()
        if match["alphabet"]:
            least = int(match["least"])
            found.append(Part((), ALPHABETS[match["alphabet"]], least, int(match["most"] or least)))
        else:
            found.append(
                Part(tuple((match["choice"] or match["plain"] or "").split("|")) if match["choice"] else (match["plain"],))
            )
    if at != len(shape) or any("<" in text for part in found for text in part.choices):
        raise ValueError(f"no shape of a secret: {shape!r}")
    return tuple(found)


def form_of(kind: str, shape: str) -> Form:
    """The form that `shape` describes."""
    parts = parts_of(shape)
    head = _plain(itertools.takewhile(lambda p: not p.alphabet, parts))
    starts = all(len(text) >= KEY_CHARS and text[:1].isalnum() for text in head)
    anchors = head if starts else max(_runs(parts), key=lambda texts: min(map(len, texts)))
    before = FREE if min(map(len, head)) >= DISTINCTIVE_CHARS else FREE_WORD
    after = (
        f"(?![{ALPHABETS['alnum']}])" if parts[-1].alphabet and before == FREE_WORD and parts[-1].least == parts[-1].most else ""
    )
    pattern = before + "".join(map(_pattern, parts)) + after
    return Form(kind, tuple(sorted({a.lower() for a in anchors})), lazy.regex(pattern), starts)


def _plain(parts: Iterable[Part]) -> list[str]:
    """The texts that these parts without an alphabet can form together."""
    return ["".join(texts) for texts in itertools.product(*(p.choices for p in parts))]


def _runs(parts: tuple[Part, ...]) -> Iterator[list[str]]:
    """For each stretch of plain parts, the texts that it can be."""
    for plain, run in itertools.groupby(parts, key=lambda p: not p.alphabet):
        if plain:
            yield _plain(run)


def _pattern(part: Part) -> str:
    if part.alphabet:
        return f"[{part.alphabet}]{{{part.least},{part.most}}}"
    return f"(?:{'|'.join(map(re.escape, part.choices))})" if len(part.choices) > 1 else re.escape(part.choices[0])


@functools.cache
def rows() -> tuple[tuple[str, str], ...]:
    """Kind and shape of every form, in order of the file."""
    lines = Path(__file__).with_name("forms.csv").read_text(encoding="utf-8").splitlines()
    return tuple((row[0], row[1]) for row in csv.reader(lines[1:]) if row and not row[0].startswith("#"))


@functools.cache
def secret_forms() -> tuple[Form, ...]:
    """All forms, in order of the file."""
    return tuple(form_of(kind, shape) for kind, shape in rows())


@functools.cache
def _by_anchor() -> tuple[dict[str, tuple[Form, ...]], tuple[Form, ...]]:
    """The forms by the first characters of their prefixes, and those without a prefix."""
    by_start: dict[str, tuple[Form, ...]] = {}
    for form in secret_forms():
        for key in {anchor[:KEY_CHARS] for anchor in form.anchors if form.starts}:
            by_start[key] = (*by_start.get(key, ()), form)
    return by_start, tuple(f for f in secret_forms() if not f.starts)


def forms_in(low: str) -> list[Form]:
    """The forms of which an anchor occurs in the lower-case text `low`."""
    by_start, others = _by_anchor()
    likely = {id(f): f for key in by_start.keys() & set(STARTS.findall(low)) for f in by_start[key]}
    free = others if LONG_RUN.search(low) else ()
    return [f for f in (*likely.values(), *free) if any(a in low for a in f.anchors)]


def example_of(shape: str, numbers: Iterator[int]) -> str:
    """A text of this shape. `numbers`: random numbers from 0 on, one for each character and choice."""
    text = ""
    for part in parts_of(shape):
        if part.alphabet:
            letters = letters_of(part.alphabet)
            text += "".join(letters[next(numbers) % len(letters)] for _ in range(max(part.least, min(part.most, 24))))
        else:
            text += part.choices[next(numbers) % len(part.choices)]
    return text


def letters_of(alphabet: str) -> str:
    """The characters of an alphabet, as a regular expression's class names them: `0-9a-f`."""
    pairs = re.findall(r"(.)-(.)|(.)", alphabet)
    return "".join("".join(map(chr, range(ord(a), ord(b) + 1))) if b else c for a, b, c in pairs)
