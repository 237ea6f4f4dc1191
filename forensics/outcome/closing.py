"""The line with which a program says that what it was asked for is over, and well.

step 4520/20000 / stopping early: time is up / final val_loss 0.97          -> final val_loss 0.97
epoch 1 / best model saved / epoch 2 / best model saved                     -> none: each epoch ends so
"""

from collections.abc import Sequence

from forensics.model import Line
from forensics.readers.lanes.line_classes import FRAME, PROGRESS, TROUBLE
from forensics.readers.lanes.rows import Rows
from forensics.readers.progress.run_words import closes_run

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
