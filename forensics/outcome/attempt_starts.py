"""The rows of a lane to those at which a further attempt begins.

    loading data / step 1 / step 2 / Killed / loading data / step 1   -> the second `loading data`
    epoch  loss  lr / 1  0.9  0.1 / epoch  loss  lr / 2  0.8  0.1     -> none: the head of a table comes again, its steps count on

A phrase that says so begins an attempt (`Resuming from checkpoint`), steps that are counted from the beginning again, and the
first lines of the program when they return, unless the steps count on across them. A first line of two words is that of many
programs; it begins an attempt behind the exception of a traceback alone.
"""

from collections import Counter
from collections.abc import Sequence

from forensics.core import lazy
from forensics.outcome.lanes import Row
from forensics.outcome.line_classes import FRAME, PROGRESS, START, TRACEBACK, TROUBLE

MAX_FORMS = 4000  # of a source; further ones are taken for neutral
BANNER_ROWS = 3  # of a lane: what a program prints first, it prints again when it is started again
MIN_SPACES = 2  # in the form of a line that few programs print
MAX_STARTS = 50  # a banner that returns more often is a line like others
# Begins with single letters, which are found five times as fast as the beginning of a word.
COUNTER_PATTERN = lazy.regex(
    r"[EeSsIiRr](?<!\w.)(?i:(?<=e)poch|(?<=s)tep|(?<=i)ter(?:ation)?|(?<=r)ound)(?i:s?)\b\W{0,4}(\d{1,9})"
)


def starts_of(rows: Sequence[Row], bits: Sequence[int]) -> tuple[list[int], list[int]]:
    """Numbers of the lines at which a further attempt begins, and of those that say so themselves. `bits`: the rows' classes."""
    if len(rows) <= BANNER_ROWS:
        return [], []
    banners, counts = _banners(rows, bits), _step_counts(rows, bits)
    ahead = _next_known(counts)
    found: list[int] = []
    explicit: list[int] = []
    highest = max((c for c in counts[:BANNER_ROWS] if c is not None), default=0)
    for i in range(BANNER_ROWS, len(rows)):
        count, upcoming = counts[i], ahead[i]
        fell = count is not None and count <= 1 and highest > 2
        goes_on = upcoming is not None and upcoming > highest > 0
        highest = highest if count is None else count
        is_explicit = bool(bits[i] & START and not bits[i] & TROUBLE) or fell
        returned = rows[i].form in banners and (rows[i].form.count(b" ") >= MIN_SPACES or _behind_exception(bits, i))
        begins = is_explicit or (returned and not goes_on)
        if begins and (not found or rows[i].number - found[-1] > BANNER_ROWS):
            found.append(rows[i].number)
            highest = count or 0  # its steps are counted from here: their first one begins no attempt more
            explicit += [rows[i].number] if is_explicit else []
    return found, explicit


def _banners(rows: Sequence[Row], bits: Sequence[int]) -> set[bytes]:
    """The forms of the first rows that come again, and are neither steps that are counted nor of a traceback."""
    first = zip(rows[:BANNER_ROWS], bits[:BANNER_ROWS], strict=True)
    banner = {r.form for r, b in first if b" " in r.form and not b & (PROGRESS | TRACEBACK | FRAME)}
    counts = Counter(r.form for r in rows if r.form in banner)
    return {form for form, n in counts.items() if 1 < n <= MAX_STARTS}


def _behind_exception(bits: Sequence[int], place: int) -> bool:
    """Is the row in front of that at `place` the exception of a traceback?"""
    return bool(bits[place - 1] & TROUBLE) and any(b & FRAME for b in bits[place - BANNER_ROWS : place - 1])


def _step_counts(rows: Sequence[Row], bits: Sequence[int]) -> list[int | None]:
    """The step or epoch that each row counts; None for those that count none, and for all of a long log."""
    if len(rows) >= MAX_FORMS:
        return [None] * len(rows)
    found = (COUNTER_PATTERN.search(r.text()) if b & PROGRESS else None for r, b in zip(rows, bits, strict=True))
    return [int(f[1]) if f else None for f in found]


def _next_known(counts: Sequence[int | None]) -> list[int | None]:
    """For each place the first count from it on."""
    last: int | None = None
    found: list[int | None] = []
    for count in reversed(counts):
        last = last if count is None else count
        found.append(last)
    return found[::-1]
