"""The last round of what a log counts again and again: does it stop short of where the rounds before it came to?

batch 0 / batch 500 / batch 1000 / val / batch 0 / batch 500 / batch 1000 / val / batch 0 / batch 500
-> "batch 500", where each round before it counted to 1000

No word names the counter: it is a whole number of like lines that takes the same values in each round. A number that does so
twice is no measurement.
"""

import functools
from collections.abc import Sequence
from itertools import pairwise

from forensics.core import lazy
from forensics.core.sampling import spread
from forensics.core.shapes import MAX_SHAPES
from forensics.core.text import decode_line
from forensics.data_files.named_parts import patterns_of
from forensics.line_formats import parse_prefix
from forensics.model import Scan
from forensics.readers.base import Block, sampled_blocks
from forensics.readers.progress.counters import Counter

MAX_ROUND_LINES = 20_000  # from the end; bounds time
LAST_KINDS_LINES = 50  # from the end: kinds of lines that were not printed there belong to an earlier part of the run
MIN_ROUND_COUNTS = 3  # of a round: two numbers that take turns are no count
MIN_WHOLE_ROUNDS = 2  # before the last one, of the same numbers
ZEROS_PATTERN = lazy.regex(rb"0+(?:\.0+)?(?:e[+-]?0+)?")
WHOLE_NUMBER_PATTERN = lazy.regex(r"\d+(?:[.:,]\d+)*(?:e[+-]?\d+)?")  # a time of day is one number, and no whole one
JUDGED_TAIL_ROWS, JUDGED_SPREAD_ROWS = 100, 100  # in which a number that counts no rounds is told from one that may
ESCAPE = 0x1B  # as a number: to look for one byte as bytes takes ten times as long
MAX_COUNT_DIGITS = 9  # as many as other counters have; a longer one is a number of something else
PATTERNS = patterns_of("rounds")


def unfinished_round(scan: Scan, first: int) -> tuple[Counter, int] | None:
    """The last count of a round that stops short, with the total of the rounds before it, and its line; None if none does.
    `first`: the line in which the attempt begins."""
    block = sampled_blocks(scan)[-1] if scan.sample else None
    if block is None:
        return None
    begin = max(0, first - block.first, len(block.rows) - MAX_ROUND_LINES)
    if len(block.rows) - begin <= MIN_ROUND_COUNTS * MIN_WHOLE_ROUNDS:
        return None
    kind_of = {shape: ZEROS_PATTERN.sub(b"0", shape) for shape in block.distinct if b"0" in shape}
    late = {kind_of[s] for s in block.shapes[-LAST_KINDS_LINES:] if s in kind_of}
    of_kind: dict[bytes, list[int]] = {kind: [] for kind in late}
    of_shape = {shape: of_kind[kind] for shape, kind in kind_of.items() if kind in of_kind}
    for i, shape in enumerate(block.shapes[begin:], begin):
        if (places := of_shape.get(shape)) is not None:
            places.append(i)
    for places in sorted(of_kind.values(), key=lambda p: -p[-1] if p else 0):
        enough = len(places) > MIN_ROUND_COUNTS * MIN_WHOLE_ROUNDS
        if enough and (found := _short_count(block, places)) is not None:
            return found, block.first + places[-1]
    return None


def _short_count(block: Block, places: Sequence[int]) -> Counter | None:
    """The count that stops short in the last of the lines at `places`, which differ only in numbers."""
    text = decode_line(block.rows[places[-1]])
    numbers = [*WHOLE_NUMBER_PATTERN.finditer(text)]
    said = len(text) - len(parse_prefix(text).message)
    counts = [i for i, m in enumerate(numbers) if m.start() >= said and _is_count(m[0])]
    tail = _columns(block, places[-JUDGED_TAIL_ROWS:], counts, len(numbers))
    wide = _columns(block, [places[i] for i in spread(len(places), JUDGED_SPREAD_ROWS)], counts, len(numbers))
    likely = [i for i, last, some in zip(counts, tail, wide, strict=False) if _may_stop_short(last, some)]
    for number, column in zip(likely, _columns(block, places, likely, len(numbers)), strict=False):
        if not all(map(_is_count, column)):
            continue
        *whole, last = _rounds([*map(int, column)])
        same = (
            len(whole) >= MIN_WHOLE_ROUNDS and all(r == whole[-1] for r in whole[1:]) and whole[0] == whole[-1][-len(whole[0]) :]
        )
        if same and MIN_ROUND_COUNTS <= len(whole[-1]) > len(last) and last == whole[-1][: len(last)]:
            start = numbers[number].start()
            named = PATTERNS.count_name.search(text[said:start])
            return Counter(named[1] if named else "", last[-1], whole[-1][-1])
    return None


def _columns(block: Block, places: Sequence[int], asked: Sequence[int], count: int) -> list[list[str]]:
    """The numbers of the lines at `places` that are `asked` by their order in a line; none if a line has not `count` of them."""
    found: list[list[str]] = []
    for i in places if asked else ():
        known, text = _places_of_numbers(block.shapes[i]), decode_line(block.rows[i])
        if known is None:
            known = tuple(slice(*m.span()) for m in WHOLE_NUMBER_PATTERN.finditer(text))
        if len(known) != count:
            return []
        found.append([text[known[at]] for at in asked])
    return [[*column] for column in zip(*found, strict=True)]


@functools.lru_cache(maxsize=MAX_SHAPES)
def _places_of_numbers(shape: bytes) -> tuple[slice, ...] | None:
    """Where numbers stand in lines of a shape; None for a line with escapes or other letters, whose text has other places."""
    if ESCAPE in shape or not shape.isascii():
        return None
    return tuple(slice(*m.span()) for m in WHOLE_NUMBER_PATTERN.finditer(shape.decode("ascii")))


def _is_count(value: str) -> bool:
    return value.isdigit() and len(value) <= MAX_COUNT_DIGITS


def _may_stop_short(tail: Sequence[str], wide: Sequence[str]) -> bool:
    """May the last round of a column stop short? `tail`: its last values; `wide`: some of all of them, in order."""
    if not all(map(_is_count, (*tail, *wide))):
        return False
    *before, last = _rounds([*map(int, tail)])
    if len(before) > 1:  # the one before it is there as a whole
        return len(last) < len(before[-1]) and last == before[-1][: len(last)]
    values = [*map(int, wide)]
    return any(a > b for a, b in pairwise(values))


def _rounds(values: Sequence[int]) -> list[list[int]]:
    """`values` divided where they begin again: [0, 1, 2], [0, 1]."""
    found: list[list[int]] = [[]]
    for value in values:
        if found[-1] and value <= found[-1][-1]:
            found.append([])
        found[-1].append(value)
    return found
