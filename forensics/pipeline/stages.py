"""The analysis of one source, stage by stage. A fault of this program becomes a Warning, so that the rest is still analysed.

series.numbers(scan) raises ZeroDivisionError  ->  Warning("internal", "internal error (ZeroDivisionError, trend.py:41), please
report it; left out: its series", "train.log"), and the diagnosis goes on without them
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from forensics import correlation, line_formats, outcome, readers, series
from forensics.advice import curves as drawn_curves
from forensics.core.errors import ForensicsError, unexpected
from forensics.core.input_time import Share
from forensics.correlation import ClockSample
from forensics.database import Database
from forensics.model import Line, Observation, Scan, Source, Warn, Warning
from forensics.model.dumps import Dump
from forensics.model.stacks import ProcessStacks
from forensics.model.verdicts import Lane
from forensics.pipeline.teardown import Teardown, find_teardown
from forensics.readers.capture.captured_end import CapturedRun, captured_run
from forensics.readers.python.process_stacks import process_stacks
from forensics.readers.settings.attempts import AttemptFacts, attempt_facts
from forensics.scan import Matcher, Workers, scan
from forensics.sources.programs import is_program

T = TypeVar("T")
PROGRAM = "a program"  # in place of a line format: what was read is no log
DUMP_SAMPLES = 4  # lines of a dump that tell its clock
CAPTURED_STACKS = "captured stacks"  # the format of stacks that a capture took: they are no log, whatever their lines look like
MEASURED = frozenset(trigger.kind for trigger in series.TRIGGERS)


def call_or_warn(call: Callable[[], T], default: T, what: str, source: str | None, warn: Warn) -> T:
    """The result of `call`. Where it raises: `default`, and a Warning that `what` is left out. A ForensicsError passes."""
    try:
        return call()
    except ForensicsError:
        raise
    except Exception as error:
        warn(Warning("internal", f"{unexpected(error)}; left out: {what}", source))
        return default


class OwnClock(Struct, frozen=True):
    """The clock of a source with a full date, which needs no other source for it, and the warnings about it. `clock`: without
    the samples that it was inferred from. `is_unanchored`: it counts seconds since a boot whose time is unknown."""

    clock: correlation.Clock
    is_unanchored: bool
    noted: tuple[Warning, ...]

    def of(self, samples: Sequence[ClockSample]) -> correlation.Clock:
        """The clock with the samples of its source."""
        return replace(self.clock, samples=tuple(reversed(samples)) if self.clock.backwards else tuple(samples))


class SourceAnalysis(Struct, frozen=True):
    """What one source holds. `scan`: without the places of numbers, which became `curves`: what a report could show of them.

    `samples`: what its lines show about its clock; `is_dated`, `is_disordered`, `zone`, `clock`: what they show together.
    `pids`: those that its ends name. `line_format`: that of most of its first lines. `records`: how many lines are no
    continuations. `lanes`: whose its lines are, and how each of them ends. `attempted`: what each attempt of the longest of them
    says of itself. `dump`: of a source that is one. `stacks`: those of whole processes. `captured`: what a capture says of the
    run. `is_account`: it is a table with rows of several jobs.
    """

    scan: Scan
    events: tuple[Observation, ...]
    curves: tuple[drawn_curves.Ranked, ...]
    samples: Sequence[ClockSample]
    pids: tuple[int, ...]
    line_format: str
    records: int
    lanes: Sequence[Lane] = ()
    attempted: Sequence[AttemptFacts] = ()
    dump: Dump | None = None
    stacks: tuple[ProcessStacks, ...] = ()
    captured: CapturedRun | None = None
    is_account: bool = False
    is_dated: bool = False
    is_disordered: bool = False
    zone: timedelta | None = None
    clock: OwnClock | None = None

    @property
    def name(self) -> str:
        """The source's."""
        return self.scan.source.name


class Tools(Struct, frozen=True):
    """What all sources are analysed with."""

    knowledge: Database
    matcher: Matcher


Stages = Generator[None, None, SourceAnalysis | None]


def in_turns(works: Sequence[Stages]) -> list[SourceAnalysis | None]:
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


def stages_of(
    source: Source, tools: Tools, warn: Warn, share: Share | None, scans: list[Scan], threads: Workers | None = None
) -> Stages:
    """The analysis of one source, stage by stage, None where it has no lines. A stage that fails is left out with a Warning.
    `share`: the processor time for it. `scans`: of the sources that do their stages together, of which this one is added."""
    if source.dump is not None or is_program(source):
        return _analyze_dump(source, source.dump, warn) if source.dump else _analyze_program(source)
    name, knowledge = source.name, tools.knowledge
    none: list[Observation] = []
    undrawn: tuple[drawn_curves.Ranked, ...] = ()
    scanned = call_or_warn(partial(scan, source, knowledge, warn, tools.matcher, threads, share), None, "all of it", name, warn)
    if not scanned or not (scanned.lines or source.format == "notebook"):  # one without outputs still is a program
        return None
    scans.append(scanned)
    yield
    if scanned is scans[0]:
        with suppress(Exception):  # of one of them: each stage that asks for it tells so
            line_formats.parse_together([one.head for one in scans])
    gather = partial(series.gather_numbers, scanned, telling=True, beside=scans)
    numbers = call_or_warn(gather, series.NONE, "its series", name, warn)
    yield
    events = call_or_warn(lambda: readers.read(scanned, knowledge, warn), none, "its records", name, warn)
    yield
    events = call_or_warn(lambda: series.with_events(events, scanned, numbers, knowledge), events, "its series", name, warn)
    yield
    samples = call_or_warn(lambda: correlation.clock_samples(scanned, events), list[ClockSample](), "its times", name, warn)
    yield
    curves = call_or_warn(lambda: drawn_curves.curves(source, numbers.series), undrawn, "its curves", name, warn)
    yield
    pids, is_account = tuple(correlation.program_pids(scanned)), correlation.is_account(scanned)
    line_format, count = line_formats.recognise(scanned.head)
    count = count if scanned.lines <= len(scanned.head) else scanned.lines - scanned.continued
    yield
    classes = outcome.line_classes(knowledge)
    teardown = call_or_warn(lambda: find_teardown(scanned, events, classes), Teardown(events), "its teardown", name, warn)
    unsplit: tuple[tuple[Lane, ...], list[Observation]] = ((), [*teardown.events])
    split = partial(outcome.split_lanes, scanned, line_format, unsplit[1], classes, teardown.lines)
    lanes, events = call_or_warn(split, unsplit, "how it ended", name, warn)
    yield
    found = SourceAnalysis(scanned, tuple(events), curves, samples, pids, line_format, count, lanes, is_account=is_account)
    return (yield from _with_account(found, warn))


def _with_account(found: SourceAnalysis, warn: Warn) -> Generator[None, None, SourceAnalysis]:
    """`found` with what the log says of its attempts and of its run, and with what its times show together."""
    scanned, name = found.scan, found.name
    said = _attempt_facts(scanned, found.lanes, warn)
    yield
    kept, stacks = _without_numbers(scanned), _stacks(scanned, warn)
    run = call_or_warn(lambda: captured_run(scanned), None, "its account", name, warn)
    if scanned.source.format == CAPTURED_STACKS:
        return SourceAnalysis(kept, (), (), (), (), found.line_format, found.records, stacks=stacks)
    return _with_clock_facts(replace(found, scan=kept, attempted=said, stacks=stacks, captured=run), warn)


def _attempt_facts(scanned: Scan, lanes: Sequence[Lane], warn: Warn) -> tuple[AttemptFacts, ...]:
    spans = [(a.first_line, a.last_line) for a in lanes[0].attempts] if lanes and lanes[0].kind == "job" else []
    alone: tuple[AttemptFacts, ...] = ()
    return call_or_warn(lambda: attempt_facts(scanned, spans), alone, "its attempts", scanned.source.name, warn)


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
    return _with_clock_facts(SourceAnalysis(scanned, (), (), samples, (), "", len(lines), dump=dump), warn)


def _analyze_program(source: Source) -> SourceAnalysis:
    """A program is read for its settings alone: the messages in it are those that it might print."""
    texts = [line.text for part in source.code() for line in part.lines] if source.code else []
    scanned = Scan(source, sum(len(text) + 1 for text in texts), len(texts), (), {}, (), ())
    return SourceAnalysis(scanned, (), (), (), (), PROGRAM, len(texts))


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


def _without_numbers(scanned: Scan) -> Scan:
    return replace(scanned, sample=(), regions={kind: places for kind, places in scanned.regions.items() if kind not in MEASURED})
