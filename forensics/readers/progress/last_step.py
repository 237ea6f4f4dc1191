"""How a log ends: how far the run had come, whether the last line is torn, and whether an end is missing that is always told.

How far the run had come:

Epoch 3/5, then 50/103 [=====>   ] - ETA     -> epoch 3 of 5, 50 of 103
8%|███  | 200/2515 [46:16<9:01:34            -> 200 of 2515
Training for 5000 steps, then step=2114      -> step 2114 of 5000

Is the last line of a log torn: the beginning of a line as the program wrote others, without its end?

    sample processed in 506.13s / sample processed in 246.83s / sample processed in 2       -> torn
    ...| 647/2106 [01:05<02:27,  9.86it/s] / ...| 648/2106 [01:05<02:31,  9.64it/s] / ...|  -> torn
    Done                                                                                    -> not torn

What a kill or a full disk interrupts in the middle of a buffer ends so. A whole last line without a line end is nothing unusual.

Programs that always tell their end, of whose log the end is missing: it breaks off, whatever its last lines are.

LAMMPS (22 Jul 2025) / ... / 12000  0.99995194  -8.6131621     -> LAMMPS has begun and tells of no end
LAMMPS (22 Jul 2025) / ... / Total wall time: 18:07:28         -> none

With which texts each of them begins its log, ends it well and ends it otherwise is a table, signatures/tables/told_ends.csv; of
an end that is a line of its own it has `=End`. Some say the same of a good end and of a bad one: theirs is no good end.
"""

import functools
import re
from collections.abc import Iterator, Sequence, Set
from itertools import pairwise

from msgspec.structs import replace

from forensics.core import lazy
from forensics.core.shapes import ShapeTest
from forensics.core.text import DIGITS_TO_ZEROS, decode_line
from forensics.data_files.named_parts import patterns_of
from forensics.database import read_rows
from forensics.model import Scan
from forensics.readers.base import sampled_blocks
from forensics.readers.progress.counters import (
    COUNT_TEXTS,
    NAMED_COUNT_TEXTS,
    NO_PROGRESS,
    OF_EPOCH,
    RESULT_PATTERN,
    TOTAL_PATTERN,
    TRAINER_END,
    Counter,
    Progress,
    bar_counter,
    item_counter,
    named_counters,
    planned,
    positions,
    trainer_position,
)
from forensics.readers.progress.rounds import unfinished_round

MAX_LIKE_LINES = 200  # from the end, in which the whole lines are looked for
LAST_FRAMES = 5  # from the end: what an interpreter prints while it ends stands behind the last bar
MIN_LIKE_LINES = 3  # that begin as the torn one does
MAX_FRAME_BYTES = 2000  # bounds time
MIN_TORN_CHARS = 4  # a few signs at a line's beginning are those of many kinds of lines
DIGIT_RUNS_PATTERN = lazy.regex(r"\d+(?:\.\d*)?")
FRACTION_PATTERN = lazy.regex(r"(?<![\d/.:-])(\d{1,9})\s?/\s?(\d{1,9})(?![\d/.:])")
BAR_PATTERN = lazy.regex("[ #=>.\u2580-\u258f\u2501\u257a]+")  # what a bar is drawn with


def is_torn(scan: Scan) -> bool:
    """Is the last line of the source the beginning of several like lines before it, and nowhere a whole line?"""
    if not scan.sample or scan.sample[-1][1].endswith(b"\n"):
        return False
    rows = sampled_blocks(scan)[-1].rows[-MAX_LIKE_LINES:]
    frames = [frame for row in rows for frame in row.rstrip(b"\r").split(b"\r")][-MAX_LIKE_LINES:]
    kinds = [_kind(frame) for frame in frames if frame.strip()]
    last = kinds.pop() if kinds else ""
    if len(last) < MIN_TORN_CHARS or last in kinds:
        return False
    return sum(kind.startswith(last) for kind in kinds) >= MIN_LIKE_LINES


def _kind(frame: bytes) -> str:
    """What all lines of one statement have in common: numbers are zeros, and how far a bar is drawn is left out."""
    text = decode_line(frame[:MAX_FRAME_BYTES]).rstrip("\ufffd")  # of a character that is torn itself
    return BAR_PATTERN.sub(" ", DIGIT_RUNS_PATTERN.sub("0", text))


WHOLE_LINE = b"="


@functools.cache
def _table() -> tuple[tuple[str, bytes, tuple[bytes, ...], tuple[bytes, ...]], ...]:
    """Of each program its name, the text that it begins with, the texts of a good end, and those of any other."""
    rows = read_rows("told_ends")
    return tuple((r["program"], r["begins"].encode(), _texts(r["ends_well"]), _texts(r["ends_otherwise"])) for r in rows)


def _texts(ends: str) -> tuple[bytes, ...]:
    return tuple(text.encode() for text in ends.split("|") if text)


def told_end(scan: Scan) -> tuple[str, int, bool]:
    """The last program of the table that begins in it, the line, and whether it tells of a good end. One that tells of no end is
    preferred; "", 0, False if there is none, or if it ended otherwise."""
    blocks = sampled_blocks(scan)
    shapes = b"\n".join(shape for block in blocks for shape in block.distinct)
    known = [row for row in _table() if row[1].translate(DIGITS_TO_ZEROS) in shapes]
    begun: dict[str, int] = {}
    ended: dict[str, int] = {}
    for block in blocks if known else ():
        for number, raw in enumerate(block.rows, block.first):
            for name, begins, well, otherwise in known:
                if begins in raw:
                    begun[name] = number
                elif name in begun and _tells(raw, well):
                    ended[name] = begun.pop(name)
                elif name in begun and _tells(raw, otherwise):
                    del begun[name]
    name, line = max((begun or ended).items(), key=lambda b: b[1], default=("", 0))
    return name, line, bool(name and not begun)


def _tells(raw: bytes, ends: tuple[bytes, ...]) -> bool:
    return any(raw.strip() == end[1:] if end.startswith(WHOLE_LINE) else end in raw for end in ends)


MAX_SEARCHED_LINES = 2000  # from the end
MAX_COUNTED_LINES = 20_000  # from the end, searched for what is counted by
PATTERNS = patterns_of("last step")
RUNNING_HEADING = "In [ ]:"
BEFORE_END = "before the line with which {} always ends"
PLAN_WORDS = lazy.regex(
    rb"\btrain|\btotal |\bnum |\bepochs\W|(?:num|max|total|n|of|train)[_ -]?(?:train(?:ing)?[_ -]?)?(?:epoch|step|iter|round)"
)
MAX_READ_CHARS = 2000  # of the end of a line, which may hold all the states of a bar


def last_progress(scan: Scan, first: int) -> Progress:
    """How far the attempt that begins in line `first` had come, by its last counters, or by a record that is never the last.
    Where these tell of no end that was missed: by the count of a round that stops short, and by a line that is torn."""
    found = _last_counters(scan, first)
    if not found.counters or all(c.is_complete for c in found.counters):
        last = _before_end(scan, first)
        found = last if last.ended or last.line > found.line else found
    if is_torn(scan):
        return replace(found, torn=True, line=max(found.line, scan.source.number_of(scan.lines)))
    told = found.before_end or (found.counters and not found.may_be_last and found.counters[0].unit not in ("", OF_EPOCH))
    short = None if told or not all(c.is_complete for c in found.counters) else unfinished_round(scan, first)
    return Progress((short[0],), scan.source.number_of(short[1]), in_round=True) if short else found


def _before_end(scan: Scan, first: int) -> Progress:
    """Where the log of a program stands that always tells its end, if it did not: in its last record, or no more than begun."""
    texts = (b"'epoch'", TRAINER_END.encode())
    lines = list(lines_from_end(scan, texts, MAX_SEARCHED_LINES, first))
    number, place = next(((n, p) for n, text in lines if (p := trainer_position(text))), (0, ""))
    if place and not any(TRAINER_END in text for _, text in lines):
        return Progress(line=scan.source.number_of(number), before_end=f"at {place}")
    name, begun, ended = told_end(scan)
    line = scan.source.number_of(begun)
    return (
        Progress(line=line, ended=name)
        if ended
        else Progress(line=line, before_end=BEFORE_END.format(name))
        if name
        else NO_PROGRESS
    )


def _last_counters(scan: Scan, first: int) -> Progress:
    """The last counters with a total from line `first` on: the epoch, and a step of it or a bar behind it. If none of them shows
    its total, the last one of a kind that the run said a total of."""
    inner, line = None, 0
    for number, text in lines_from_end(scan, COUNT_TEXTS, MAX_SEARCHED_LINES, first, only=TOTAL_PATTERN, counted=True):
        if inner and "epoch" not in text.lower():
            continue
        named = {c.unit: c for c in positions(text) if c.total and c.unit}
        epoch = named.pop("epoch", None)
        shown = next(iter(named.values()), None) or bar_counter(text) or item_counter(text)
        if inner is None and shown and shown.total:
            inner, line = shown, scan.source.number_of(number)
        if epoch:
            found = _progress(scan, (epoch, inner) if inner else (epoch,), line or scan.source.number_of(number), first)
            return found if inner else replace(found, is_done=_is_done(scan, epoch, number, text, first))
    if inner:
        return _progress(scan, (inner,), line, first)
    found = _of_plan(scan, first)
    return found if found.counters else _of_fraction(scan, first)


def _is_done(scan: Scan, epoch: Counter, number: int, text: str, first: int) -> bool:
    """Does the line of an epoch tell results, and is it the only line of this epoch?"""
    if not RESULT_PATTERN.search(text):
        return False
    above = lines_from_end(scan, (b"epoch",), MAX_SEARCHED_LINES, first, number - 1, TOTAL_PATTERN)
    return next((c.now for _, t in above for c in named_counters(t) if c.unit == "epoch"), 0) < epoch.now


def _of_plan(scan: Scan, first: int, above: bool = False) -> Progress:
    """The last counter of a unit whose total the run said; of several totals the one that is reached next.

    `above`: the run said it above the attempt, which begins where the count begins again; then it is only known to fall short.
    """
    said = lines_from_end(scan, NAMED_COUNT_TEXTS, MAX_COUNTED_LINES, 1 if above else first, only=PLAN_WORDS)
    plans = {(p.unit, p.total) for _, text in said if (p := planned(text))}
    for unit in sorted({unit for unit, _ in plans}):
        lines = lines_from_end(scan, (unit.encode(),), MAX_COUNTED_LINES if above else MAX_SEARCHED_LINES, first)
        counted = [(n, c) for n, text in lines if not planned(text) for c in named_counters(text) if c.unit == unit]
        if not counted or any(c.now > counted[0][1].now for _, c in counted):  # one that begins again is of a part of the run
            continue
        number, last = counted[0]
        total = min((n for of, n in plans if of == unit and n >= last.now), default=0)
        shown = {c.now for _, c in counted}
        may_be_last = _may_exceed(last.now, total, shown if 1 in shown else {0, *shown})  # it may be counted from zero
        if total and not (above and (may_be_last or _begins_late(shown))):
            return Progress((replace(last, total=total),), scan.source.number_of(number), may_be_last)
    return NO_PROGRESS if above or first == 1 else _of_plan(scan, first, above=True)


def _begins_late(shown: Set[int]) -> bool:
    """Is the first count farther from zero than from the second one?"""
    first, second = (sorted(shown) * 2)[:2]
    return first > max(1, second - first)


def _of_fraction(scan: Scan, first: int) -> Progress:
    """The last `n/N` of the last lines that grew in like lines before it, whatever it is called."""
    block = sampled_blocks(scan)[-1] if scan.sample else None
    rows = block.rows[max(0, first - block.first) :][-MAX_LIKE_LINES:] if block else ()
    frames = [frame for row in rows for frame in row.rstrip(b"\r").split(b"\r") if frame.strip()][-MAX_LIKE_LINES:]
    last = [place for frame in reversed(frames[-LAST_FRAMES:]) for place in _fractions(frame)]
    grown: dict[tuple[str, int, int], list[int]] = {}
    for frame in frames if last and len(frames) > MIN_LIKE_LINES else ():
        for place, count in _fractions(frame):
            grown.setdefault(place, []).append(count)
    for place, _ in last:
        counts = grown.get(place, [])
        if len(counts) > MIN_LIKE_LINES and all(a < b for a, b in pairwise(counts)):
            counter = Counter("", counts[-1], place[2])
            is_last = counter.now + counts[-1] - counts[-2] >= counter.total  # it may be counted from zero
            return Progress((counter,), scan.source.number_of(scan.lines), is_last)
    return NO_PROGRESS


def _fractions(frame: bytes) -> Iterator[tuple[tuple[str, int, int], int]]:
    """Each `n/N` of a line: the kind of the line, which of its fractions it is and N, and n."""
    for i, found in enumerate(FRACTION_PATTERN.finditer(decode_line(frame[:MAX_FRAME_BYTES]))):
        yield (_kind(frame), i, int(found[2])), int(found[1])


def running_cell(scan: Scan) -> int | None:
    """The line of the heading of the cell that ran when the notebook was saved; None if its last cell has an end."""
    headings = lines_from_end(scan, (b"in [",), MAX_COUNTED_LINES, 1)
    number, text = next(((n, t) for n, t in headings if PATTERNS.cell_end_or_heading.search(t)), (0, ""))
    return number if text.endswith(RUNNING_HEADING) else None


def _progress(scan: Scan, counters: tuple[Counter, ...], line: int, first: int) -> Progress:
    return Progress(counters, line, all(c.is_complete or _may_be_last(scan, c, first) for c in counters))


def _may_be_last(scan: Scan, counter: Counter, first: int) -> bool:
    """Would the next count go beyond the total: `epoch 9/10` behind `epoch 0/10`, `step 1150/1184` where each 50th is shown?"""
    if not counter.unit:  # a bar is drawn once more when it is full
        return False
    named_by = counter.unit.encode(), b"epoch"  # `Epoch: [5][128/500]` does not name the batch
    lines = lines_from_end(scan, named_by, MAX_COUNTED_LINES, first, only=TOTAL_PATTERN)
    alike = {c.now for _, text in lines for c in positions(text) if (c.unit, c.total) == (counter.unit, counter.total)}
    return _may_exceed(counter.now, counter.total, alike)


def _may_exceed(now: int, total: int, alike: Set[int]) -> bool:
    """Would the count behind `now`, by the stride of those that were shown, be beyond `total`?"""
    before = [n for n in alike if n < now]
    stride = now - max(before) if before else 0
    return now + stride > total - (0 in alike)


@functools.lru_cache(maxsize=32)  # searches, of which a log has some ten
def _wanted_shapes(texts: tuple[bytes, ...], only: re.Pattern[bytes] | None, counted: bool) -> ShapeTest:
    """Of shapes of lines, is it one that lines_from_end() is asked for?"""

    def is_wanted(shape: bytes) -> bool:
        low = shape.lower()
        if not any(map(low.__contains__, texts)) or (only and only.search(low) is None):
            return False
        return not counted or _has_counter(_shown(shape))

    return ShapeTest(is_wanted)


def _has_counter(text: str) -> bool:
    """Is there a counter of any kind in the line? It does not depend on which digits the line has."""
    return bool(positions(text)) or bar_counter(text) is not None or item_counter(text) is not None


def _shown(raw: bytes) -> str:
    """The text of a line as a terminal shows it at last."""
    return decode_line(raw.rstrip(b"\r").rpartition(b"\r")[2][-MAX_READ_CHARS:])


def lines_from_end(
    scan: Scan,
    texts: Sequence[bytes],
    most: int,
    first: int,
    last: int | None = None,
    only: re.Pattern[bytes] | None = None,
    counted: bool = False,
) -> Iterator[tuple[int, str]]:
    """(number, text) of those lines of the sample that have one of `texts`, the last one first, as a terminal shows them at last.

    `first`, `last`: between which lines, to the end if `last` is None; `most`: how many lines are searched. `texts` have no
    digits. `only`: it is found in each of the lines, in lower case, whatever digits they have. `counted`: only lines with a
    counter.
    """
    left, is_wanted = most, _wanted_shapes((*texts,), only, counted)
    for block in reversed(sampled_blocks(scan)):
        start, lines = block.first, block.rows
        end = len(lines) if last is None else max(0, min(len(lines), last + 1 - start))
        begin = max(0, first - start, end - left)
        wanted = is_wanted.among(block.distinct)
        for i in range(end - 1, begin - 1, -1) if wanted else ():
            if block.shapes[i] in wanted:
                yield start + i, _shown(lines[i])
        left -= max(0, end - begin)
        if start <= first or left <= 0:
            return
