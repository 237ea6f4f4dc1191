"""Analyse each source by itself: Source -> SourceAnalysis with its scan, observations, curves and clock samples.

Threads match the chunks of a large source; processes read many small sources. The result does not depend on their number.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import chain

from msgspec.structs import replace

from forensics.advice.curves import DrawnCurves
from forensics.database import Database
from forensics.model import Scan, Source, Warn, Warning
from forensics.model.logs import Opening
from forensics.pipeline.file_pool import is_small, read_in_pool
from forensics.pipeline.prefetch import read_ahead
from forensics.pipeline.stages import PROGRAM, SourceAnalysis, Tools, call_or_warn, in_turns, stages_of
from forensics.pipeline.time_shares import TimeShares
from forensics.pipeline.together import analyze_small, received, sent, unpacked
from forensics.scan import Workers, matcher_of, scan

__all__ = ["PROGRAM", "SourceAnalysis", "analyze_sources", "call_or_warn", "scan_again"]
MIN_PARKED_SOURCES = 500  # chosen by hand: fewer take some 20 MiB as they are


def analyze_sources(
    given: Iterable[Source],
    knowledge: Database,
    warn: Warn,
    workers: int | None = None,
    opening: Callable[[tuple[int, Warning]], None] = lambda _: None,
) -> list[SourceAnalysis]:
    """The analysis of each source that has lines, in order. `workers`: threads or processes at work (default: one a core).
    `opening`: takes warnings about files that are opened here, each with the number of warnings before it."""
    tools, given, count = Tools(knowledge, matcher_of(knowledge)), list(given), workers or os.cpu_count() or 1
    small = [source for source in given if is_small(source)]
    shares = TimeShares(given)
    done: list[SourceAnalysis] = []
    drawn = DrawnCurves()
    is_parked = len(given) >= MIN_PARKED_SOURCES
    read_small = partial(analyze_small, tools, shares, is_parked)
    with Workers(count) as threads, closing(read_in_pool(small, read_small, count, sent, unpacked)) as pooled:

        def read(source: Source) -> Iterator[SourceAnalysis]:
            if shares.grant(source):
                whole = read_ahead(source) if count > 1 else source
                yield from filter(None, in_turns([stages_of(whole, tools, warn, shares.current, [], threads)]))

        try:
            for source in given:
                found = next(pooled) if is_small(source) else None
                if found is None:
                    done += read(source)
                elif source.opens and found.is_unlike:
                    done += chain.from_iterable(map(read, _opened(source, source.opens, shares, opening)))
                else:
                    done += received(found, source, shares, warn, drawn if is_parked else None)
        except BaseException as stop:  # Ctrl-C, for one
            _add_note(stop, done)
            raise
    shares.end(warn)
    curves = drawn.by_source()
    return [replace(r, curves=curves[r.name]) if r.name in curves else r for r in done]


def _opened(source: Source, opens: Opening, shares: TimeShares, opening: Callable[[tuple[int, Warning]], None]) -> list[Source]:
    """The sources in a file that was not opened so far, and is not what it was taken for."""
    noted: list[Warning] = []
    opened = opens(noted.append)
    for warning in noted:
        opening((opens.place, warning))
    shares.expect(opened, source)
    return opened


def _add_note(stop: BaseException, done: Sequence[SourceAnalysis]) -> None:
    """Tell how much was read before it stopped."""
    if done:
        size, lines = sum(r.scan.bytes for r in done), sum(r.scan.lines for r in done)
        stop.add_note(f"{len(done):,} whole source{'s' * (len(done) > 1)}, {lines:,} lines ({size:,} bytes)")


def scan_again(found: SourceAnalysis, knowledge: Database) -> Scan:
    """The scan of the source with the places of its numbers, which an analysis does not keep."""
    return scan(found.scan.source, knowledge, lambda _warning: None)
