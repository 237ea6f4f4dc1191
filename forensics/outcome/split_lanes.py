"""Split one source into lanes: for each its attempts, how it ends, and what follows each observation in it.

    step 0 loss 0.9 / WARNING shard 7: Connection reset, retrying / step 1 loss 0.8 / step 2 loss 0.7
    -> one lane, one attempt; after the observation: 2 lines, both repeat an earlier template, both are progress; handled

The input is the scanner's sample: all lines of a short log, an even sample of a long one.
"""

import functools
import operator
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, islice
from typing import NamedTuple

from forensics.line_formats import parse_prefix
from forensics.model import Line, Observation, Scan
from forensics.model.verdicts import Aftermath, Attempt, Entity, FailedCell, Lane, LaneDigest, LaneKind
from forensics.outcome.attempt_starts import BANNER_ROWS, MAX_CLASSIFIED_TEMPLATES, starts_alike, starts_of
from forensics.outcome.course import Course, closing_line, says_farewell
from forensics.outcome.digest import MIN_TEMPLATE_CHARS, NOT_WORK_CLASSES, lane_digest, untroubled_digest
from forensics.outcome.split_observations import split_observation
from forensics.readers.lanes.lane_rows import KERNEL_LANE, MAIN_PROGRAM, entity_of, lane_key, lane_kind, rows_by_lane
from forensics.readers.lanes.line_classes import (
    BAD_END,
    FRAME,
    GOES_ON,
    GOOD,
    NOT_AN_END,
    PROGRESS,
    START,
    TRACEBACK,
    TROUBLE,
    LineClasses,
    failed_cell,
    is_cell_heading,
    is_error_record,
    is_low_severity,
    is_of_tracker,
)
from forensics.readers.lanes.rows import LaneKey, Rows, Shape

MAX_LAST_ROWS = 60  # rows at the end of a lane that are classified one by one; earlier rows are classified once per template
MAX_LANES_READ_LONG = 8  # as many as a node has ranks; with MAX_LAST_ROWS of each it bounds the time
MAX_LAST_ROWS_OF_MANY_LANES = 5  # the same where a source has more lanes: a host has hundreds of services
NEVER_SEEN = 1 << 62  # greater than every line number
MAX_TROUBLE_LINES = 20  # chosen by hand: the last lines of trouble, from which words and evidence are taken
MIN_WORKED = 2  # lines of progress: a buffer that is written late may show one more behind an end
MAX_LAST_LINES_SHOWN = 5  # chosen by hand: enough to see how a lane ended
NEAR_ROWS = 3  # after an observation: in these rows a program says that it continues
NEAR_ROWS_BEFORE = 2  # a program may say that it will continue before it prints the exception that it caught
TRACEBACK_RECORD = "traceback"


def split_lanes(
    scan: Scan, layout: str, observations: Sequence[Observation], classes: LineClasses, teardown: Collection[int] = ()
) -> tuple[tuple[Lane, ...], list[Observation]]:
    """The lanes of one source, the one with most lines first, and its observations, each of one attempt and time.

    `layout`: the name of its line format. `teardown`: the numbers of lines that tell of no end."""
    # A message is one row, however many lines it has.
    continued = {n for o in observations if o.told_to and o.proofs for n in range(o.proofs[0].line + 1, o.told_to + 1)}
    of_lane = rows_by_lane(scan, layout, continued.union(teardown))
    whole = len(scan.sample) == 1
    by_key: dict[LaneKey, list[Observation]] = defaultdict(list)
    for observation in observations:
        by_key[_lane_of(observation, of_lane)].append(observation)
    known: dict[bytes, int] = {}
    launcher: _LaneRows | None = None
    made: list[Lane] = []
    split: list[Observation] = []
    for key in sorted(dict.fromkeys([*of_lane, *by_key]), key=lambda k: k != MAIN_PROGRAM):
        rows, kind, entity = of_lane.get(key) or Rows(), lane_kind(key, scan, layout), entity_of(key, scan.source.name)
        is_alone = key not in by_key and len(of_lane) > 1 and not (launcher and launcher.explicit_starts())
        if is_alone and 0 < len(rows) <= BANNER_ROWS and (calm := _calm_rows(tuple(rows.shapes), classes)) is not None:
            for template, found_bits in calm.templates:
                known.setdefault(template, found_bits)
            made.append(_short_lane(rows, calm, scan.source.name, kind, entity))
            continue
        total = 0 if whole or len(of_lane) > 1 else scan.lines
        alone = MAX_LAST_ROWS if len(of_lane) <= MAX_LANES_READ_LONG else MAX_LAST_ROWS_OF_MANY_LANES
        failures = {line for o in by_key.get(key, ()) if o.ends != "nothing" for line in o.shown_on}
        own = _LaneRows(rows, classes, known, total, alone, scan.source.format == "notebook", failures)
        own.kernel = kind == "kernel"
        launcher = own if key == MAIN_PROGRAM else launcher
        if key[0] == "rank" and launcher:
            own.started_by(launcher)
        several = by_key.get(key, ())
        attempts = own.attempts() if several else ()
        found = [part for o in several for part in split_observation(o, attempts)]
        split += found
        made.append(own.lane(scan.source.name, kind, entity, found))
    return tuple(sorted(made, key=lambda lane: -lane.digest.lines)), sorted(split, key=lambda o: (o.line, o.kind))


class _Calm(NamedTuple):
    """Rows so few that no attempt begins among them, and which tell of nothing but work: their classes, and those of each
    template. `digest`: that of the lane, None if one of the rows may be a record of a logger."""

    bits: tuple[int, ...]
    templates: tuple[tuple[bytes, int], ...]
    digest: LaneDigest | None


@functools.lru_cache(maxsize=MAX_CLASSIFIED_TEMPLATES)
def _calm_rows(shapes: tuple[Shape, ...], classes: LineClasses) -> _Calm | None:
    """What rows of these shapes have in common; None for rows that may tell of more than work."""
    bits: list[int] = []
    for shape in shapes:
        found = None if shape.said is None or shape.may_close() else classes.classify_shape(shape.said)
        if found is None or found & ~PROGRESS:
            return None
        bits.append(found)
    digest = untroubled_digest(tuple(bits), 0, 0) if all(shape.is_bare() for shape in shapes) else None
    return _Calm(tuple(bits), tuple(zip((shape.template for shape in shapes), bits, strict=True)), digest)


def _short_lane(rows: Rows, calm: _Calm, source: str, kind: LaneKind, entity: Entity) -> Lane:
    """As _LaneRows.lane(), of calm rows without an observation."""
    digest = calm.digest or untroubled_digest(calm.bits, 0, sum(map(rows.is_record, range(len(calm.bits)))))
    one, worked = _one_attempt(rows.numbers[0], rows.numbers[-1]), _last_worked(rows.numbers, calm.bits)
    return Lane(source, kind, entity, one, digest, (), rows.lines(), last_worked=worked)


def _last_worked(numbers: Sequence[int], bits: Sequence[int]) -> tuple[int, ...]:
    """The numbers of the last lines of progress, the last one first."""
    return tuple(
        islice(
            (n for n, b in zip(reversed(numbers), reversed(bits), strict=True) if b & PROGRESS and not b & TROUBLE), MIN_WORKED
        )
    )


@functools.lru_cache(maxsize=MAX_CLASSIFIED_TEMPLATES)  # of thousands of short logs, many have the same lines
def _one_attempt(first: int, last: int) -> tuple[Attempt, ...]:
    return (Attempt(1, first, last),)


def _lane_of(observation: Observation, lanes: Mapping[LaneKey, object]) -> LaneKey:
    """The lane of an observation, by its first evidence line."""
    text = observation.proofs[0].text if observation.proofs else ""
    key = lane_key(text.encode("utf-8", "replace"), any(k[0] == "rank" for k in lanes))
    if key is not None and key in lanes:
        return key
    if key is None and MAIN_PROGRAM not in lanes and lanes:
        return next(iter(lanes)) if len(lanes) == 1 else MAIN_PROGRAM
    return key or MAIN_PROGRAM


class _LaneRows:
    """The rows of one lane with their classes, and what can be found out from them.

    `bits_by_template`: the classes of templates that other lanes of the source have. `total`: the number of lines of the source
    if it has one lane and `rows` are only a sample of it, else 0. `last`: how many rows at the end are classified one by one.
    `cells`: the source is a notebook, whose cells are the attempts. `failures`: the numbers of the lines that show an end.
    """

    def __init__(
        self,
        rows: Rows,
        classes: LineClasses,
        bits_by_template: dict[bytes, int],
        total: int,
        last: int,
        cells: bool,
        failures: Collection[int],
    ) -> None:
        self.rows, self.total, self.failures = rows, total, failures
        self.numbers, self.templates = rows.numbers, rows.templates
        self.bits = self._classified(classes, bits_by_template, max(0, len(rows) - last))
        self.classes = functools.reduce(operator.or_, set(self.bits), 0)  # all classes that occur in it
        self._starts: list[int] | None = None
        self._explicit_starts: list[int] = []
        self.cells, self.kernel = cells, False

    def lane(self, source: str, kind: LaneKind, entity: Entity, observations: Sequence[Observation]) -> Lane:
        """The lane of these rows, with the aftermath of `observations`."""
        position, complete = self.last_position()
        end = self.end_of_program()
        return Lane(
            source=source,
            kind=kind,
            entity=entity,
            attempts=self.attempts(),
            digest=lane_digest(self.templates[:end], self.bits[:end], self.total, self.start_rows(), self.rows.is_record),
            trouble_lines=self.trouble_lines(),
            last_lines=self.last_lines(),
            good_lines=self.good_lines(),
            aftermath={(o.line, o.kind): self.aftermath(o) for o in observations},
            superseded=self.is_superseded(),
            reached_end=position if complete else None,
            at_work=None if complete else position,
            last_error=self.last_error(end),
            closing=closing_line(self.rows, self.bits, next(reversed(self.start_rows()), 0)) if kind == "job" else None,
            farewell=kind == "job" and says_farewell(self.rows, self.bits, next(reversed(self.start_rows()), 0)),
            failed_cell=self.failed_cell(),
            first_position=self.course.first_position() if self._may_have_failed_at_work() else 0,
            starts_alike=bool(self.classes & TROUBLE) and starts_alike(self.rows, self.bits),
            last_worked=_last_worked(self.numbers, self.bits) if self.classes & PROGRESS else (),
        )

    def end_of_program(self) -> int:
        """The number of rows up to the error that ends the log but for a tracker's farewell; of all rows if none does."""
        end = len(self.rows) if self.classes & TROUBLE else 0
        while end and not self.bits[end - 1] & (GOOD | BAD_END) and is_of_tracker(self.rows[end - 1].said()):
            end -= 1
        is_error = end and self.bits[end - 1] & TROUBLE and not self.bits[end - 1] & NOT_AN_END
        return end if is_error else len(self.rows)

    def last_error(self, end: int) -> Line | None:
        """The line of trouble before row `end` with nothing but the lines of its stack behind it. Where a logger writes records,
        what stands between such a stack and the next record, the fields of an error, is of the same record."""
        last = end
        while end and self.bits[end - 1] & FRAME:
            end -= 1
        at = end
        while at and not self.bits[at - 1] & (TROUBLE | GOOD | PROGRESS | START) and not self.rows.is_record(at - 1):
            at -= 1
        if any(b & FRAME for b in self.bits[at:last]) and any(map(self.rows.is_record, range(max(0, at - 2), at))):
            end = at
        is_error = end and (self.bits[end - 1] & TROUBLE or is_error_record(self.rows[end - 1].text()))
        is_error = is_error and not self.bits[end - 1] & (NOT_AN_END | TRACEBACK)
        return Line(self.numbers[end - 1], self.rows[end - 1].text()) if is_error else None

    def failed_cell(self) -> FailedCell | None:
        """The last cell of a saved notebook that an error ended."""
        ends = (i for i, b in self._bits_from_end() if b & BAD_END) if self.cells else ()
        for i in ends:
            text, number = self.rows[i].text(), self.numbers[i]
            if told := failed_cell(text):
                return FailedCell(Line(number, text), *told, ran_on=self.attempts()[-1].first_line > number)
        return None

    def _classified(self, classes: LineClasses, known: dict[bytes, int], alone: int) -> list[int]:
        """The classes of each row: those before index `alone` once for each template, the others one by one."""
        late = [self._class(classes, i) for i in range(alone, len(self.rows))]
        bits = [*self._of_templates(classes, known, self.templates[:alone]), *late] if alone else late
        for template, found in zip(self.templates[alone:], late, strict=True):
            known.setdefault(template, found)
        return bits

    def _class(self, classes: LineClasses, i: int) -> int:
        """The classes of the row at index `i`, by its shape if they do not depend on its digits."""
        said = self.rows.shapes[i].said
        found = None if said is None else classes.classify_shape(said)
        return classes.classify(self.rows[i].said()) if found is None else found

    def _of_templates(self, classes: LineClasses, known: dict[bytes, int], early: Sequence[bytes]) -> Iterable[int]:
        """The classes of the first rows, which have these templates, once for each template."""
        first = dict(zip(reversed(early), range(len(early) - 1, -1, -1), strict=True))
        for template in dict.fromkeys(early):
            if template not in known:
                room = len(known) < MAX_CLASSIFIED_TEMPLATES
                known[template] = self._class(classes, first[template]) if room else 0
        return map(known.__getitem__, early)

    @functools.cached_property
    def template_since(self) -> list[int]:
        """For each row the number of the first line of its template; NEVER_SEEN for trouble and for too short templates."""
        first: dict[bytes, int] = {}
        for template, number in zip(self.templates, self.numbers, strict=True):
            first.setdefault(template, number)
        return [
            first[template] if not b & NOT_WORK_CLASSES and len(template) > MIN_TEMPLATE_CHARS else NEVER_SEEN
            for template, b in zip(self.templates, self.bits, strict=True)
        ]

    @functools.cached_property
    def progress(self) -> list[int]:
        """For each row, the number of rows of progress from it to the end."""
        return _counts_from([bool(b & PROGRESS) and not b & TROUBLE for b in self.bits])

    @functools.cached_property
    def good(self) -> list[int]:
        """For each row, the number of rows that report a good end, from it to the end."""
        return _counts_from([bool(b & GOOD) and not b & TROUBLE for b in self.bits])

    @functools.cached_property
    def trouble(self) -> list[int]:
        """For each row, the number of rows of trouble from it to the end, without those of the classes NOT_AN_END."""
        return _counts_from([bool(b & TROUBLE) and not b & NOT_AN_END for b in self.bits])

    def aftermath(self, observation: Observation) -> Aftermath:
        """What follows `observation`, and what is next to it."""
        first, last = observation.line, _end_of(observation)
        at = bisect_right(self.numbers, last)
        rows_after = len(self.rows) - at
        start = bisect_left(self.numbers, first)
        repeated = self._repeated_after(at, start, first)
        head = self._head_of_stack(start)
        near = [
            *range(max(0, head - NEAR_ROWS_BEFORE), head),
            *range(max(0, start - NEAR_ROWS_BEFORE), min(start + NEAR_ROWS, at)),
            *range(max(start, at - NEAR_ROWS), min(at + NEAR_ROWS, len(self.rows))),
        ]
        rows = [self.numbers[i] for i in near if self.bits[i] & GOES_ON]
        return Aftermath(
            lines_after=max(rows_after, self.total - last if self.total else 0),
            repeated=repeated,
            progress=self.progress[at],
            good=self.good[at],
            trouble=self.trouble[at],
            later_attempts=sum(1 for s in self.starts() if s > last),
            handled=bool(rows),
            low_severity=_is_low_severity(observation),
            repeated_line=self._last(lambda i: self.template_since[i] < first, at) if repeated else 0,
            good_line=self._last(lambda i: self.good[i] > self.good[i + 1], at) if self.good[at] else 0,
            handled_line=next((n for n in rows if n == last), rows[0]) if rows else 0,
            positions=self.course.grown_after(at) if self.progress[at] else 0,
        )

    def _head_of_stack(self, at: int) -> int:
        """The index of the head of the stack that ends in row `at`; `at` where there is none."""
        head = at - 1
        while head > 0 and not self.bits[head] & TRACEBACK and self.rows.raws[head][:1].isspace():
            head -= 1
        return head if head >= 0 and self.bits[head] & TRACEBACK else at

    @functools.cached_property
    def course(self) -> Course:
        """Its positions, of which an observation and the end ask."""
        return Course(self.rows, self.bits, self.start_rows())

    def last_position(self) -> tuple[Line | None, bool]:
        """The line with the last position of the last attempt, None if none shows it; is it the end of what it counts?"""
        return self.course.last_position() if self._may_have_failed_at_work() else (None, False)

    def _may_have_failed_at_work(self) -> bool:
        return bool(self.classes & PROGRESS and self.classes & TROUBLE)

    @functools.cached_property
    def _sorted_since(self) -> list[int]:
        return sorted(self.template_since)

    @functools.cached_property
    def _known_before(self) -> list[int]:
        """For each row, the number of rows before it that have a value in `template_since`."""
        return [*accumulate((since != NEVER_SEEN for since in self.template_since), initial=0)]

    def _repeated_after(self, at: int, start: int, before: int) -> int:
        """The number of rows from index `at` on whose template occurred before line `before`, and which have no error word.

        `start`: the index of the row of that line. The templates of all rows before it occurred before it, so only the rows
        between `start` and `at` are tested: there may be hundreds of observations in thousands of rows.
        """
        every = bisect_left(self._sorted_since, before)
        return every - self._known_before[start] - sum(map(before.__gt__, self.template_since[start:at]))

    def _last(self, holds: Callable[[int], bool], at: int) -> int:
        return next((self.numbers[i] for i in range(len(self.rows) - 1, at - 1, -1) if holds(i)), 0)

    def started_by(self, launcher: "_LaneRows") -> None:
        """Add the starts that `launcher` reports: the launcher restarts a rank, and the rank's own lines do not say so."""
        starts = launcher.explicit_starts()
        if starts:
            self._starts = sorted({*self.starts(), *(s for s in starts if self.numbers and s > self.numbers[0])})

    def explicit_starts(self) -> list[int]:
        """Those of starts() that a phrase or a restarted step counter shows, without repeated banners."""
        self.starts()
        return self._explicit_starts

    def starts(self) -> list[int]:
        """Numbers of the lines at which a further attempt begins."""
        if self._starts is None:
            self._starts = self._found_starts()
        return self._starts

    def is_superseded(self) -> bool:
        """Does a further attempt begin after its last line?"""
        starts = self.starts()
        return bool(starts and self.numbers) and starts[-1] > self.numbers[-1]

    def _found_starts(self) -> list[int]:
        if self.cells:
            headings = map(is_cell_heading, self.rows.raws)
            return [n for n, heads in zip(self.numbers[BANNER_ROWS:], islice(headings, BANNER_ROWS, None), strict=True) if heads]
        found, self._explicit_starts = starts_of(self.rows, self.bits, self.failures)
        return [n for n in found if self._is_boot(bisect_left(self.numbers, n))] if self.kernel else found

    def _is_boot(self, i: int) -> bool:
        """Does the kernel's clock begin again at row `i`? Its drivers repeat their messages within one boot."""
        before, at = (stamp.mono if (stamp := parse_prefix(self.rows[j].text()).stamp) else None for j in (i - 1, i))
        return before is None or at is None or at < before

    def start_rows(self) -> list[int]:
        """The indices of starts() among the rows."""
        return [bisect_left(self.numbers, number) for number in self.starts()]

    def attempts(self) -> tuple[Attempt, ...]:
        """The attempts of the lane, in order; one where it has no rows."""
        if not self.rows:
            return (Attempt(1, 0, 0),)
        starts = self.starts()
        if not starts:
            return (Attempt(1, self.numbers[0], self.numbers[-1]),)
        first = [self.numbers[0], *(s for s in starts if self.numbers[0] < s <= self.numbers[-1])]
        last = [*(n - 1 for n in first[1:]), self.numbers[-1]]
        return tuple(Attempt(i, a, b) for i, (a, b) in enumerate(zip(first, last, strict=True), 1))

    def trouble_lines(self) -> tuple[Line, ...]:
        """The last lines of trouble, without those of the classes NOT_AN_END."""
        if not self.classes & TROUBLE:
            return ()
        found = (i for i, b in self._bits_from_end() if b & TROUBLE and not b & (NOT_AN_END | TRACEBACK))
        return self._lines(islice(found, MAX_TROUBLE_LINES))

    def good_lines(self) -> tuple[Line, ...]:
        """The last lines of a good end."""
        if not self.classes & GOOD:
            return ()
        found = (i for i, b in self._bits_from_end() if b & GOOD and not b & TROUBLE)
        return self._lines(islice(found, MAX_LAST_LINES_SHOWN))

    def last_lines(self) -> tuple[Line, ...]:
        """The last lines."""
        return self._lines(islice(range(self.end_of_program() - 1, -1, -1), MAX_LAST_LINES_SHOWN))

    def _bits_from_end(self) -> Iterator[tuple[int, int]]:
        """The index and the classes of each row, the last one first."""
        return zip(range(len(self.bits) - 1, -1, -1), reversed(self.bits), strict=True)

    def _lines(self, found: Iterable[int]) -> tuple[Line, ...]:
        """The rows at these indices, of which the last one comes first, in order."""
        return tuple(reversed([Line(self.numbers[i], self.rows.text(i)) for i in found]))


def _counts_from(holds: Sequence[bool]) -> list[int]:
    """For each row, how many are true from it on; one more 0 at the end."""
    return [*accumulate(reversed(holds), initial=0)][::-1]


def _end_of(observation: Observation) -> int:
    """The last line of an observation; of one that was folded from many places, the last line of the last place.

    For a single traceback it is the line of its exception: the lines after it may or may not belong to its message.
    """
    if observation.kind == TRACEBACK_RECORD and observation.count == 1 and observation.proofs:
        return max(observation.proofs[0].line, observation.line)
    return max(observation.last_line, observation.line)


def _is_low_severity(observation: Observation) -> bool:
    """Is the level of the record itself a warning or lower?"""
    text = observation.proofs[0].text if observation.proofs else ""
    if lane_key(text.encode("utf-8", "replace")) == KERNEL_LANE:
        return False  # the kernel's level is that of the printing: it tells of a segmentation fault at `info`
    return is_low_severity(text)
