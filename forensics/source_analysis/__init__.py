"""Analyse each source by itself: Source -> SourceAnalysis with its scan, observations, curves and clock samples.

Threads match the chunks of a large source; processes read many small sources. The result does not depend on their number.

The processor time of an input is divided among its sources.

    needs by size: 0.05 s, 0.3 s, 40 s, 40 s;  20 s to spend   ->  0.05, 0.3, 9.8, 9.8: the small ones are read whole
    the third one takes 2 s only                               ->  the fourth may take 17 s

What a source may need is estimated from its size. One that takes more than its share gets nothing of the others' shares.

A fault of this program becomes a Warning, so that the rest is still analysed.

series.numbers(scan) raises ZeroDivisionError  ->  Warning("internal", "internal error (ZeroDivisionError, trend.py:41), please
report it; left out: its series", "train.log"), and the diagnosis goes on without them
"""

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from datetime import timedelta
from functools import partial
from typing import TypeVar

from msgspec import Struct, msgpack
from msgspec.structs import replace

from forensics import context, correlation, line_formats, outcome, readers, series
from forensics.core.errors import ForensicsError, unexpected
from forensics.core.input_time import READING_PART, SHARE_TO_READ, InputTime, Share
from forensics.core.limits import MIB
from forensics.database import Database
from forensics.model import Line, Observation, Scan, Source, Warn, Warning
from forensics.model.dumps import Dump
from forensics.model.stacks import ProcessStacks
from forensics.model.verdicts import Lane
from forensics.parallel.file_pool import is_small, read_in_pool
from forensics.parallel.prefetch import read_ahead
from forensics.readers.capture.captured_end import CapturedRun, captured_run
from forensics.readers.python.process_stacks import process_stacks
from forensics.scan import Matcher, Workers, matcher_of, scan
from forensics.source_analysis.parked import Packed, SentLane, parked_lanes, parked_scan, received_lane, sent_lane
from forensics.source_analysis.teardown import Teardown, find_teardown
from forensics.sources.programs import is_program

T = TypeVar("T")


def call_or_warn(call: Callable[[], T], default: T, what: str, source: str | None, warn: Warn) -> T:
    """The result of `call`. Where it raises: `default`, and a Warning that `what` is left out. A ForensicsError passes."""
    try:
        return call()
    except ForensicsError:
        raise
    except Exception as error:
        warn(Warning("internal", f"{unexpected(error)}; left out: {what}", source))
        return default


MIN_PARKED_SOURCES = 500  # chosen by hand: fewer take some 20 MiB as they are
MAX_TOGETHER_BYTES = 256 << 10  # chosen by hand: some fifty files of 5 KB; of files as large as this, each is read by itself
NEEDED_S = 0.05  # of a source of any size: five times what a short log takes
MIN_SHARE_S = 0.02  # as long as there is time at all: the shares of many small sources would be too short to open them
NEEDED_S_PER_MIB = 0.2  # five times what the slowest real form of log takes, a kernel's log without end


class TimeShares:
    """The shares of the sources of one input, in the order in which they are read. Sources of one input have the same time."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.time = next((s.time for s in sources if s.time), None)
        self.current: Share | None = None
        self.unread: list[str] = []
        if self.time:
            self.time.resume()
            self.most = _level(sorted(map(_needed, sources)), self._left(self.time))
            self.waiting = sum(map(self._wanted, sources))

    def grant(self, source: Source) -> bool:
        """Is there time for `source`, which is read now? `current` is its share then."""
        if self.time is None:
            return True
        wanted, left = self._wanted(source), self._left(self.time)
        self.waiting -= wanted
        if left <= 0:
            self.unread.append(source.name)
            return False
        part = max(left * min(1.0, wanted / (self.waiting + wanted)), MIN_SHARE_S) / self.time.granted
        now = self.time.now()
        self.current = Share(self.time, now + SHARE_TO_READ * part, now + part)
        self.time.part = now + part
        return True

    def was_read(self, source: Source, seconds: float, is_granted: bool) -> None:
        """Another process read `source` in so many seconds, if it was granted some."""
        if self.time:
            self.waiting -= self._wanted(source)
            self.time.add(seconds)
            self.unread += [] if is_granted else [source.name]

    def seconds(self) -> float:
        """Seconds that were spent so far."""
        return self.time.now() * self.time.granted if self.time else 0.0

    def end(self, warn: Warn) -> None:
        """All sources are read; what is left is for lines that are read again. A warning tells of sources without time."""
        if self.time is None:
            return
        self.time.part = 1.0
        if len(self.unread) == 1:
            warn(Warning("limit", f"not read: {self.time.told()}", self.unread[0]))
        elif self.unread:
            what = f"{len(self.unread):,} sources were not read, {self.unread[0]} for one"
            warn(Warning("limit", f"{what}: {self.time.told()}"))

    @staticmethod
    def _left(time: InputTime) -> float:
        """Seconds that are left for reading."""
        return (READING_PART - time.now()) * time.granted

    def _wanted(self, source: Source) -> float:
        return min(_needed(source), self.most)


def _needed(source: Source) -> float:
    """Seconds that it takes at most, if it is a log as people have them."""
    return NEEDED_S + NEEDED_S_PER_MIB * source.expected / MIB


def _level(rising: Sequence[float], left: float) -> float:
    """What each source gets at most, so that all together get what is `left`; the largest need where that is enough for all."""
    for i, need in enumerate(rising):
        equal = left / (len(rising) - i)
        if need > equal:
            return max(equal, 0.0)
        left -= need
    return rising[-1] if rising else 0.0


class OwnClock(Struct, frozen=True):
    """The clock of a source with a full date, which needs no other source for it, and the warnings about it. `clock`: without
    the samples that it was inferred from. `is_unanchored`: it counts seconds since a boot whose time is unknown."""

    clock: correlation.Clock
    is_unanchored: bool
    noted: tuple[Warning, ...]

    def of(self, samples: Sequence[correlation.ClockSample]) -> correlation.Clock:
        """The clock with the samples of its source."""
        return replace(self.clock, samples=tuple(reversed(samples)) if self.clock.backwards else tuple(samples))


class SourceAnalysis(Struct, frozen=True):
    """What one source holds. `scan`: without the places of numbers, which became `curves`: what a report could show of them.

    `samples`: what its lines show about its clock; `is_dated`, `is_disordered`, `zone`, `clock`: what they show together.
    `pids`: those that its ends name. `line_format`: that of most of its first lines. `records`: how many lines are no
    continuations. `lanes`: whose its lines are, and how each of them ends. `attempted`: what each attempt of the longest of them
    says of itself. `dump`: of a source that is one. `stacks`: those of whole processes. `captured`: what a capture says of the
    run.
    """

    scan: Scan
    events: tuple[Observation, ...]
    curves: tuple[context.Ranked, ...]
    samples: Sequence[correlation.ClockSample]
    pids: frozenset[int]
    line_format: str
    records: int
    lanes: tuple[Lane, ...] = ()
    attempted: tuple[context.AttemptFacts, ...] = ()
    dump: Dump | None = None
    stacks: tuple[ProcessStacks, ...] = ()
    captured: CapturedRun | None = None
    is_dated: bool = False
    is_disordered: bool = False
    zone: timedelta | None = None
    clock: OwnClock | None = None

    @property
    def name(self) -> str:
        """The source's."""
        return self.scan.source.name


def analyze_sources(given: Iterable[Source], knowledge: Database, warn: Warn, workers: int | None = None) -> list[SourceAnalysis]:
    """The analysis of each source that has lines, in order. `workers`: threads or processes at work (default: one a core)."""
    matcher = matcher_of(knowledge)
    given = list(given)
    count = workers or os.cpu_count() or 1
    small = [source for source in given if is_small(source)]
    shares = TimeShares(given)
    done: list[SourceAnalysis] = []
    drawn = context.DrawnCurves()
    is_parked = len(given) >= MIN_PARKED_SOURCES
    with (
        Workers(count) as threads,
        closing(read_in_pool(small, partial(_analyze_small, knowledge, matcher, shares), count, _packed, _unpacked)) as pooled,
    ):
        try:
            for source in given:
                if is_small(source):
                    done += _received(next(pooled), source, shares, warn, drawn if is_parked else None)
                elif shares.grant(source):
                    whole = read_ahead(source) if count > 1 else source
                    done += filter(None, _in_turns([_stages(whole, knowledge, matcher, warn, threads, shares.current)]))
        except BaseException as stop:  # Ctrl-C, for one
            if done:
                size, lines = sum(r.scan.bytes for r in done), sum(r.scan.lines for r in done)
                stop.add_note(f"{len(done):,} whole source{'s' * (len(done) > 1)}, {lines:,} lines ({size:,} bytes)")
            raise
    shares.end(warn)
    curves = drawn.by_source()
    return [replace(r, curves=curves[r.name]) if r.name in curves else r for r in done]


class _Small(Struct):
    """What came of a small source: its analysis and warnings, whether there was time for it, and the seconds that it took."""

    found: SourceAnalysis | None
    noted: list[Warning]
    is_granted: bool
    seconds: float
    is_elsewhere: bool = False  # read by another process


def _analyze_small(knowledge: Database, matcher: Matcher, shares: TimeShares, sources: Sequence[Source]) -> list[_Small]:
    return [small for together in _read_together(sources) for small in _analyze_together(knowledge, matcher, shares, together)]


def _read_together(sources: Iterable[Source]) -> Iterator[list[Source]]:
    """`sources`, divided into those that do each stage together: as many as fit into little memory."""
    together: list[Source] = []
    size = 0
    for source in sources:
        if together and size + (source.size or 0) > MAX_TOGETHER_BYTES:
            yield together
            together, size = [], 0
        together.append(source)
        size += source.size or 0
    if together:
        yield together


def _analyze_together(knowledge: Database, matcher: Matcher, shares: TimeShares, sources: Sequence[Source]) -> list[_Small]:
    before = shares.seconds()
    noted: list[list[Warning]] = [[] for _ in sources]
    granted: list[bool] = []

    def stages(source: Source, warn: Warn) -> Stages:
        granted.append(shares.grant(source))
        return (yield from _stages(source, knowledge, matcher, warn, None, shares.current)) if granted[-1] else None

    found = _in_turns([stages(source, own.append) for source, own in zip(sources, noted, strict=True)])
    seconds = (shares.seconds() - before) / len(sources)
    return [_Small(*one, seconds) for one in zip(found, noted, granted, strict=True)]


def _received(
    small: _Small, source: Source, shares: TimeShares, warn: Warn, drawn: context.DrawnCurves | None
) -> list[SourceAnalysis]:
    """The analysis of a source that was read here or in another process. `drawn`: takes its curves, where there are very many."""
    for warning in small.noted:
        warn(warning)
    if small.is_elsewhere:
        shares.was_read(source, small.seconds, small.is_granted)
    if small.found is None:
        return []
    found = replace(small.found, scan=replace(small.found.scan, source=source))
    if drawn is None:
        return [found]
    drawn.take(found.curves)
    return [replace(found if small.is_elsewhere else _parked(found), curves=())]


def _parked(found: SourceAnalysis) -> SourceAnalysis:
    """`found` in little memory."""
    scanned = parked_scan(found.scan)
    samples = Packed(found.samples, correlation.ClockSample)
    return replace(found, scan=scanned, samples=samples, lanes=parked_lanes(found.lanes, found.scan.head, scanned.head))


def _packed(small: _Small) -> tuple[_Small, bytes]:
    """What _analyze_small() gave, in a form that can be pickled: without the function that opens the source. There are many
    lines, samples and lanes, for which pickle takes three times as long."""
    if small.found is None:
        return replace(small, is_elsewhere=True), b""
    head = small.found.scan.head
    lanes = msgpack.encode([sent_lane(lane, head) for lane in small.found.lanes])
    found = _parked(replace(small.found, lanes=()))
    found = replace(found, scan=replace(found.scan, source=Source(found.name, _no_blocks)))
    return replace(small, found=found, is_elsewhere=True), lanes


def _unpacked(packed: tuple[_Small, bytes]) -> _Small:
    small, sent = packed
    if small.found is None:
        return small
    head, name = small.found.scan.head, small.found.name
    lanes = tuple([received_lane(lane, name, head) for lane in msgpack.decode(sent, type=list[SentLane])])
    return replace(small, found=replace(small.found, lanes=lanes))


def _no_blocks(_warn: Warn) -> Iterator[bytes]:
    return iter(())


Stages = Generator[None, None, SourceAnalysis | None]


def _in_turns(works: Sequence[Stages]) -> list[SourceAnalysis | None]:
    """What each of `works` returns. All do their first stage, then their second one, and so on: what a stage needs is at hand
    for one small source after the other."""
    found: dict[int, SourceAnalysis | None] = {}
    while len(found) < len(works):
        for i, work in enumerate(works):
            if i not in found:
                try:
                    next(work)
                except StopIteration as end:
                    found[i] = end.value
    return [found[i] for i in range(len(works))]


def _stages(
    source: Source, knowledge: Database, matcher: Matcher, warn: Warn, threads: Workers | None, share: Share | None
) -> Stages:
    """The analysis of one source, stage by stage, None where it has no lines. A stage that fails is left out with a Warning.
    `share`: the processor time for it."""
    if source.dump is not None or is_program(source):
        return _analyze_dump(source, source.dump, warn) if source.dump else _analyze_program(source)
    name = source.name
    none: list[Observation] = []
    no_samples: list[correlation.ClockSample] = []
    undrawn: tuple[context.Ranked, ...] = ()
    scanned = call_or_warn(partial(scan, source, knowledge, warn, matcher, threads, share), None, "all of it", name, warn)
    if not scanned or not (scanned.lines or source.format == "notebook"):  # one without outputs still is a program
        return None
    yield
    numbers = call_or_warn(lambda: series.gather_numbers(scanned, telling=True), series.NONE, "its series", name, warn)
    yield
    events = call_or_warn(lambda: readers.read(scanned, knowledge, warn), none, "its records", name, warn)
    yield
    events = [*events, *call_or_warn(lambda: series.read(scanned, knowledge, numbers), none, "its series", name, warn)]
    yield
    samples = call_or_warn(lambda: correlation.clock_samples(scanned, events), no_samples, "its times", name, warn)
    yield
    curves = call_or_warn(lambda: context.curves(source, numbers.series), undrawn, "its curves", name, warn)
    pids = correlation.program_pids(scanned)
    line_format = line_formats.recognise(scanned.head)
    count = _count_records(scanned, line_format)
    yield
    classes = outcome.line_classes(knowledge)
    teardown = call_or_warn(lambda: find_teardown(scanned, events, classes), Teardown(events), "its teardown", name, warn)
    unsplit: tuple[tuple[Lane, ...], list[Observation]] = ((), [*teardown.events])
    split = partial(outcome.split_lanes, scanned, line_format, unsplit[1], classes, teardown.lines)
    lanes, events = call_or_warn(split, unsplit, "how it ended", name, warn)
    yield
    said = _attempt_facts(scanned, lanes, warn)
    kept, stacks = _without_numbers(scanned), _stacks(scanned, warn)
    run = call_or_warn(lambda: captured_run(scanned), None, "its account", name, warn)
    if source.format == CAPTURED_STACKS:
        return SourceAnalysis(kept, (), (), (), frozenset(), line_format, count, stacks=stacks)
    found = SourceAnalysis(kept, tuple(events), curves, samples, pids, line_format, count, lanes, said, None, stacks, run)
    return _with_clock_facts(found, warn)


def _attempt_facts(scanned: Scan, lanes: Sequence[Lane], warn: Warn) -> tuple[context.AttemptFacts, ...]:
    spans = [(a.first_line, a.last_line) for a in lanes[0].attempts] if lanes and lanes[0].kind == "job" else []
    alone: tuple[context.AttemptFacts, ...] = ()
    return call_or_warn(lambda: context.attempt_facts(scanned, spans), alone, "its attempts", scanned.source.name, warn)


def _count_records(scanned: Scan, line_format: str) -> int:
    """How many lines of a source are no continuations."""
    whole = scanned.lines <= len(scanned.head)
    return line_formats.count_records(scanned.head, line_format) if whole else scanned.lines - scanned.continued


def _stacks(scanned: Scan, warn: Warn) -> tuple[ProcessStacks, ...]:
    none: tuple[ProcessStacks, ...] = ()
    return call_or_warn(lambda: process_stacks(scanned), none, "its stacks", scanned.source.name, warn)


def _analyze_dump(source: Source, read: Callable[[Warn], Dump | None], warn: Warn) -> SourceAnalysis | None:
    """A dump has lines, and nothing in them is an event by itself: what the dumps of all ranks show together is one."""
    dump = call_or_warn(lambda: read(warn), None, "all of it", source.name, warn)
    if dump is None:
        return None
    lines = tuple(Line(number, text) for number, text in enumerate(dump.text, 1))
    scanned = Scan(source, sum(len(line) + 1 for line in dump.text), len(lines), (), {}, lines, ())
    samples = tuple(correlation.clock_samples(replace(scanned, head=lines[-DUMP_SAMPLES:])))  # all lines have one clock
    return _with_clock_facts(SourceAnalysis(scanned, (), (), samples, frozenset(), "", len(lines), dump=dump), warn)


def _analyze_program(source: Source) -> SourceAnalysis:
    """A program is read for its settings alone: the messages in it are those that it might print."""
    texts = [line.text for part in source.code() for line in part.lines] if source.code else []
    scanned = Scan(source, sum(len(text) + 1 for text in texts), len(texts), (), {}, (), ())
    return SourceAnalysis(scanned, (), (), (), frozenset(), PROGRAM, len(texts))


def _with_clock_facts(found: SourceAnalysis, warn: Warn) -> SourceAnalysis:
    samples = found.samples
    disordered = call_or_warn(lambda: correlation.is_disordered(samples), False, "its order", found.name, warn)
    is_dated, zone = correlation.has_date(samples), correlation.recorded_zone(samples)
    clock = _own_clock(found) if is_dated else None
    return replace(found, is_dated=is_dated, is_disordered=disordered, zone=zone, clock=clock)


def _own_clock(found: SourceAnalysis) -> OwnClock:
    noted: list[Warning] = []
    infer = partial(correlation.infer_clock, found.scan.source, found.samples, [], noted.append)
    clock = call_or_warn(infer, correlation.Clock("none"), "its times", found.name, noted.append)
    return OwnClock(replace(clock, samples=()), clock.unanchored(), tuple(noted))


PROGRAM = "a program"  # in place of a line format: what was read is no log
DUMP_SAMPLES = 4  # lines of a dump that tell its clock
CAPTURED_STACKS = "captured stacks"  # the format of stacks that a capture took: they are no log, whatever their lines look like
MEASURED = frozenset(trigger.kind for trigger in series.triggers())


def scan_again(found: SourceAnalysis, knowledge: Database) -> Scan:
    """The scan of the source with the places of its numbers, which an analysis does not keep."""
    return scan(found.scan.source, knowledge, lambda _warning: None)


def _without_numbers(scanned: Scan) -> Scan:
    return replace(scanned, sample=(), regions={kind: places for kind, places in scanned.regions.items() if kind not in MEASURED})
