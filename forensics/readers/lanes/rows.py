"""The lines of one lane as columns: a number, the bytes and the shape of each line. Only lines that are read become a Row.

step 4012 loss 2.31    -> the shape `step 0000 loss 0.00`: its template, its lane and the place of its step are known
step 4013 loss 2.29    -> the same shape, which is one object
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from operator import attrgetter

from msgspec import Struct

from forensics.core.text import decode_line
from forensics.line_formats import may_have_prefix, parse_prefix, prefixes, unlabelled
from forensics.model import Line, LinesOf
from forensics.readers.lanes.line_classes import counted_step, step_place
from forensics.readers.progress.counters import closes_run

LaneKey = tuple[str, str]  # kind of entity or supervisor of its records, name
CARRIAGE_RETURN = 0x0D  # as a number: to look for one byte as bytes takes ten times as long
ESCAPE = 0x1B  # as a number, too
UNKNOWN_PLACE = slice(0, 0)  # no number stands there
MAX_ROW_TEXT_BYTES = 2000  # of a line: as much as a report quotes
START_BYTES = 8  # of a line: as many as a word has that a line is told by
TEMPLATE_WORDS = 8  # the first words of a line tell which statement of a program printed it
WORDS_ONLY = bytes(i if i == 10 or 65 <= i <= 90 or 97 <= i <= 122 or i >= 128 else 32 for i in range(256))


class Shape:
    """What all lines have in common that differ only in digits.

    `template`: the first eight words, without numbers and signs, of what is said, or else of the last frame. `key`: of the
    lane, None if no prefix tells it; digits in it are zeros. `name_at`: where the digits of that name stand, if the line
    begins with them as a rank does. `step_at`: where the number of a counted step stands; None for a shape without one,
    UNKNOWN_PLACE if it was not looked for. `said`: what the program wrote in the last frame, with zeros for its digits; None
    for a line with escapes, or with other letters than those of ASCII. `is_whole`: that is all of the line. `start`: its
    first bytes. `is_of_srun`: does it begin as srun labels the lines of a rank? `is_blank`: it has no text.
    """

    __slots__ = (
        "_is_bare",
        "_may_close",
        "is_blank",
        "is_of_srun",
        "is_whole",
        "key",
        "name_at",
        "said",
        "start",
        "step_at",
        "template",
    )

    def __init__(self, line: bytes, key: LaneKey | None, with_step: bool, name_at: slice | None, of_srun: bool) -> None:
        self.start = line[:START_BYTES]
        frame = line.rstrip(b"\r").rpartition(b"\r")[2] if CARRIAGE_RETURN in line else line
        self.key, self.name_at, self.is_of_srun = key, name_at, of_srun
        is_plain = with_step and line.isascii() and ESCAPE not in line
        text = frame.decode("ascii") if is_plain else ""
        self.said = unlabelled(text) if is_plain else None
        words = (frame if self.said is None else self.said.encode()).translate(WORDS_ONLY).split()
        self.template = b" ".join([w for w in words if len(w) > 2][:TEMPLATE_WORDS])
        self.is_whole = self.said is not None and len(self.said) == len(line)
        front = len(line.rstrip(b"\r")) - len(frame) + len(text) - len(self.said or "")  # other frames, and a label
        self.step_at = UNKNOWN_PLACE if self.said is None else _step_place(self.said, front)
        self.is_blank = not self.template and not line.strip()
        self._may_close: bool | None = None
        self._is_bare: bool | None = None

    def may_close(self) -> bool:
        """May the line say that the whole run is over, and well? See closes_run()."""
        if self._may_close is None:
            self._may_close = self.said is None or closes_run(self.said)
        return self._may_close

    def is_bare(self) -> bool:
        """Has what is said surely neither a time nor a level in front?"""
        if self._is_bare is None:
            self._is_bare = self.said is not None and not may_have_prefix(self.said)
        return self._is_bare


def _step_place(said: str, front: int) -> slice | None:
    """Where in a line the number of a counted step stands, in what is `said` behind so many characters."""
    place = step_place(said)
    return slice(place.start + front, place.stop + front) if place else None


class Row(Struct):
    """One line of a lane: its number, its shape, and its bytes."""

    number: int
    shape: Shape
    raw: bytes
    decoded: str | None = None  # the result of text(), kept

    @property
    def template(self) -> bytes:
        """See Shape."""
        return self.shape.template

    def text(self) -> str:
        """The text of the line: its last frame, without terminal escapes."""
        if self.decoded is None:
            self.decoded = _text(self.raw)
        return self.decoded

    def said(self) -> str:
        """The text of the line as the program wrote it, without the label of a launcher or a collector."""
        text = self.text()
        return unlabelled(text) if self.shape.said is None else text[len(text) - len(self.shape.said) :]


def _text(raw: bytes) -> str:
    """The text of a line: its last frame, without terminal escapes."""
    if CARRIAGE_RETURN in raw:
        raw = raw.rstrip(b"\r").rpartition(b"\r")[2]
    return decode_line(raw[:MAX_ROW_TEXT_BYTES])


class Rows(Sequence[Row]):
    """The lines of one lane in order. `numbers`, `raws`, `shapes`: its columns. `ends`: all lines of its source, if they were
    decoded as they stand."""

    __slots__ = ("_made", "_raws", "_taken", "_templates", "ends", "numbers", "shapes")

    def __init__(self, ends: Sequence[Line] | None = None) -> None:
        self.ends = ends
        self.numbers: list[int] = []
        self._raws: list[bytes] = []
        self._taken: list[tuple[Sequence[bytes], Sequence[int]]] = []  # of which the rows are taken when they are asked for
        self.shapes: list[Shape] = []
        self._made: dict[int, Row] = {}
        self._templates: list[bytes] = []

    def extend(self, first: int, raws: Sequence[bytes], shapes: Sequence[Shape], kept: Sequence[bool] | None = None) -> None:
        """Add lines that follow each other, of which the first is number `first`. `kept`: which of them; all if None."""
        numbers: Iterable[int] = range(first, first + len(raws))
        self.numbers += numbers if kept is None else compress(numbers, kept)
        self._raws = self.raws
        self._raws += raws if kept is None else compress(raws, kept)
        self.shapes += shapes if kept is None else compress(shapes, kept)

    def take(self, first: int, raws: Sequence[bytes], shapes: Sequence[Shape], places: Sequence[int]) -> None:
        """Add those of such lines that stand at `places`."""
        self.numbers += [first + i for i in places]
        self._taken.append((raws, places))
        self.shapes += map(shapes.__getitem__, places)

    @property
    def raws(self) -> list[bytes]:
        """The bytes of each row."""
        for raws, places in self._taken:
            self._raws += map(raws.__getitem__, places)
        self._taken.clear()
        return self._raws

    @property
    def templates(self) -> list[bytes]:
        """The template of each row."""
        if len(self._templates) < len(self.shapes):
            self._templates = [*map(attrgetter("template"), self.shapes)]
        return self._templates

    def starting_with(self, start: bytes) -> list[int]:
        """The indices of the rows that begin with `start`, which has at most START_BYTES, none of them a digit."""
        held = {shape for shape in set(self.shapes) if shape.start.startswith(start)}
        return [i for i, shape in enumerate(self.shapes) if shape in held] if held else []

    def counted_steps(self, among: Iterable[int]) -> list[int | None]:
        """The step, epoch, iteration or round that each row counts; None if it counts none, or is not `among` those asked."""
        return [
            None if not asked else self._unplaced_step(i) if (at := shape.step_at) is UNKNOWN_PLACE else at and int(raw[at])
            for i, (asked, raw, shape) in enumerate(zip(among, self.raws, self.shapes, strict=True))
        ]

    def _unplaced_step(self, i: int) -> int | None:
        return counted_step(self[i].said())

    def text(self, i: int) -> str:
        """The text of the row at index `i`, without making a Row."""
        return self._made[i].text() if i in self._made else _text(self.raws[i])

    def is_record(self, i: int) -> bool:
        """Does the row begin with a time or a level, as a logger writes it?"""
        shape = self.shapes[i]
        if shape.is_bare():
            return False
        if self.ends is not None and shape.is_whole:
            prefix = prefixes(self.ends)[self.numbers[i] - 1]
            return prefix.stamp is not None or bool(prefix.level)
        text = self.text(i)
        prefix = parse_prefix(unlabelled(text) if shape.said is None else text[len(text) - len(shape.said) :])
        return prefix.stamp is not None or bool(prefix.level)

    def lines(self) -> Sequence[Line]:
        """All rows as lines."""
        if self.ends is not None:
            return LinesOf(self.ends, tuple(self.numbers))
        return tuple([Line(number, self.text(i)) for i, number in enumerate(self.numbers)])

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, i: int) -> Row:  # type: ignore[override]  # a part of it is never asked for
        made = self._made.get(i)
        if made is None:
            made = self._made[i] = Row(self.numbers[i], self.shapes[i], self.raws[i])
        return made

    def __iter__(self) -> Iterator[Row]:
        return map(self.__getitem__, range(len(self)))
