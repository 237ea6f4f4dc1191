"""The timeline as a drawing: rows of sources, marks where something happened, arrows from the cause to what followed from it.

Positions in time are shares of the width, so the same drawing fits any screen. Clocks that cannot be compared get separate
drawings. The logs of 63 ranks with the same causes are one row: "rank01.log and 62 more".
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from forensics.model import Report, TimelineEntry
from forensics.report.phrases import NO_CAUSE, shows_no_crash

MAX_TIMELINE_LANES = 24  # eight nodes with three logs each; drawn at ROW_HEIGHT they are a page high
ROW_HEIGHT = 46  # units of the drawing: a mark, its label and room for a second label
TIMELINE_MARGIN_SHARE = 0.04  # of the width, at both ends
MAX_TICKS = 6  # chosen by hand: every second one fits under the drawing on a phone
TICK_STEPS_S = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 21600, 43200)  # round times
DAY_S = 86400.0  # of ticks that are a day or more apart, the date is told
MIN_SIMILAR_LANES = 3  # chosen by hand: so many sources with the same causes share one row
MIN_ARROW_SHARE = 0.02  # of the width: an arrow that is shorter than its head has no direction
NAMES_OF_CLOCKS = {"wall": "time of day", "mono": "time since the machine was started"}
ORDER_OF_MARKS = ("root", "symptom", "contributing", "noise")  # of two at one place the story's own is drawn
MARK_SHAPES = {  # paths around the point of a mark
    "root": "M-7-7H7V7H-7Z",
    "contributing": "M0-8L8 6H-8Z",
    "symptom": "M-7 0A7 7 0 1 1 7 0A7 7 0 1 1-7 0Z",
    "noise": "M0-5V5",
}
Numbered = tuple[int, TimelineEntry]


class Mark(Struct, frozen=True):
    """One moment in the drawing. `at`: 0 to 1 inside the window that is shown first; outside it, less or more.

    `count`: how many moments of alike sources stand at that place; the others are not drawn again.
    """

    at: float
    y: int
    role: str
    moment: TimelineEntry
    number: int
    count: int = 1


class Arrow(Struct, frozen=True):
    """From the cause `start` down or up to the row of its consequence `end`, then along that row.

    `head`: the path of its tip; empty where the stamps of two clocks do not tell which was first.
    """

    start: Mark
    end: Mark
    head: str


class Lane(Struct, frozen=True):
    """One row: the name of its source above its line at height `y`. `more`: how many further sources share it."""

    name: str
    y: int
    more: int = 0


class Drawing(Struct, frozen=True):
    """Everything that shares a clock. `start`, `seconds`: the window that is shown first."""

    clock: str
    start: datetime
    seconds: float
    lanes: tuple[Lane, ...]
    marks: tuple[Mark, ...]
    arrows: tuple[Arrow, ...]
    ticks: tuple[tuple[float, str], ...]
    left_out: int

    @property
    def height(self) -> int:
        """The height in pixels, without the scale."""
        return len(self.lanes) * ROW_HEIGHT + 8


def drawings(report: Report) -> list[Drawing]:
    """A drawing for each clock on which something happened, that of the first incident first. One of a single mark is left out:
    it tells no more than the time does. In a run that failed, signs of health are no possible causes."""
    by_clock: dict[str, list[Numbered]] = defaultdict(list)
    for number, moment in enumerate(report.timeline):
        if moment.time:
            quiet = (moment.cause or "").startswith(NO_CAUSE) and not shows_no_crash(report)
            by_clock[moment.lane].append((number, replace(moment, role="noise", cause=None) if quiet else moment))
    found = [_drawing(report, clock, moments) for clock, moments in by_clock.items()]
    return [d for d in found if len(d.marks) > 1]


def _drawing(report: Report, clock: str, moments: list[Numbered]) -> Drawing:
    first = report.incidents[0].events if report.incidents else 0
    of_first = [m.time for n, m in moments if n < first and m.time] or [m.time for _, m in moments if m.time]
    start, seconds = _window(min(of_first), max(of_first))
    groups = _alike(moments)
    lanes = tuple(Lane(names[0], 30 + i * ROW_HEIGHT, len(names) - 1) for i, names in enumerate(groups[:MAX_TIMELINE_LANES]))
    rows = {name: lane.y for lane, names in zip(lanes, groups, strict=False) for name in names}
    marks = _marks(moments, start, seconds, rows)
    left_out = sum(map(len, groups[MAX_TIMELINE_LANES:]))
    return Drawing(clock, start, seconds, lanes, marks, _arrows(report, marks), _ticks(start, seconds), left_out)


def _alike(moments: Sequence[Numbered]) -> list[list[str]]:
    """The sources, the most important first; sources with the same causes in the same roles are together."""
    causes_of: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for _, moment in sorted(moments, key=_importance):
        causes_of[moment.source].add((moment.cause or moment.event, moment.role))
    groups: dict[frozenset[tuple[str, str]], list[str]] = defaultdict(list)
    for name, what in causes_of.items():
        groups[frozenset(what)].append(name)
    ordered = list(causes_of)
    found = [part for names in groups.values() for part in ([names] if len(names) >= MIN_SIMILAR_LANES else [[n] for n in names])]
    return sorted(found, key=lambda names: ordered.index(names[0]))


def _importance(numbered: Numbered) -> tuple[int, int]:
    return ("root", "contributing", "symptom", "noise").index(numbered[1].role), numbered[0]


def _window(start: datetime, end: datetime) -> tuple[datetime, float]:
    """A little more than from start to end, one second at least."""
    seconds = max(1.0, (end - start).total_seconds())
    return start - timedelta(seconds=seconds * TIMELINE_MARGIN_SHARE), seconds * (1 + 2 * TIMELINE_MARGIN_SHARE)


def _marks(moments: Sequence[Numbered], start: datetime, seconds: float, rows: Mapping[str, int]) -> tuple[Mark, ...]:
    """A mark for each moment, the most important one of each place (a hundredth of a row) with the number of all of them."""
    kept: dict[tuple[int, bool, float], Mark] = {}
    for number, moment in sorted(moments, key=lambda n: (ORDER_OF_MARKS.index(n[1].role), n[0])):
        if moment.source in rows and moment.time:
            at = (moment.time - start).total_seconds() / seconds
            noise = moment.role == "noise"
            key = rows[moment.source], noise, round(at, 3 if noise else 2)
            before = kept.get(key)
            kept[key] = (
                Mark(before.at, before.y, before.role, before.moment, before.number, before.count + 1)
                if before
                else Mark(round(at, 5), rows[moment.source], moment.role, moment, number)
            )
    return tuple(sorted(kept.values(), key=lambda m: m.number))


def _arrows(report: Report, marks: tuple[Mark, ...]) -> tuple[Arrow, ...]:
    """From the mark of the line that decided, or the first one of its cause, to the first mark of each of its symptoms."""
    first: dict[str, Mark] = {}
    incident = report.incidents[0].events if report.incidents else 0
    for mark in marks:
        if mark.moment.cause and mark.number < incident:
            first.setdefault(mark.moment.cause, mark)
    root = _decisive(report, marks) or first.get(report.causes[0].id)
    return tuple(Arrow(root, m, _head(root, m)) for m in first.values() if m.role == "symptom") if root else ()


def _decisive(report: Report, marks: tuple[Mark, ...]) -> Mark | None:
    """The last mark of the first cause that is not below the line that decided, in the same source."""
    cause = report.causes[0]
    proof = next(iter(cause.evidence), None)
    own = [m for m in marks if proof and (m.moment.cause, m.moment.source) == (cause.id, proof.source)]
    above = [m for m in own if proof and m.moment.line <= proof.line]
    return max(above, key=lambda m: m.moment.line, default=None)


def _head(start: Mark, end: Mark) -> str:
    """Along the row of `end`, or, where that is straight below or above `start`, along the column."""
    if start.at - end.at >= MIN_ARROW_SHARE:
        return ""
    if end.at - start.at >= MIN_ARROW_SHARE or start.y == end.y:
        return "M-15-5L-8 0L-15 5"
    return "M-5-15L0-8L5-15" if end.y > start.y else "M-5 15L0 8L5 15"


def _ticks(start: datetime, seconds: float) -> tuple[tuple[float, str], ...]:
    """Round times of the day inside the window, at most MAX_TICKS: (place, text)."""
    step = next((s for s in TICK_STEPS_S if seconds / s < MAX_TICKS), DAY_S * math.ceil(seconds / DAY_S / MAX_TICKS))
    form = "%m-%d" if step >= DAY_S else "%H:%M:%S"
    midnight = start.replace(hour=0, minute=0, second=0, microsecond=0)
    since = (start - midnight).total_seconds()
    ticks = []
    for n in range(math.ceil(since / step), math.floor((since + seconds) / step) + 1):
        time = midnight + timedelta(seconds=round(n * step, 1))
        fraction = f".{time.microsecond // 100_000}" if step < 1 else ""
        ticks.append((round((time - start).total_seconds() / seconds, 4), time.strftime(form) + fraction))
    return tuple(ticks)
