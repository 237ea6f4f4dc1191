"""The lines around the one that decided, in parts: what is shown, and the frames of libraries, which are folded."""

from itertools import groupby

from msgspec import Struct

from forensics.model import QuotedLine, Report

MIN_FOLDED_LINES = 3  # chosen by hand: the heading of a fold takes as much room as two lines


class Part(Struct, frozen=True):
    """Lines that follow one another. `folded`: they are frames of libraries. `decided`: which of them decided, -1 if none did."""

    lines: tuple[QuotedLine, ...]
    folded: bool = False
    decided: int = -1


def parts_around(report: Report) -> list[Part]:
    """The lines around the first evidence line of the first cause; empty if they are not known."""
    first = next(iter(report.causes[0].evidence), None)
    if first is None or not any((x.line, x.text) == (first.line, first.text) for x in report.around):
        return []
    runs = [(library, tuple(same)) for library, same in groupby(report.around, key=lambda x: x.library)]
    joined: list[tuple[bool, tuple[QuotedLine, ...]]] = []
    for library, rows in runs:
        folded = library and len(rows) >= MIN_FOLDED_LINES
        if joined and not folded and not joined[-1][0]:
            joined[-1] = False, joined[-1][1] + rows
        else:
            joined.append((folded, rows))
    return [Part(rows, folded, _place(rows, first.line, first.text)) for folded, rows in joined]


def _place(rows: tuple[QuotedLine, ...], line: int, text: str) -> int:
    return next((i for i, x in enumerate(rows) if (x.line, x.text) == (line, text)), -1)
