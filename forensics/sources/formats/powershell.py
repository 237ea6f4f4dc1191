r"""Undo what Windows PowerShell does to the errors of a program that it writes to a file.

    python : Traceback          ->  python : Traceback (most recent call last):
    (most recent call                 At line:1 char:1 + python train.py + ~~~~~~ + CategoryInfo : NotSpecified ...
    last):                            File "C:\job\train.py", line 40, in main
    At line:1 char:1
    + python train.py
    ...
      File "C:\job\trai
    n.py", line 40, in
    main

PowerShell makes an error record of the first line that a program writes to its standard error. It wraps the errors at the width
of its window: behind the last space that fits, which it keeps, or at the last column. The lines are joined again, and the record
becomes one indented line, so that it does not stand in the middle of a message. The standard output stays as it is.
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from forensics.core import lazy
from forensics.sources.formats.base import Format, Head, Note
from forensics.sources.formats.wrapped import begins_record
from forensics.sources.lines import numbered_lines
from forensics.sources.origin import Piece

MIN_WIDTH = 16  # of a window; PowerShell's own rows need more
MIN_CUTS = 3  # inside a word at the last column; one or two may be chance
MAX_JOINED_ROWS = 200  # a line of 4,000 characters in the smallest window
MAX_RECORD_ROWS = 60  # a record of 1,200 characters in the smallest window
RECORD_MARKS = (b"\n+ ~~", b"\n    + Cat")
CUT_PATTERN = lazy.regex(r"[\w\\/.]{2}")  # the characters before and after a cut
RECORD_ROW_PATTERN = lazy.regex(r"(?:    )?\+ (?:~~|Cat|\.\.\. )")
RECORD_INDENT = "    "
UNDERLINE = "~~"
LAST_ROW = "+ FullyQualified"
# The place, in any language, that the first row of a record names: `At line:1 char:1`. The other rows begin with `+ ` or a space.
RECORD_PLACE_PATTERN = lazy.regex(r"(?=.*[ \x80-\U0010ffff]).{0,300}:\s?\d+\W.{1,40}?\d+\s*\Z")
Numbered = tuple[int, str]  # the number of a line in the original, and the line


def _width(lines: Sequence[str]) -> int:
    """The width of the window: the length at which most words and paths are cut; 0 if there is no such length.

    No row of a record is wider than the window.
    """
    least = max([MIN_WIDTH, *(len(line) for line in lines if RECORD_ROW_PATTERN.match(line))])
    cuts = Counter(len(a) for a, b in itertools.pairwise(lines) if len(a) >= least and CUT_PATTERN.search(a[-1] + b[:1]))
    width, count = max(cuts.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
    return width if count >= MIN_CUTS else 0


def _continues(width: int, line: str, following: str) -> bool:
    """Is `following` the rest of the row `line`? A new row of a record and an underline are not."""
    if not width or not following or following[0] == " " or UNDERLINE in (line[-2:], following[:2]):
        return False
    if RECORD_PLACE_PATTERN.match(following) or begins_record(line, following):
        return False
    return len(line) == width or (line.endswith(" ") and len(line) < width <= len(line) + len(following.split(" ", 1)[0]))


def _joined(width: int, lines: Iterable[Numbered]) -> Iterator[Numbered]:
    """The lines, those joined that were wrapped at `width`."""
    start, parts = 0, list[str]()
    for number, line in lines:
        if parts and len(parts) < MAX_JOINED_ROWS and _continues(width, parts[-1], line):
            parts.append(line)
            continue
        if parts:
            yield start, "".join(parts)
        start, parts = number, [line]
    if parts:
        yield start, "".join(parts)


def _with_records_in_one_line(lines: Iterable[Numbered]) -> Iterator[Numbered]:
    """The lines, the rows of each error record as one. It ends before a blank line."""
    rows: list[str] = []  # a line, or the rows of a record so far
    start = 0
    for number, line in lines:
        begins = len(rows) == 1 and line.startswith("+ ") and RECORD_PLACE_PATTERN.match(rows[0])
        if begins or (1 < len(rows) < MAX_RECORD_ROWS and line.strip() and not (LAST_ROW in rows[-1] and line[0] != " ")):
            rows.append(line)
            continue
        if rows:
            yield start, _one_line(rows)
        start, rows = number, [line]
    if rows:
        yield start, _one_line(rows)


def _one_line(rows: Sequence[str]) -> str:
    return rows[0] if len(rows) == 1 else RECORD_INDENT + " ".join(" ".join(rows).split())


def _decode(blocks: Iterator[bytes], note: Note) -> Iterator[Piece]:
    first = next(blocks, b"")
    width = _width(Head(first[: 64 << 10], len(first) < 64 << 10).lines)
    if width:
        note("unwrapped", f"PowerShell wrapped its errors at {width} columns; they were joined again", None)
    raw = numbered_lines(itertools.chain((first,), blocks))
    lines = ((number, line.decode("utf-8", "replace").removesuffix("\r")) for number, line in raw)
    for number, text in _with_records_in_one_line(_joined(width, lines)):
        yield number, 1, text.encode("utf-8", "replace")


SAMPLE = (
    b"python : Traceback \r\n(most recent call \r\nlast):\r\nAt line:1 char:1\r\n+ python train.py\r\n+ ~~~~~~~~~~~~~~~~\r\n"
    b"    + CategoryInfo \r\n   : NotSpecified  \r\n \r\n"
    b'  File "C:\\job\\trai\r\nn.py", line 40, in \r\nmain\r\nValueError: 40 seve\r\nnty\r\n'
)
FORMATS = (
    Format("powershell", lambda head: any(mark in head.data for mark in RECORD_MARKS), _decode, SAMPLE, plain=True, rank=94),
)
