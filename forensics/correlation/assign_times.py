"""Events to their times and lanes, in order, each source's own order kept whatever its clock does.

Aug 22 03:00:07 (no year, no zone), file written 2025-08-22 -> 2025-08-22T03:00:07+00:00, lane `wall`
[11686.888109] (seconds since boot, no anchor)              -> no time, lane `boot of dmesg.txt`
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime

from msgspec.structs import replace

from forensics.correlation.clock import Clock
from forensics.correlation.clock_alignment import located
from forensics.correlation.timestamp_resolver import Placed
from forensics.model import Observation

START = datetime.min.replace(tzinfo=UTC)


def place(events: list[Observation], clocks: dict[str, Clock]) -> list[Observation]:
    """`events` with time, uncertainty in seconds and lane, in order: placed ones by time, others by source and line.

    Lines of one source stay in its order: a clock that was set back does not turn them.
    """
    by_source: dict[str, list[Observation]] = defaultdict(list)
    for event in events:
        by_source[event.source].append(event)
    rows: list[tuple[tuple[str, datetime, str, int], Observation]] = []
    for source in sorted(clocks.keys() & by_source):
        rows += _of_source(by_source[source], clocks[source], source)
    return [event for _, event in sorted(rows, key=lambda row: row[0])]


def _of_source(
    events: Iterable[Observation], clock: Clock, source: str
) -> Iterable[tuple[tuple[str, datetime, str, int], Observation]]:
    latest = START
    for order, (event, placed) in enumerate(located(events, clock, source)):
        latest = max(latest, placed.time or START)
        made = _with(event, placed)
        yield (made.lane, latest if placed.time else START, source, order), made


def _with(event: Observation, placed: Placed) -> Observation:
    if placed.time is None:
        return replace(event, lane=placed.lane)
    off = placed.uncertainty_s
    proofs = tuple(replace(p, time=placed.time, uncertainty_s=off) for p in event.proofs)
    return replace(event, time=placed.time, uncertainty_s=off, lane=placed.lane, proofs=proofs)
