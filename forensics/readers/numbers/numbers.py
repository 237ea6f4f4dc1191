"""The numbers in a line, each with the label before it and the unit after it.

Epoch 3  loss: 0.25, rss 1.5 GB -> (3, "Epoch"), (0.25, "loss:"), (1.5, "rss", "GB")
"""

import functools
import itertools
import math
import re
from collections.abc import Iterator, Sequence

from msgspec import DecodeError, Struct
from msgspec.json import Decoder

from forensics.core import lazy
from forensics.data_files.named_parts import patterns_of

MAX_LINE_NUMBERS = 60  # of one line; further ones are ignored
MAX_LABEL_CHARS = 48  # of a label, from its end
MIN_COLUMN_NUMBERS = 8  # measured: of fewer numbers, float() of each is as fast as the reading of a column

PATTERNS = patterns_of("numbers")
decode_numbers = Decoder(list[float]).decode
RATE_LABELS = ("throughput", "speed", "rate")  # what is behind one of them is a rate
CALL_PATTERN = lazy.regex(r"\b(?:tensor|array|float|np\.float(?:16|32|64)|tf\.Tensor)\(")
LABEL_END_PATTERN = lazy.regex(r"[,;|{}\t\r]|\s-\s")


class Token(Struct, frozen=True):
    """A number of a line: text[at]. `label`: the text before it, back to the previous number: text[labelled]."""

    label: str
    unit: str
    at: slice
    labelled: slice


def tokens(text: str) -> Iterator[Token]:
    """The numbers of a line that have a label or a unit, in order; NaN and infinity are numbers."""
    text = CALL_PATTERN.sub(lambda call: " " * len(call[0]), text) if "(" in text else text
    past = 0
    for found in itertools.islice(PATTERNS.number_token.finditer(text), MAX_LINE_NUMBERS):
        at = slice(*found.span("number" if found["number"] else "odd"))
        label, unit = _label(text[max(past, at.start - MAX_LABEL_CHARS) : at.start]), found["unit"]
        named_next = bool(unit) and _names_next(text, found.end(), label, unit)
        unit = None if named_next else unit  # `loss 3.38 tokens/s 41000`: the words behind it are the label of what follows
        if label or unit:
            start = text.rfind(label, past, at.start)
            yield Token(label, unit.strip() if unit else "", at, slice(start, start + len(label)))
        past = at.stop if named_next else found.end()


def _names_next(text: str, end: int, label: str, unit: str) -> bool:
    """Is the `unit` up to `end`, a rate behind a number that has its own label, the label of a bare number behind it?"""
    is_rate = unit[0] == " " and "/" in unit and bool(label) and not label.lower().rstrip(" :=").endswith(RATE_LABELS)
    return is_rate and PATTERNS.bare_number.match(text, end) is not None


def number(text: str) -> float:
    """`1,234.5` -> 1234.5, `-Infinity` -> -inf; NaN for text that is not a number."""
    try:
        return float(text.replace(",", "") if "," in text else text)
    except ValueError:
        return math.nan


def columns(texts: Sequence[str], places: Sequence[slice]) -> list[list[float]]:
    """number() of what stands at each of `places` in `texts`, which differ only in digits: a column for each place.

    A JSON reader parses the numbers of a column at once, in a sixth of the time that float() of each takes.
    """
    joined, stride = "\n".join(texts), len(texts[0]) + 1
    if len(texts) < MIN_COLUMN_NUMBERS or not joined.isascii():
        return [_column([text[at] for text in texts]) for at in places]
    data, found = joined.encode("ascii"), []
    for at in places:
        width = at.stop - at.start
        array = bytearray(b",") * (len(texts) * (width + 1) + 1)
        for i in range(width):
            array[1 + i :: width + 1] = data[at.start + i :: stride]
        array[0], array[-1] = b"[]"
        try:
            numbers = decode_numbers(array)
        except DecodeError:  # `.5`, `+5`, `nan`
            numbers = []
        # `1,234` is two numbers for JSON.
        found.append(numbers if len(numbers) == len(texts) else _column([text[at] for text in texts]))
    return found


def _column(texts: Sequence[str]) -> list[float]:
    """number() of each of `texts`, read together."""
    try:
        return [*map(float, texts)]
    except ValueError:
        return [*map(number, texts)]


@functools.lru_cache(maxsize=8192)
def _label(front: str) -> str:
    """The label in the text before a number: the part after its last comma, bar or tab; empty if it has no letter."""
    if not any(c.isalpha() for c in front):
        return ""
    cuts = [m.end() for m in LABEL_END_PATTERN.finditer(front) if front[m.end() :].strip(" \"':=|")]
    return front[cuts[-1] :].strip() if cuts else front.strip()


def words(label: str) -> list[str]:
    """The words of a label in lower case: `MemAllocated=` -> mem, allocated; `s0.loss_cls:` -> s0, loss, cls."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", label.replace("kB", "kb"))
    return re.findall(r"[a-z%][a-z0-9]*|\d+", spaced.lower().replace("_", " "))
