"""Count the templates in the blocks of a log: how often and where each occurs.

Lines that differ only in digits are recognised by comparing bytes, so a template is made for few of the many lines.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from forensics.core import lazy
from forensics.core.text import DIGITS_TO_ZEROS, last_frame
from forensics.templates.template import template

COMPARED_LINE_BYTES = 2000  # lines that agree so far are the same
MOST_SHAPES = 50_000  # remembered; further ones are made again
MAX_SHAPE_BYTES = 300  # longer lines seldom repeat: remembering them takes more memory than making them again saves time
HEX_PATTERN = lazy.regex(
    rb"(?<![0-9A-Za-z])(?:0x[0-9a-fA-F]+|(?=[a-fA-F]*0)(?=0*[a-fA-F])[0a-fA-F]{4,})(?![0-9A-Za-z])"
)  # in a shape


class TemplateGroup(Struct):
    """The lines of one template in one block. `first`, `last`: their places in it, from 0."""

    template: str
    text: bytes
    count: int
    first: int
    last: int


class Templates:
    """Groups the lines of one block after the other, and caches the template of each shape."""

    def __init__(self, make: Callable[[str], str] = template) -> None:
        self.make = make
        self.known: dict[bytes, str] = {}

    def groups(self, rows: list[bytes]) -> Iterator[TemplateGroup]:
        """The groups of `rows`, in order of their first lines; lines without a message are in no group."""
        shapes = shape(b"\n".join(rows)).split(b"\n")
        numbers = range(len(shapes))
        firsts = dict(zip(reversed(shapes), reversed(numbers), strict=True))
        lasts = dict(zip(shapes, numbers, strict=True))
        for row_shape, count in Counter(shapes).items():
            first = firsts[row_shape]
            if made := self._template(row_shape, rows[first]):
                yield TemplateGroup(made, rows[first], count, first, lasts[row_shape])

    def _template(self, row_shape: bytes, row: bytes) -> str:
        known = self.known.get(row_shape)
        if known is None:
            without_hex = HEX_PATTERN.sub(b"0x", row_shape)
            known = self.known.get(without_hex)
            if known is None:
                known = self.make(last_frame(row))
                self._remember(without_hex, known)
            if without_hex == row_shape or len(self.known) < MOST_SHAPES:
                self._remember(row_shape, known)
        return known

    def _remember(self, row_shape: bytes, made: str) -> None:
        if len(self.known) >= 2 * MOST_SHAPES:
            self.known.clear()
        if len(row_shape) <= MAX_SHAPE_BYTES:
            self.known[row_shape] = made


def split_rows(block: bytes) -> list[bytes]:
    """The lines of `block`, which ends with a whole line: of each its last frame, at most COMPARED_LINE_BYTES."""
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n")
    found = block.removesuffix(b"\n").split(b"\n")
    if b"\r" in block:
        found = [r[r.rfind(b"\r", 0, -1) + 1 :] for r in found]
    return [r[:COMPARED_LINE_BYTES] for r in found] if max(map(len, found)) > COMPARED_LINE_BYTES else found


def shape(text: bytes) -> bytes:
    """`text` with each run of up to ten digits replaced by one zero. Lines with the same shape have the same template."""
    text = text.translate(DIGITS_TO_ZEROS)
    for run in (b"0000", b"00", b"00"):
        text = text.replace(run, b"0")
    return text


def whole_lines(blocks: Iterable[bytes], max_line_bytes: int = 16 << 20) -> Iterator[bytes]:
    """`blocks`, cut at line ends instead; a line of more than `max_line_bytes` is cut within."""
    carry = b""
    for block in blocks:
        carry += block
        cut = carry.rfind(b"\n") + 1 or (len(carry) if len(carry) > max_line_bytes else 0)
        if cut:
            yield carry[:cut]
            carry = carry[cut:]
    if carry:
        yield carry
