"""Blocks of a log to its templates, each with how often and where it occurs.

Lines that differ in digits alone are found equal as bytes, so that a template is made for few of very many lines.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from forensics.core import lazy
from forensics.core.text import last_frame
from forensics.templates.template import template

COMPARED_LINE_BYTES = 2000  # lines that agree so far are the same
MOST_SHAPES = 50_000  # remembered; further ones are made again
MAX_SHAPE_BYTES = 300  # longer lines seldom repeat: remembering them takes more memory than making them again saves time
HEX_PATTERN = lazy.regex(
    rb"(?<![0-9A-Za-z])(?:0x[0-9a-fA-F]+|(?=[a-fA-F]*0)(?=0*[a-fA-F])[0a-fA-F]{4,})(?![0-9A-Za-z])"
)  # in a shape
DIGITS_TO_ZEROS = bytes.maketrans(b"123456789", b"000000000")


class TemplateGroup(Struct):
    """The lines of one template in one block. `first`, `last`: their places in it, from 0."""

    template: str
    text: bytes
    count: int
    first: int
    last: int


class Templates:
    """Makes the groups of one block after the other, remembering which shape of bytes has which template."""

    def __init__(self, make: Callable[[str], str] = template) -> None:
        self.make = make
        self.known: dict[bytes, str] = {}

    def groups(self, rows: list[bytes]) -> Iterator[TemplateGroup]:
        """The groups of some lines, in order of their first ones; lines without a message are in none."""
        shapes = shape(b"\n".join(rows)).split(b"\n")
        numbers = range(len(shapes))
        firsts = dict(zip(reversed(shapes), reversed(numbers), strict=True))
        lasts = dict(zip(shapes, numbers, strict=True))
        for what, count in Counter(shapes).items():
            first = firsts[what]
            if made := self._template(what, rows[first]):
                yield TemplateGroup(made, rows[first], count, first, lasts[what])

    def _template(self, what: bytes, row: bytes) -> str:
        known = self.known.get(what)
        if known is None:
            alike = HEX_PATTERN.sub(b"0x", what)
            known = self.known.get(alike)
            if known is None:
                known = self.make(last_frame(row))
                self._remember(alike, known)
            if alike == what or len(self.known) < MOST_SHAPES:
                self._remember(what, known)
        return known

    def _remember(self, what: bytes, made: str) -> None:
        if len(self.known) >= 2 * MOST_SHAPES:
            self.known.clear()
        if len(what) <= MAX_SHAPE_BYTES:
            self.known[what] = made


def split_rows(block: bytes) -> list[bytes]:
    """The lines of whole ones in `block`: of each the last frame, its first COMPARED_LINE_BYTES."""
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n")
    found = block.removesuffix(b"\n").split(b"\n")
    if b"\r" in block:
        found = [r[r.rfind(b"\r", 0, -1) + 1 :] for r in found]
    return [r[:COMPARED_LINE_BYTES] for r in found] if max(map(len, found)) > COMPARED_LINE_BYTES else found


def shape(text: bytes) -> bytes:
    """`text` with every run of up to ten digits made one zero: lines that agree in it have one template.

    But for seconds since 1970 in front of a line: a line with them is counted with those of its shape that begin with another
    number.
    """
    text = text.translate(DIGITS_TO_ZEROS)
    for run in (b"0000", b"00", b"00"):
        text = text.replace(run, b"0")
    return text


def whole_lines(blocks: Iterable[bytes], most: int = 16 << 20) -> Iterator[bytes]:
    """`blocks` cut anew behind line ends; a line of more than `most` bytes is cut where it stands."""
    carry = b""
    for block in blocks:
        carry += block
        cut = carry.rfind(b"\n") + 1 or (len(carry) if len(carry) > most else 0)
        if cut:
            yield carry[:cut]
            carry = carry[cut:]
    if carry:
        yield carry
