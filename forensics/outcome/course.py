"""The course of a lane: the positions that its lines count up - where they grow, whether the last attempt reached its end - and
the line with which a program says that what it was asked for is over, and well.

Epoch 1/3 / bad sample: index 4 is out of bounds / Epoch 2/3 / Epoch 3/3
-> behind the second line the position grows twice; it reaches its end in the last line
step 4520/20000 / stopping early: time is up / final val_loss 0.97          -> final val_loss 0.97
epoch 1 / best model saved / epoch 2 / best model saved                     -> none: each epoch ends so
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from forensics.model import Line
from forensics.outcome.digest import MIN_TEMPLATE_CHARS, NOT_WORK_CLASSES
from forensics.readers.lanes.line_classes import FRAME, GOES_ON, NOT_AN_END, PROGRESS, TRACEBACK, TROUBLE
from forensics.readers.lanes.rows import Rows
from forensics.readers.progress.counters import OF_EPOCH, Counter, closes_run, positions, says_done

MAX_COURSE_ROWS = 20_000  # bounds time: rows before these have no position


class Course:
    """The positions of the rows of a lane. `bits`: the classes of each row. `starts`: the indices at which attempts begin."""

    def __init__(self, rows: Rows, bits: Sequence[int], starts: Sequence[int]) -> None:
        self.rows, self.bits, self.starts = rows, bits, starts
        first = max(0, len(rows) - MAX_COURSE_ROWS)
        none: list[Counter] = []
        self.counters = [none] * len(rows)
        for i in (i for i, b in enumerate(bits) if b & PROGRESS and not b & TROUBLE and i >= first):
            self.counters[i] = positions(rows[i].said())
        self._grown_before = [*accumulate(self._growth(), initial=0)]

    def _growth(self) -> list[int]:
        """For each row, 1 if a position of it is greater than the last one of its kind in the same attempt."""
        last: dict[tuple[str, int], int] = {}
        found, begins = [0] * len(self.rows), {*self.starts}
        for i in sorted(begins.union(i for i, row in enumerate(self.counters) if row)):
            if i in begins:
                last = {}
            row = self.counters[i] if i < len(self.rows) else []
            if any(c.now > last.get((c.unit, c.total), c.now) for c in row):
                found[i] = 1
            last |= {(c.unit, c.total): c.now for c in row}
        return found

    def grown_after(self, at: int) -> int:
        """How often a position grows from the row at index `at` to the end of its attempt."""
        later = bisect_right(self.starts, max(at - 1, 0))
        end = self.starts[later] if later < len(self.starts) else len(self.rows)
        return self._grown_before[max(end, at)] - self._grown_before[at]

    def first_position(self) -> int:
        """The number of the line with the first position; 0 where none has one."""
        return next((self.rows.numbers[i] for i, row in enumerate(self.counters) if row), 0)

    def last_position(self) -> tuple[Line | None, bool]:
        """The line with the last position of the last attempt, None if there is none or trouble stands behind it; is it the
        end?

        Trouble that was printed before, while the position grew, is no sign of an end; nor is trouble behind the end, if the
        program did behind it what it had done while it counted."""
        first = self.starts[-1] if self.starts else 0
        shown = [i for i in range(first, len(self.rows)) if self.counters[i]]
        if not shown:
            return None, False
        last = shown[-1]
        trouble = next((i for i in range(len(self.rows) - 1, last, -1) if self._is_trouble(i, last)), last)
        totals = {c.unit: c for i in shown for c in self.counters[i] if c.total and c.unit}
        of_last = next((self.counters[i] for i in reversed(shown) if any(c.total for c in self.counters[i])), [])
        full = [c for c in (*of_last, *totals.values()) if c.total]
        beyond = max((c.now for c in self.counters[last] if not c.total), default=0) > max((c.total for c in full), default=0)
        complete = all(c.is_complete for c in full) and any(c.unit != OF_EPOCH for c in full) and not beyond
        if trouble > last and not (complete and self._worked_behind(trouble, last)):
            return None, False
        return Line(self.rows[last].number, self.rows[last].text()), complete

    def _worked_behind(self, trouble: int, last: int) -> bool:
        """Does a row behind `trouble` repeat one of those up to `last`, with more than blanks and signs in it?"""
        known = set(self.rows.templates[: last + 1])
        behind = range(trouble + 1, len(self.rows))
        return any(
            self.rows.templates[i] in known
            and len(self.rows.templates[i]) > MIN_TEMPLATE_CHARS
            and not self.bits[i] & NOT_WORK_CLASSES
            for i in behind
        )

    def _is_trouble(self, at: int, last: int) -> bool:
        """Is the row at index `at` trouble that was not printed before the row at index `last`, too?"""
        bits = self.bits[at]
        if not bits & TRACEBACK and (not bits & TROUBLE or bits & NOT_AN_END):
            return False
        return bool(bits & TRACEBACK) or self.rows.templates[at] not in self.rows.templates[:last]


MAX_ROWS_OF_END = 500  # bounds time: what a program prints from its last words on, a table of results, the end of its launcher
MAX_ALIKE = 1000  # bounds time: lines of one kind that are looked at, of which only the last one may say so


def closing_line(rows: Rows, bits: Sequence[int], first: int) -> Line | None:
    """The last such line of the attempt that begins with the row at index `first`; None if there is none.

    It is the first of its kind in the attempt, and no kind of line that the program printed while it worked stands behind it.
    `bits`: the classes of each row.
    """
    if not any(shape.may_close() for shape in set(rows.shapes)):
        return None
    templates, least = rows.templates, max(first, len(rows) - MAX_ROWS_OF_END)
    work = len(rows)  # the index of the first row of those kinds of work that stand behind
    for i in range(len(rows) - 1, least - 1, -1):
        if work < least:
            return None
        begun = templates.index(templates[i], first)
        if i <= work and not bits[i] & (TROUBLE | FRAME) and closes_run(rows[i].said()):
            alike = [j for j in range(begun, i) if templates[j] == templates[i]]
            if len(alike) <= MAX_ALIKE and not any(closes_run(rows[j].said()) for j in alike):
                return Line(rows[i].number, rows[i].text())
        if bits[i] & PROGRESS and not bits[i] & TROUBLE:
            work = min(work, begun)
    return None


def says_farewell(rows: Rows, bits: Sequence[int], first: int) -> bool:
    """Is the last line of the attempt that begins at index `first` the first of its kind, and does it say that work is done?"""
    last = len(rows) - 1
    alone = last > first and rows.templates.index(rows.templates[last], first) == last
    return alone and not bits[last] & (TROUBLE | FRAME | GOES_ON) and says_done(rows[last].said())
