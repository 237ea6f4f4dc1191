"""How far a run had come in its last lines: the counters that they show.

Epoch 3/5, then 50/103 [=====>   ] - ETA     -> epoch 3 of 5, 50 of 103
8%|███  | 200/2515 [46:16<9:01:34            -> 200 of 2515
Training for 5000 steps, then step=2114      -> step 2114 of 5000
"""

import re
from collections.abc import Iterator, Sequence, Set

from msgspec.structs import replace

from forensics.core import lazy
from forensics.core.text import decode_line
from forensics.model import Scan
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
from forensics.readers.progress.told_ends import told_end
from forensics.readers.progress.torn_line import is_torn
from forensics.readers.sampled_lines import sampled_blocks

MAX_SEARCHED_LINES = 2000  # from the end
MAX_COUNTED_LINES = 20_000  # from the end, searched for what is counted by
CELL_END_OR_HEADING_PATTERN = lazy.regex(r"In \[[ \d]{1,6}\]:(?:$| (?:ended with |raised, ))")
RUNNING_HEADING = "In [ ]:"
BEFORE_END = "before the line with which {} always ends"
PLAN_WORDS = lazy.regex(
    rb"\btrain|\btotal |\bnum |\bepochs\W|(?:num|max|total|n|of|train)[_ -]?(?:train(?:ing)?[_ -]?)?(?:epoch|step|iter|round)"
)
MAX_READ_CHARS = 2000  # of the end of a line, which may hold all the states of a bar


def last_progress(scan: Scan, first: int) -> Progress:
    """How far the attempt that begins in line `first` had come, by its last counters, or by a record that is never the last.

    Where these tell of no end that was missed: by the count of a round that stops short, and by a line that is torn.
    """
    found = _last_counters(scan, first)
    if not found.counters or all(c.is_complete for c in found.counters):
        last = _before_end(scan, first)
        found = last if last.ended or last.line > found.line else found
    if is_torn(scan):
        return replace(found, torn=True, line=max(found.line, (scan.source.origin or int)(scan.lines)))
    told = found.before_end or (found.counters and not found.may_be_last and found.counters[0].unit not in ("", OF_EPOCH))
    short = None if told or not all(c.is_complete for c in found.counters) else unfinished_round(scan, first)
    return Progress((short[0],), (scan.source.origin or int)(short[1]), in_round=True) if short else found


def _before_end(scan: Scan, first: int) -> Progress:
    """Where the log of a program stands that always tells its end, if it did not: in its last record, or no more than begun."""
    texts = (b"'epoch'", TRAINER_END.encode())
    lines = list(lines_from_end(scan, texts, MAX_SEARCHED_LINES, first))
    number, place = next(((n, p) for n, text in lines if (p := trainer_position(text))), (0, ""))
    if place and not any(TRAINER_END in text for _, text in lines):
        return Progress(line=(scan.source.origin or int)(number), before_end=f"at {place}")
    name, begun, ended = told_end(scan)
    line = (scan.source.origin or int)(begun)
    return (
        Progress(line=line, ended=name)
        if ended
        else Progress(line=line, before_end=BEFORE_END.format(name))
        if name
        else NO_PROGRESS
    )


def _last_counters(scan: Scan, first: int) -> Progress:
    """The last counters with a total from line `first` on: the epoch, and a step of it or a bar behind it.

    If none of them shows its total, the last one of a kind that the run said a total of.
    """
    origin, inner, line = scan.source.origin or int, None, 0
    for number, text in lines_from_end(scan, COUNT_TEXTS, MAX_SEARCHED_LINES, first, only=TOTAL_PATTERN):
        named = {c.unit: c for c in positions(text) if c.total and c.unit}
        epoch = named.pop("epoch", None)
        shown = next(iter(named.values()), None) or bar_counter(text) or item_counter(text)
        if inner is None and shown and shown.total:
            inner, line = shown, origin(number)
        if epoch:
            found = _progress(scan, (epoch, inner) if inner else (epoch,), line or origin(number), first)
            return found if inner else replace(found, is_done=_is_done(scan, epoch, number, text, first))
    return _progress(scan, (inner,), line, first) if inner else _of_plan(scan, first)


def _is_done(scan: Scan, epoch: Counter, number: int, text: str, first: int) -> bool:
    """Does the line of an epoch tell results, and is it the only line of this epoch?"""
    if not RESULT_PATTERN.search(text):
        return False
    above = lines_from_end(scan, (b"epoch",), MAX_SEARCHED_LINES, first, number - 1, TOTAL_PATTERN)
    return next((c.now for _, t in above for c in named_counters(t) if c.unit == "epoch"), 0) < epoch.now


def _of_plan(scan: Scan, first: int) -> Progress:
    """The last counter of a unit whose total the run said; of several totals the one that is reached next."""
    said = lines_from_end(scan, NAMED_COUNT_TEXTS, MAX_COUNTED_LINES, first, only=PLAN_WORDS)
    plans = {(p.unit, p.total) for _, text in said if (p := planned(text))}
    for unit in sorted({unit for unit, _ in plans}):
        lines = [x for x in lines_from_end(scan, (unit.encode(),), MAX_SEARCHED_LINES, first) if not planned(x[1])]
        counted = [(number, c) for number, text in lines for c in named_counters(text) if c.unit == unit]
        if not counted or any(c.now > counted[0][1].now for _, c in counted):  # one that begins again is of a part of the run
            continue
        number, last = counted[0]
        total = min((n for of, n in plans if of == unit and n >= last.now), default=0)
        if total:
            shown = {c.now for _, c in counted}
            may_be_last = _may_exceed(last.now, total, shown if 1 in shown else {0, *shown})  # it may be counted from zero
            return Progress((replace(last, total=total),), (scan.source.origin or int)(number), may_be_last)
    return NO_PROGRESS


def running_cell(scan: Scan) -> int | None:
    """The line of the heading of the cell that ran when the notebook was saved; None if its last cell has an end."""
    headings = lines_from_end(scan, (b"in [",), MAX_COUNTED_LINES, 1)
    number, text = next(((n, t) for n, t in headings if CELL_END_OR_HEADING_PATTERN.search(t)), (0, ""))
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


def lines_from_end(
    scan: Scan, texts: Sequence[bytes], most: int, first: int, last: int | None = None, only: re.Pattern[bytes] | None = None
) -> Iterator[tuple[int, str]]:
    """(number, text) of those lines of the sample that have one of `texts`, the last one first, as a terminal shows them at last.

    `first`, `last`: between which lines, to the end if `last` is None; `most`: how many lines are searched. `texts` have no
    digits. `only`: it is found in each of the lines, in lower case, whatever digits they have.
    """
    left = most
    for block in reversed(sampled_blocks(scan)):
        start, lines = block.first, block.rows
        end = len(lines) if last is None else max(0, min(len(lines), last + 1 - start))
        begin = max(0, first - start, end - left)
        lowered = {shape: shape.lower() for shape in block.distinct}
        wanted = {shape for shape, low in lowered.items() if any(map(low.__contains__, texts)) and (not only or only.search(low))}
        for i in range(end - 1, begin - 1, -1) if wanted else ():
            if block.shapes[i] in wanted:
                yield start + i, decode_line(lines[i].rstrip(b"\r").rpartition(b"\r")[2][-MAX_READ_CHARS:])
        left -= max(0, end - begin)
        if start <= first or left <= 0:
            return
