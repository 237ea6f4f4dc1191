"""The table of sources: the format of each, its times, its size, and the warnings about it.

SourceAnalysis, Clock -> SourceSummary("dmesg.txt", format "dmesg", 4,812 lines, clock "uptime", ...)
"""

from collections.abc import Mapping

from forensics import correlation
from forensics.model import SourceSummary, Warning
from forensics.source_analysis import SourceAnalysis


def source_summaries(
    analyses: list[SourceAnalysis], clocks: Mapping[str, correlation.Clock], noted: list[Warning]
) -> tuple[SourceSummary, ...]:
    """A row for each source, with the warnings of `noted` about it."""
    about: dict[str | None, list[Warning]] = {}
    for warning in dict.fromkeys(noted):
        about.setdefault(warning.source, []).append(warning)
    return tuple(_source(r, clocks[r.name], about.get(r.name, [])) for r in analyses)


def _source(reading: SourceAnalysis, clock: correlation.Clock, noted: list[Warning]) -> SourceSummary:
    scanned = reading.scan
    return SourceSummary(
        name=reading.name,
        format=scanned.source.format or reading.line_format,
        compression=scanned.source.compression,
        bytes=scanned.bytes,
        lines=scanned.lines,
        records=reading.records,
        first_time=clock.first,
        last_time=clock.last,
        clock=clock.kind,
        warnings=tuple(f"{w.kind}: {w.message}" for w in noted),
    )
