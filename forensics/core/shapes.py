"""What is found in lines, remembered by the shape of a line: lines that differ only in digits have the same places.

step 4012 loss 2.31    -> the shape `step 0000 loss 0.00`, searched once
step 4013 loss 2.29    -> the same shape: its places are known
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, wraps
from typing import NamedTuple, TypeVar

from forensics.core import lazy
from forensics.core.recent import Recent
from forensics.core.text import DIGITS_TO_ZEROS

MAX_SHAPE_CHARS = 1000  # of a line; a longer one hardly ever has the shape of another one
ZEROS = str.maketrans("123456789", "0" * 9)
# Digits of a pattern that ask no digit of a line: counts of repetitions, names of groups, the class of all digits, codes.
NOT_OF_LINES = lazy.regex(r"\{\d+(?:,\d*)?\}|\(\?P<\w+>|0-9|\\x(?!3\d)[\da-fA-F]{2}")
# Of a pattern: what is kept as it stands; a class of characters; where a group begins, of which some must not follow; a digit.
PARTS_OF_PATTERN = lazy.regex(
    r"(?P<kept>\\x(?!3\d)[\da-fA-F]{2}|\\[^x]|\{\d*,?\d*\})|(?P<set>\[\^?(?:\\.|[^\]\\])+\])"
    r"|(?P<not>\(\?<?!)|(?P<open>\((?:\?P<\w+>)?)|(?P<close>\))|(?P<digit>\d)|(?P<other>.)",
    re.DOTALL,
)
GROUP_AGAIN = "(?P="  # what a group found, which may be digits
# What is not taken back, and so may find less where more is found; what a group found; rare forms of a set and of a digit.
NOT_OF_SHAPES = lazy.regex(r"\(\?>|[*+?}]\+|\(\?P=|\(\?\(|\\[1-9]|\[\^?\]|\[\[|\\x3\d")
INDENTED_LINE = lazy.regex(rb"\n ")
MAX_DIVIDED_BYTES = 512 << 10  # of which the lines are kept: what the sample of a source takes of its beginning
MAX_KEPT_BYTES = 512 << 10  # of the lines of several sources: twice as many as are read together, see source_analysis
MAX_SHAPES = 4096  # that are remembered of one search; a log has some dozen shapes of lines with numbers

T = TypeVar("T")


def asks_digits(pattern: str) -> bool:
    """Does a regular expression name or compare digits (`[1-9] failed`)? If not, it finds the same in all lines of one shape."""
    return GROUP_AGAIN in pattern or any(map(str.isdigit, NOT_OF_LINES.sub("", pattern)))


def of_shapes(pattern: str) -> str:
    """A regular expression that finds something in the shape of each line in which `pattern` does, and in other shapes:
    `[1-9] failed(?!: 0)` -> `[01-9] failed`. One that finds something in all texts where this cannot be told."""
    if NOT_OF_SHAPES.search(pattern):
        return ""
    made, depth, excluded = list[str](), 0, list[tuple[int, int]]()  # the depth of what must not stand there, and its place
    for part in PARTS_OF_PATTERN.finditer(pattern):
        kind, text = part.lastgroup, part[0]
        if kind == "not":
            excluded.append((depth, len(made)))
        depth += (kind in ("not", "open")) - (kind == "close")
        if kind == "set" and asks_digits(text):
            if text.startswith("[^"):
                return ""
            text = f"[0{text[1:]}"
        made.append("0" if kind == "digit" else text)
        if kind == "close" and excluded and excluded[-1][0] == depth:
            _, begin = excluded.pop()
            if not excluded and asks_digits("".join(made[begin:])):
                del made[begin:]
    return "".join(made)


def zeroed(text: str) -> bytes:
    """The shape of a line."""
    return text.encode("utf-8", "surrogatepass").translate(DIGITS_TO_ZEROS)  # as bytes: ten times as fast


def shapes_of(texts: Sequence[str]) -> list[bytes]:
    """The shape of each of `texts`, made together where none of them has a line end."""
    made = zeroed("\n".join(texts)).split(b"\n")
    return made if len(made) == len(texts) else [*map(zeroed, texts)]


class Divided(NamedTuple):
    """Bytes divided into lines: the lines, the shape of each, and the shapes that there are, in order of their first line."""

    rows: list[bytes]
    shapes: list[bytes]
    distinct: dict[bytes, None]


_divided: Recent[Divided] = Recent(MAX_KEPT_BYTES)


def divided(data: bytes) -> Divided:
    """`data` divided into lines. If it is not too long, they are kept for the next stage that asks for them."""
    known = _divided.get(data)
    if known is None:
        shapes = data.translate(DIGITS_TO_ZEROS).split(b"\n")
        known = Divided(data.split(b"\n"), shapes, dict.fromkeys(shapes))
        if len(data) <= MAX_DIVIDED_BYTES:
            _divided.keep(data, known, len(data))
    return known


def indented(data: bytes) -> int:
    """How many lines of `data` begin with a blank; if it was divided before, its shapes tell that none does."""
    known = _divided.get(data)
    if known and not any(shape.startswith((b" ", b"\t")) for shape in known.distinct):
        return 0
    tabs = data.count(b"\n\t") if b"\t" in data else 0  # most logs have none, and one byte is found much faster than two
    blanks = data.count(b"\n ") if INDENTED_LINE.search(data) else 0  # to see that there is none takes a third
    return blanks + tabs + data.startswith((b" ", b"\t"))


class ShapeTest(dict[bytes, bool]):
    """What a test says of shapes of lines, each of which is tested once."""

    def __init__(self, test: Callable[[bytes], bool]) -> None:
        super().__init__()
        self.test = test
        self.holding: set[bytes] = set()  # the shapes for which it holds

    def among(self, shapes: Mapping[bytes, None]) -> set[bytes]:
        """Those of `shapes` for which the test holds. Most sources have shapes that were tested before, and none of these."""
        is_known = shapes.keys() <= self.keys()
        found = set[bytes]() if is_known else {shape for shape in shapes if shape not in self and self[shape]}
        return found | self.holding.intersection(shapes) if self.holding else found

    def __missing__(self, shape: bytes) -> bool:
        found = self.test(shape)
        if len(shape) <= MAX_SHAPE_CHARS:
            if len(self) >= MAX_SHAPES:
                self.clear()
                self.holding.clear()
            self[shape] = found
            if found:
                self.holding.add(shape)
        return found


def by_shape(find: Callable[[str], T]) -> Callable[[str], T]:
    """`find`, called once for each shape. What it finds in a line must not depend on which digits the line has."""

    @lru_cache(maxsize=MAX_SHAPES)
    def of_shape(shape: bytes) -> T:
        return find(shape.decode("utf-8", "surrogatepass"))

    @wraps(find)
    def of_line(text: str) -> T:
        if len(text) > MAX_SHAPE_CHARS:
            return find(text)
        return of_shape(zeroed(text))

    return of_line
