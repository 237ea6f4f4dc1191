"""Small sources that are read together do each stage together, in the first process or in another one, and are packed together.

50 files of 5 KB  ->  all are scanned, then the numbers of all are read, ...; what is known of them is sent at once
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from forensics.advice.curves import DrawnCurves, may_be_shown
from forensics.model import Scan, Source, Warn, Warning
from forensics.outcome.lane_columns import SentLanes, received_lanes, sent_lanes
from forensics.pipeline.file_pool import is_forked
from forensics.pipeline.parked import Packed, parked_samples, parked_scans
from forensics.pipeline.stages import SourceAnalysis, Stages, Tools, in_turns, stages_of
from forensics.pipeline.time_shares import TimeShares
from forensics.readers.settings.attempts import AttemptFacts
from forensics.sources.later import is_plain

MAX_TOGETHER_BYTES = 256 << 10  # chosen by hand: some fifty files of 5 KB; of files as large as this, each is read by itself


class Small(Struct):
    """What came of a small source: its analysis and warnings, whether there was time for it, and the seconds that it took."""

    found: SourceAnalysis | None
    noted: list[Warning]
    is_granted: bool
    seconds: float
    is_elsewhere: bool = False  # read by another process
    is_unlike: bool = False  # it is no plain text, or there is a warning about it: the first process opens it anew


def analyze_small(tools: Tools, shares: TimeShares, is_parked: bool, sources: Sequence[Source]) -> list[Small]:
    """What comes of each of `sources`. `is_parked`: it is kept in little memory."""
    several = (_analyze_together(tools, shares, together) for together in read_together(sources))
    return [*chain.from_iterable(map(unpacked, map(_packed, several)) if is_parked and not is_forked() else several)]


def read_together(sources: Iterable[Source]) -> Iterator[list[Source]]:
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


def _analyze_together(tools: Tools, shares: TimeShares, sources: Sequence[Source]) -> list[Small]:
    before = shares.seconds()
    noted: list[list[Warning]] = [[] for _ in sources]
    granted: list[bool] = []
    unlike: set[int] = set()
    scans: list[Scan] = []

    def stages(number: int, source: Source, warn: Warn) -> Stages:
        granted.append(shares.grant(source))
        share = shares.current
        if source.opens and granted[-1]:
            told = list[Warning]()
            opened = source.opens(told.append)
            if told or not is_plain(opened):
                unlike.add(number)
                return None
            (source,) = opened
            yield
        return (yield from stages_of(source, tools, warn, share, scans)) if granted[-1] else None

    found = in_turns([stages(i, source, own.append) for i, (source, own) in enumerate(zip(sources, noted, strict=True))])
    seconds = (shares.seconds() - before) / len(sources)
    return [Small(*one, seconds, is_unlike=i in unlike) for i, one in enumerate(zip(found, noted, granted, strict=True))]


def received(small: Small, source: Source, shares: TimeShares, warn: Warn, drawn: DrawnCurves | None) -> list[SourceAnalysis]:
    """The analysis of a source that was read here or in another process. `drawn`: takes its curves, where there are very many."""
    for warning in small.noted:
        warn(warning)
    if small.is_elsewhere:
        shares.was_read(source, small.seconds, small.is_granted)
    if small.found is None:
        return []
    source = replace(source, label=small.found.scan.source.label) if source.opens else source
    found = replace(small.found, scan=replace(small.found.scan, source=source))
    if drawn is None:
        return [found]
    drawn.take(found.curves)
    return [replace(found, curves=())]


def _packed(several: Sequence[Small]) -> tuple[list[Small], SentLanes]:
    """What analyze_small() gave, in a form that can be pickled: without the function that opens the source, and lanes apart."""
    scans = iter(parked_scans([small.found.scan for small in several if small.found]))
    lanes = sent_lanes([(small.found.lanes, small.found.scan.head) for small in several if small.found])
    shown = {id(curve) for curve in may_be_shown([curve for small in several if small.found for curve in small.found.curves])}
    return [replace(small, found=small.found and _parked(small.found, next(scans), shown)) for small in several], lanes


def _parked(found: SourceAnalysis, scanned: Scan, shown: Container[int]) -> SourceAnalysis:
    """`found` in little memory, with this scan, without its lanes, and of its curves with those that may be `shown`."""
    source = Source(found.name, _no_blocks, label=found.scan.source.label)
    samples = parked_samples(found.samples, scanned.head)
    curves = tuple(curve for curve in found.curves if id(curve) in shown)
    attempted = Packed(found.attempted, AttemptFacts) if found.attempted else ()
    scanned = replace(scanned, source=source)
    return replace(found, scan=scanned, samples=samples, lanes=(), curves=curves, attempted=attempted)


def sent(several: Sequence[Small]) -> tuple[list[Small], SentLanes]:
    """What came of sources in another process, as it is sent."""
    return _packed([replace(small, is_elsewhere=True) for small in several])


def unpacked(packed: tuple[list[Small], SentLanes]) -> list[Small]:
    """What came of sources, as it was packed."""
    several, sent_of_all = packed
    lanes = iter(received_lanes(sent_of_all, [(small.found.name, small.found.scan.head) for small in several if small.found]))
    return [replace(small, found=small.found and replace(small.found, lanes=next(lanes))) for small in several]


def _no_blocks(_warn: Warn) -> Iterator[bytes]:
    return iter(())
