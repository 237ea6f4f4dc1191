"""The timeline as a drawing: one row a source, marks where something happened, lines between what belongs together.

Positions along time are shares of the width, so the same drawing fits a telephone and a wall. Times of clocks that cannot be
compared get drawings of their own.
"""

from collections import defaultdict
from datetime import datetime, timedelta

from msgspec import Struct

from forensics.model import Moment, Report

ROWS = 24
ROW_HEIGHT = 46
MARGIN = 0.04  # of the width, at both ends
TICKS = 4
NAMES_OF_CLOCKS = {"wall": "time of day", "mono": "time since the machine was started"}


class Mark(Struct, frozen=True):
    """One moment in the drawing. `at`: 0 to 1 inside the window that is shown first; outside it, less or more."""

    at: float
    y: int
    role: str
    moment: Moment
    number: int


class Lane(Struct, frozen=True):
    """One row: the source's name above its line at height `y`."""

    name: str
    y: int


class Drawing(Struct, frozen=True):
    """Everything that shares a clock. `start`, `seconds`: the window that is shown first."""

    clock: str
    start: datetime
    seconds: float
    lanes: tuple[Lane, ...]
    marks: tuple[Mark, ...]
    links: tuple[tuple[Mark, Mark], ...]
    ticks: tuple[tuple[float, str], ...]
    left_out: int

    @property
    def height(self) -> int:
        """In pixels, without the scale."""
        return len(self.lanes) * ROW_HEIGHT + 8


def drawings(report: Report) -> list[Drawing]:
    """A drawing for each clock on which something happened, that of the first incident first."""
    by_clock: dict[str, list[tuple[int, Moment]]] = defaultdict(list)
    for number, moment in enumerate(report.timeline):
        if moment.time:
            by_clock[moment.lane].append((number, moment))
    return [_drawing(report, clock, moments) for clock, moments in by_clock.items()]


def _drawing(report: Report, clock: str, moments: list[tuple[int, Moment]]) -> Drawing:
    first = report.incidents[0].events if report.incidents else 0
    of_first = [m.time for n, m in moments if n < first and m.time] or [m.time for _, m in moments if m.time]
    start, seconds = _window(min(of_first), max(of_first))
    names = list(dict.fromkeys(m.source for _, m in sorted(moments, key=_importance)))
    lanes = tuple(Lane(name, 30 + i * ROW_HEIGHT) for i, name in enumerate(names[:ROWS]))
    rows = {lane.name: lane.y for lane in lanes}
    marks = tuple(_mark(n, m, start, seconds, rows) for n, m in moments if m.source in rows)
    return Drawing(clock, start, seconds, lanes, marks, _links(report, marks), _ticks(start, seconds), len(names) - len(lanes))


def _importance(numbered: tuple[int, Moment]) -> tuple[int, int]:
    return ("root", "contributing", "symptom", "noise").index(numbered[1].role), numbered[0]


def _window(start: datetime, end: datetime) -> tuple[datetime, float]:
    """A little more than from start to end, one second at least."""
    seconds = max(1.0, (end - start).total_seconds())
    return start - timedelta(seconds=seconds * MARGIN), seconds * (1 + 2 * MARGIN)


def _mark(number: int, moment: Moment, start: datetime, seconds: float, rows: dict[str, int]) -> Mark:
    at = (moment.time - start).total_seconds() / seconds if moment.time else 0.0
    return Mark(round(at, 5), rows[moment.source], moment.role, moment, number)


def _links(report: Report, marks: tuple[Mark, ...]) -> tuple[tuple[Mark, Mark], ...]:
    """From the first mark of the first cause to the first mark of each of its symptoms."""
    first: dict[str, Mark] = {}
    incident = report.incidents[0].events if report.incidents else 0
    for mark in marks:
        if mark.moment.cause and mark.number < incident:
            first.setdefault(mark.moment.cause, mark)
    root = first.get(report.causes[0].id)
    return tuple((root, m) for c, m in first.items() if m.role == "symptom") if root else ()


def _ticks(start: datetime, seconds: float) -> tuple[tuple[float, str], ...]:
    fine = seconds < 10 * TICKS
    ticks = []
    for i in range(TICKS + 1):
        time = start + timedelta(seconds=seconds * i / TICKS)
        ticks.append((i / TICKS, time.strftime("%H:%M:%S") + (f".{time.microsecond // 100_000}" if fine else "")))
    return tuple(ticks)
