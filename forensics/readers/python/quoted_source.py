"""What of a traceback's text is the message, and what is source code that it quotes, which is never evidence.

A message that runs over several lines is one message:

ValueError: The feature names should match those that were passed during fit.
Feature names unseen at fit time:                                                a heading of a list
- rain                                                                           and its items

Code that a traceback quotes around the line that ran: it is source, and no message.

     30     if os.getpid() != parent:                                   source
     31         raise RuntimeError("Cannot re-initialize CUDA ...")     source: it did not run
---> 33     return net.to(target)                                       what ran

  File "connect.py", line 7, in dial
    raise DialError("no route to %s" % host)                        what ran, and a text in it that was not printed

What a model is asked or answers is no message of the program that prints it:

sample: 'The server said: Segmentation fault (core dumped)'     a text that was generated

IPython, Colab and an editor's notebook mark what ran with `-->`, Rich with `❱`, Loguru with `>`, pytest and pdb with `>` below a
column of the same indent. The numbers of neighbouring rows follow each other, so no table and no list is taken for source.

Lines of source code that are printed with a traceback: they quote a message with names of variables in place of its values.

Numbers that stand in code were not measured, wherever it is quoted: below a frame, around the line that ran, of a cell that
failed, or as a program that was printed.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from forensics.core import lazy
from forensics.core.shapes import ShapeTest
from forensics.core.text import decode_line
from forensics.data_files.named_parts import patterns_of
from forensics.line_formats import parse_prefix, unlabelled
from forensics.model import Line, Observation, Scan
from forensics.readers.base import Block, ParsedLine, sampled_blocks

TRACEBACK_HEAD = "Traceback (most recent call last)"
# Two texts between the tracebacks of a chain. After the first one, the earlier exception is only context: the later exception
# ended the program.
HANDLED = "During handling of the above exception"
CHAIN = (HANDLED, "The above exception was the direct cause")
MIN_QUOTED_CHARS = 20  # chosen by hand: a shorter message may stand in any other by chance
MAX_MESSAGE_LINES = 12  # of one exception's text. PyTorch's CUDA errors have five lines; longer lists of keys are cut
MAX_LIST_LINES = 100  # of a message whose lines have the form of a list
MAX_FRAMED_LINES = 40  # between two rules
RULE_LINE_PATTERN = lazy.regex(r"\A[-=*]{20,}\s*$")
MESSAGE_ROWS = patterns_of("exception message")


def message_end(rows: Sequence[ParsedLine], place: int) -> int:
    """Number of the message's last line; `place`: the index of its first one. It ends before a blank line, a time stamp, another
    traceback, words of another program or a line of dashes, but a message that begins with such a line ends with the next one."""
    below = rows[place + 1 : place + 1 + MAX_FRAMED_LINES]
    if below and RULE_LINE_PATTERN.match(below[0].message):
        closing = next((r for r in below[1:] if RULE_LINE_PATTERN.match(r.message)), None)
        if closing is not None and not any(TRACEBACK_HEAD in r.message for r in below):
            return closing.line.number
    last, wrapper = rows[place].line.number, _wrapper(rows, place)
    for row in rows[place + 1 : place + 1 + MAX_MESSAGE_LINES]:
        if _is_beyond(row, wrapper):
            break
        last = row.line.number
    return max(last, list_end(rows, place))


def list_end(rows: Sequence[ParsedLine], place: int) -> int:
    """Number of the last line that surely belongs to the message, by its form: an item of a list, or the heading of one."""
    below = list(islice(rows, place + 1, place + 1 + MAX_LIST_LINES))
    last, wrapper = rows[place].line.number, _wrapper(rows, place)
    for i, row in enumerate(below):
        if _is_beyond(row, wrapper):
            break
        is_item = MESSAGE_ROWS.list_item.match(row.message) is not None
        following = below[i + 1] if i + 1 < len(below) else None
        is_heading = row.message.rstrip().endswith(":") and following and MESSAGE_ROWS.list_item.match(following.message)
        if not is_item and not is_heading:
            break
        last = row.line.number
    return last


def _wrapper(rows: Sequence[ParsedLine], place: int) -> tuple[str, ...]:
    """The formats of the prefixes that each line has, where the frame above the exception has them, too: a collector's."""
    above = rows[place - 1] if place else None
    return above.prefix.formats if above and above.message[:1] in (" ", "\t") else ()


def _is_beyond(row: ParsedLine, wrapper: tuple[str, ...]) -> bool:
    text, is_record = row.message, row.prefix.stamp is not None and row.prefix.formats != wrapper
    begins = not text.strip() or is_record or TRACEBACK_HEAD in text or text.startswith(CHAIN)
    return begins or any(p.match(text) for p in (RULE_LINE_PATTERN, MESSAGE_ROWS.other_program))


PATTERNS = patterns_of("quoted source")
MAX_STATEMENT_LINES = 40  # of one statement below its frame: later Pythons quote all of them, with marks, or with their values
MAX_BOX_ROWS = 1000  # of Rich's box: a hundred frames with seven rows each
NBCLIENT_ERROR = b"An error occurred while executing the following cell"
MAX_SOURCE_ROWS = 12  # rows between the one that ran and another one of the same window


class Quotes:
    """Which parts of the lines of a log are code that it quotes, and no message: a traceback around the line that ran, a compiler
    above its marks, a warning below itself, a stack with the values of arguments, a shell that traces what it runs."""

    def __init__(self, scan: Scan) -> None:
        self.blocks = sampled_blocks(scan)
        self.starts = [block.first for block in self.blocks]
        self.rows = [_Rows(block, _said) for block in self.blocks]

    def holds(self, line: Line, span: tuple[int, int], around: Sequence[Line]) -> bool:
        """Is a part of `span` in `line` such code? `around`: its neighbours, for a line that is not in the sample."""
        return _overlaps(span, self._parts(line, around))

    def hold_all(self, line: Line, texts: Sequence[str], around: Sequence[Line]) -> bool:
        """Does one of `texts`, which are in lower case, stand in `line`, and only in such code?"""
        parts, own = self._parts(line, around), line.text.lower()
        found = ((at, at + len(text)) for text in texts for at in _places(text, own))
        return bool(parts) and any(text in own for text in texts) and all(_overlaps(span, parts) for span in found)

    def _parts(self, line: Line, around: Sequence[Line]) -> list[tuple[int, int]]:
        return quoted_parts(line, self._near(line, around))

    def _near(self, line: Line, around: Sequence[Line]) -> Mapping[int, str]:
        at = bisect_right(self.starts, line.number) - 1
        if at >= 0 and line.number < self.starts[at] + len(self.blocks[at].rows):
            return self.rows[at]
        return _Neighbours(around)


def begins_in_text(text: str, at: int) -> bool:
    """Is the character `at` a part of a text that a model reads or writes, or of what is told of another run?"""
    told = (PATTERNS.text, PATTERNS.other_run)
    return any(found.start() < at < found.end() for pattern in told for found in pattern.finditer(text))


def has_quoted_text(text: str) -> bool:
    """Has the line a text that a model reads or writes, or tells it of another run?"""
    return PATTERNS.text.search(text) is not None or PATTERNS.other_run.search(text) is not None


def _overlaps(span: tuple[int, int], parts: Sequence[tuple[int, int]]) -> bool:
    return any(start < span[1] and span[0] < end for start, end in parts)


def _places(text: str, own: str) -> Iterator[int]:
    at = own.find(text)
    while at >= 0:
        yield at
        at = own.find(text, at + 1)


def _said(text: str) -> str:
    """`text` without its labels, the time in front of it, and what Python draws beside the rows of an exception group."""
    said = unlabelled(text)
    prefix = parse_prefix(said)
    return PATTERNS.drawn.sub("", prefix.message if prefix.stamp else said, count=1)


def quoted_parts(line: Line, rows: Mapping[int, str]) -> list[tuple[int, int]]:
    """The parts of `line` that are quoted code, or a text or a comment in the statement that ran. `rows`: its neighbours."""
    own = _said(line.text)
    if _is_beside_what_ran(line.number, own, rows):
        return [(0, len(line.text))]
    if not _is_statement(line.number, own, rows):
        return []
    shift = len(line.text) - len(own)
    return [(found.start() + shift, found.end() + shift) for found in PATTERNS.text_in_code.finditer(own)]


def _is_beside_what_ran(at: int, own: str, rows: Mapping[int, str]) -> bool:
    """Is it all code: a row beside the one that ran, a further row below a frame, or a command that a shell traces?"""
    below = _rows_below_frame(at, rows)
    traced = PATTERNS.traced_command.match(own) is not None
    return traced or below > 1 or _numbered(at, rows) or _of_pytest(at, rows) or _in_box(at, own, rows)


def _is_statement(at: int, own: str, rows: Mapping[int, str]) -> bool:
    """Is it the statement that ran, or a frame with the values of its arguments?"""
    above, below = rows.get(at - 1, ""), rows.get(at + 1, "")
    numbered = PATTERNS.numbered.match(own)
    alone = (PATTERNS.pytest_mark, PATTERNS.call_with_values, PATTERNS.code_head)
    if (numbered and numbered["mark"]) or any(form.match(own) for form in alone):
        return True
    if own[:1].isspace() and PATTERNS.warning_head.search(above):
        return True
    julia = PATTERNS.julia_place.match(below) and PATTERNS.julia_call.match(own)
    return _rows_below_frame(at, rows) == 1 or PATTERNS.marks.match(below) is not None or julia is not None


def _in_box(at: int, own: str, rows: Mapping[int, str]) -> bool:
    """Is it a row of the box in which Rich draws a traceback, other than one that ran? The message stands below the box."""
    numbered = PATTERNS.numbered.match(own)
    if not PATTERNS.box_row.match(own) or (numbered and numbered["mark"]):
        return False
    above = (rows.get(number, "") for number in range(at - 1, at - 1 - MAX_BOX_ROWS, -1))
    head = next((row for row in above if not PATTERNS.box_row.match(row)), "")
    return PATTERNS.box_head.match(head) is not None


def is_code_of_frame(line: Line, around: Sequence[Line]) -> bool:
    """Is it the statement that a frame of a traceback quotes right below it? It names values, and prints none."""
    rows = {row.number: unlabelled(row.text) for row in around}
    frame, own = PATTERNS.frame_row.match(rows.get(line.number - 1, "")), rows.get(line.number, "")
    return frame is not None and len(own) - len(own.lstrip()) > len(frame["indent"])


def _numbered(at: int, rows: Mapping[int, str]) -> bool:
    own = PATTERNS.numbered.match(rows.get(at, ""))
    if own is None or own["mark"]:
        return False
    return any(_reaches_mark(at, int(own["number"]), way, rows) for way in (-1, 1)) or _reaches_head(at, rows)


def _reaches_head(at: int, rows: Mapping[int, str]) -> bool:
    """Do numbered rows without a mark lead up to the file and the function whose code they are?"""
    above = (rows.get(number, "") for number in range(at - 1, at - MAX_SOURCE_ROWS, -1))
    head = next((row for row in above if not PATTERNS.numbered.match(row)), "")
    return PATTERNS.code_head.match(head) is not None


def _reaches_mark(at: int, last: int, way: int, rows: Mapping[int, str]) -> bool:
    """Do numbered rows lead from row `at` with the number `last` to the one that ran? `way`: -1 up, 1 down."""
    gap = False
    for step in range(1, MAX_SOURCE_ROWS):
        text = rows.get(at + way * step, "")
        found = PATTERNS.numbered.match(text)
        if found is None and not PATTERNS.ellipsis.match(text):
            return False
        if found is not None:
            distance = (int(found["number"]) - last) * way
            if distance != 1 and not (gap and distance > 1):
                return False
            if found["mark"]:
                return True
            last = int(found["number"])
        gap = found is None
    return False


def _of_pytest(at: int, rows: Mapping[int, str]) -> bool:
    """Is it a row above the one that pytest marks with `>`, below which the error follows behind `E`?"""
    if not PATTERNS.pytest_source.match(rows.get(at, "")) or not rows.get(at, "").strip():
        return False
    below = at + 1
    while PATTERNS.pytest_source.match(rows.get(below, "#")):
        below += 1
    if not PATTERNS.pytest_mark.match(rows.get(below, "")):
        return False
    below += 1
    while PATTERNS.pytest_source.match(rows.get(below, "#")):  # a statement of several lines
        below += 1
    return PATTERNS.pytest_error.match(rows.get(below, "")) is not None


CODE_MARKS = (b"Traceback (most", b'File "', b"-> ", "❱".encode(), b"def ", b"import ", b"print(", NBCLIENT_ERROR)
OF_PYTEST = b"E  "  # how a line begins
HAS_CODE_MARK = ShapeTest(lambda shape: shape.startswith(OF_PYTEST) or any(map(shape.__contains__, CODE_MARKS)))


def code_lines(scan: Scan, lines: Sequence[int]) -> set[int]:
    """Those of `lines`, which rise, that are code which the log quotes, as far as the sample has them."""
    blocks = sampled_blocks(scan)
    if not any(HAS_CODE_MARK.among(block.distinct) for block in blocks):
        return set()
    found: set[int] = set()
    starts = [block.first for block in blocks]
    rows = [_Rows(block) for block in blocks]
    cells = {number for block in blocks for number in _lines_of_cells(block)}
    for number in lines:
        at = bisect_right(starts, number) - 1
        if number in cells or (at >= 0 and rows[at].get(number, "") and _is_code(number, rows[at])):
            found.add(number)
    return found


def _lines_of_cells(block: Block) -> Iterator[int]:
    """The lines of the cells that nbclient quotes, each between two rules."""
    for i in (i for i, row in enumerate(block.rows) if NBCLIENT_ERROR in row):
        rules = (n for n in range(i + 2, len(block.rows)) if PATTERNS.cell_rule.match(decode_line(block.rows[n])))
        yield from range(block.first + i + 1, block.first + next(rules, i))


class _Rows(dict[int, str]):
    """The lines of a block by their numbers, decoded where they are asked for."""

    def __init__(self, block: Block, said: Callable[[str], str] = unlabelled) -> None:
        self.block, self.said = block, said

    def get(self, number: int, default: str = "") -> str:  # type: ignore[override]
        at = number - self.block.first
        if not 0 <= at < len(self.block.rows):
            return default
        if number not in self:
            self[number] = self.said(decode_line(self.block.rows[at]))
        return self[number]


class _Neighbours(dict[int, str]):
    """What lines say, by their numbers, found out where it is asked for: mostly of two or three of some eighty."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.texts = {line.number: line.text for line in lines}

    def get(self, number: int, default: str = "") -> str:  # type: ignore[override]
        if number not in self:
            if number not in self.texts:
                return default
            self[number] = _said(self.texts[number])
        return self[number]


def _is_code(at: int, rows: Mapping[int, str]) -> bool:
    own = rows.get(at, "")
    if numbered := PATTERNS.numbered.match(own):
        return numbered["mark"] is not None or _numbered(at, rows)
    if any(form.match(own) for form in (PATTERNS.statement, PATTERNS.pytest_mark, PATTERNS.pytest_error)) or _below_frame(
        at, rows
    ):
        return True
    if PATTERNS.assignment.match(own) and any(_beside_statement(at, way, rows) for way in (-1, 1)):
        return True
    return _of_pytest(at, rows)


def _below_frame(at: int, rows: Mapping[int, str]) -> bool:
    """Is it a part of the statement below a frame of a traceback?"""
    return _rows_below_frame(at, rows) > 0


def _rows_below_frame(at: int, rows: Mapping[int, str]) -> int:
    """How many rows below a frame of a traceback it stands, as a part of the statement there; 0 for any other row."""
    least = _indent(rows.get(at, ""))
    for number in range(at - 1, at - 1 - MAX_STATEMENT_LINES, -1):
        row = rows.get(number, "")
        if frame := PATTERNS.frame_row.match(row):
            return at - number if len(frame["indent"]) < least else 0
        if not row.startswith("  "):
            return 0
        least = min(least, _indent(row))
    return 0


def _beside_statement(at: int, way: int, rows: Mapping[int, str]) -> bool:
    """Does a statement's head stand beside it, or beside the assignments next to it?"""
    for number in range(at + way, at + way * MAX_SOURCE_ROWS, way):
        row = rows.get(number, "")
        if PATTERNS.statement.match(row):
            return True
        if row.strip() and not PATTERNS.assignment.match(row):
            return False
    return False


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def is_code_line(text: str) -> bool:
    """Is it a line of code that raises, or a text in it that spans lines?"""
    return PATTERNS.code_line.match(text) is not None


def quotes(second: Observation, first: Observation) -> bool:
    """Does an exception quote the message of another one, as what a process raises for its worker's does?"""
    message, later = (str(o.fields.get("exc_message", "")) for o in (first, second))
    return len(message) >= MIN_QUOTED_CHARS and message != later and message in later
