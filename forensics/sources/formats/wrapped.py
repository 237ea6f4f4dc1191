"""Join lines that a terminal or a mail program wrapped at 70 to 80 columns, if their lengths show the wrapping.

    RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 15.78 GiB tota
    l capacity; 14.32 GiB already allocated)

    AssertionError: Check batch related parameters. train_batch_size is not
    equal to micro_batch_per_gpu * gradient_acc_step

A terminal cuts at the last column. Then no line is longer than the width, many lines have exactly that length, and most cuts are
inside a word. Lines that have that length by chance are not joined. Other programs wrap at words. Then the first word of the next
line would not fit on a line. A line that begins like a new record is never joined to the line before it.
"""

import itertools
from collections.abc import Iterator, Sequence

from forensics.core import lazy
from forensics.sources.formats.base import ISO_TIME, Format, Head, Note
from forensics.sources.lines import numbered_lines
from forensics.sources.origin import Piece

WIDTHS = range(70, 81)
MIN_WRAPPED_LINES = 3  # two lines of the same length may be chance
MIN_WRAPPED_SHARE = 0.1  # of the lines; chosen by hand: most lines of a log are shorter than the column
SHARE_INSIDE = 0.5  # of the cuts: about two of three cuts at a column are inside a word; records of one width end with words
SENTENCE_ENDS = (".", "!", "?", ")")
MIN_WORD_WRAPS = 4  # one more than MIN_WRAPPED_LINES, because wraps at words are weaker evidence than cuts inside words
MIN_WORD_WRAP_SHARE = 0.9  # of possible continuation lines; chosen by hand: one program wrapped all, so nearly all must fit
MAX_SHORTER_CHARS = 24  # a line that was wrapped at words is at most this much shorter than the width
MAX_JOINED_LINES = 40  # 2,800 characters at 70 columns; a longer run is text that fills the width
MAX_COMMON_START_CHARS = 8  # lines that begin alike (`epoch 12`, `epoch 13`) are separate records
CHARS_TO_ZEROS = str.maketrans("123456789", "000000000")
STAMPS = rf"{ISO_TIME}|\w{{3}} [ \d]\d \d\d:\d\d:\d\d|[IWEF]\d{{4}} |\d+:\d\d"
RECORD_START_WORDS = r"Traceback|(?:\w+\.)*\w+(?:Error|Exception|Warning): |(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\b|\S+:\d+:|\w+="
RECORD_START_PATTERN = lazy.regex(rf"\A(?:\s|[\x1b\[<{{|>*=+#$-]|{STAMPS}|{RECORD_START_WORDS})")

TABLE_PATTERN = lazy.regex(r"\S {3,}\S")


def begins_record(line: str, following: str) -> bool:
    """Does `following` begin like a new record, or with the same characters as `line` (all digits count as equal)?"""
    alike = (
        line[:MAX_COMMON_START_CHARS].translate(CHARS_TO_ZEROS) == following[:MAX_COMMON_START_CHARS].translate(CHARS_TO_ZEROS)
        and line[:1].isalpha()
    )
    return alike or bool(RECORD_START_PATTERN.match(following))


def _cut(width: int, line: str, following: str) -> bool:
    """May `following` be the rest of `line`, which was cut at the last column?"""
    if len(line) != width or not following or (line.endswith(SENTENCE_ENDS) and following[0].isupper()):
        return False
    return not (begins_record(line, following) or TABLE_PATTERN.search(line))


def _no_end(line: str, following: str) -> bool:
    """Does a word continue on the next line, or does the line end with a space? Programs do not usually end lines so."""
    return line[-1] == " " or (
        line[-1].isalnum() and following[0].isalnum() and not (line[-1].islower() and following[0].isupper())
    )


def _worded(width: int, line: str, following: str) -> bool:
    """May `following` continue `line`, which was wrapped because the next word did not fit?"""
    if (
        len(line) < width - MAX_SHORTER_CHARS
        or not width
        or not following
        or begins_record(line, following)
        or TABLE_PATTERN.search(line)
    ):
        return False
    return len(line) + 1 + len(following.split(" ", 1)[0]) > width


def _wrapping(lines: Sequence[str]) -> tuple[int, bool]:
    """The width at which `lines` were wrapped, and whether they were wrapped at words; the width is 0 if they were not."""
    width = max(map(len, lines), default=0)
    if width not in WIDTHS:
        return 0, False
    pairs = [(a, b) for a, b in itertools.pairwise(lines) if a.strip()]
    cut = [(a, b) for a, b in pairs if _cut(width, a, b)]
    inside = sum(_no_end(a, b) for a, b in cut)
    if len(cut) >= MIN_WRAPPED_LINES and len(cut) >= MIN_WRAPPED_SHARE * len(pairs) and inside >= SHARE_INSIDE * len(cut):
        return width, False
    going_on = [(a, b) for a, b in pairs if b and not RECORD_START_PATTERN.match(b)]
    worded = sum(_worded(width, a, b) for a, b in going_on)
    return (width, True) if worded >= MIN_WORD_WRAPS and worded >= MIN_WORD_WRAP_SHARE * len(going_on) else (0, False)


def _decode(blocks: Iterator[bytes], note: Note) -> Iterator[Piece]:
    first = next(blocks, b"")
    width, words = _wrapping(Head(first[: 64 << 10], len(first) < 64 << 10).lines)
    if width:  # the text by which the format was recognised may have been shorter than this block
        note("unwrapped", f"its lines were wrapped at {width} columns; they were joined again", None)
    goes_on, glue = (_worded, " ") if words else (_cut, "")
    start, parts = 0, list[str]()
    for number, raw in numbered_lines(itertools.chain((first,), blocks)):
        line = raw.decode("utf-8", "replace")
        if parts and len(parts) < MAX_JOINED_LINES and goes_on(width, parts[-1], line):
            parts.append(line)
            continue
        if parts:
            yield start, 1, glue.join(parts).encode("utf-8", "replace")
        start, parts = number, [line]
    if parts:
        yield start, 1, glue.join(parts).encode("utf-8", "replace")


SAMPLE = b"".join(b"x" * 79 + b"\n" + b"y" * 20 + b"\n" for _ in range(4))
FORMATS = (Format("wrapped", lambda head: _wrapping(head.lines)[0] > 0, _decode, SAMPLE, plain=True, rank=95),)
