"""Faults of secrets.csv: each row must mask what its own notation describes, and nothing that differs from it by one character.

    openai-key,sk-<alnum 20-100>      masked: `sk-` and 20 letters or digits; not masked: 19 of them, or `!` among them

The examples are made of the notation, in the same way at each check.
"""

import csv
import itertools
import random
import re
from collections.abc import Iterator
from pathlib import Path

from forensics.report.redaction import secrets
from forensics.report.redaction.secrets import Form, Part, form_of, mask_text, parts_of

FORMS_PATH = Path(secrets.__file__).with_name("forms.csv")
EXAMPLES = 4  # of each row; a choice of plain texts is seldom longer
KIND_CHARS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
OUTSIDE = "!"  # in no alphabet of the notation


def letters_of(alphabet: str) -> str:
    """The characters of an alphabet, as a regular expression's class names them: `0-9a-f`."""
    pairs = re.findall(r"(.)-(.)|(.)", alphabet)
    return "".join("".join(map(chr, range(ord(a), ord(b) + 1))) if b else c for a, b, c in pairs)


def forms_text() -> str:
    """The text of secrets.csv."""
    return FORMS_PATH.read_text(encoding="utf-8")


def form_faults(text: str) -> list[tuple[int, str]]:
    """The number of a line of `text`, a table as secrets.csv, and what is wrong with it."""
    faults: list[tuple[int, str]] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(text.splitlines()[1:], 2):
        if not line or line.startswith("#"):
            continue
        row = next(csv.reader([line]))
        if len(row) != 2 or not KIND_CHARS.issuperset(row[0]):
            faults.append((number, f"no row of a kind and a shape: {line}"))
            continue
        kind, shape = row
        if seen.setdefault(shape, number) != number:
            faults.append((number, f"the shape of line {seen[shape]} again: {shape}"))
        try:
            parts = parts_of(shape)
        except (ValueError, KeyError) as error:
            faults.append((number, str(error) if isinstance(error, ValueError) else f"unknown alphabet {error} in {shape}"))
            continue
        faults += [(number, what) for what in _row_faults(form_of(kind, shape), shape, parts)]
    return faults


def _row_faults(form: Form, shape: str, parts: tuple[Part, ...]) -> Iterator[str]:
    rng = random.Random(shape)
    numbers = iter(lambda: rng.randrange(1 << 30), -1)
    for example in (example_of(shape, numbers) for _ in range(EXAMPLES)):
        found = form.pattern.search(f"x {example}")
        if found is None or found[0] != example:
            yield f"{shape} does not match its own example"
        elif example[len(example) // 2 :] in mask_text(f"it failed with {example} here"):
            yield f"a text of {shape} is not masked"
        else:
            continue
        return
    for what, near in _near_misses(parts, numbers):
        if form.pattern.search(f"x {near}"):
            yield f"{shape} matches a text {what}"


def _near_misses(parts: tuple[Part, ...], numbers: Iterator[int]) -> Iterator[tuple[str, str]]:
    """Texts that are no secrets of these parts, and what is wrong with them."""
    free = [n for n, part in enumerate(parts) if part.least]
    if not free:
        yield "of plain characters alone", ""
        return
    shortest = [_shortest(part, numbers) for part in parts]
    longest = max(free, key=lambda n: parts[n].least)
    short = [*shortest[:longest], shortest[longest][:-1], *_until_free(shortest, parts, longest)]
    yield "that is one character too short", "".join(short)
    middle = parts[longest].least // 2
    cut = shortest[longest][:middle] + OUTSIDE + shortest[longest][middle + 1 :]
    yield f"with {OUTSIDE} in it", "".join([*shortest[:longest], cut, *shortest[longest + 1 :]])


def _shortest(part: Part, numbers: Iterator[int]) -> str:
    if not part.alphabet:
        return min(part.choices, key=len)
    letters = letters_of(part.alphabet)
    return "".join(letters[next(numbers) % len(letters)] for _ in range(part.least))


def _until_free(texts: list[str], parts: tuple[Part, ...], at: int) -> list[str]:
    """The texts behind part `at` up to the next one of an alphabet, which could lend it a character."""
    return list(
        itertools.takewhile(bool, ("" if p.alphabet else t for t, p in zip(texts[at + 1 :], parts[at + 1 :], strict=True)))
    )


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
