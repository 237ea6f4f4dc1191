"""Give each event its time and lane, and sort the events. The lines of one source keep their order, whatever its clock does.

Aug 22 03:00:07 (no year, no zone), file written 2025-08-22 -> 2025-08-22T03:00:07+00:00, lane `wall`
[11686.888109] (seconds since boot, no anchor)              -> no time, lane `boot of dmesg.txt`
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from forensics.correlation.clock import Clock
from forensics.correlation.clock_alignment import events_in_order
from forensics.correlation.timestamp_resolver import ResolvedTime
from forensics.line_formats import parse_prefix
from forensics.model import Observation, Proof
from forensics.readers.stamps.clock_samples import MIN_DAY_CHANGE

EARLIEST_TIME = datetime.min.replace(tzinfo=UTC)
MAX_EVENT_SPAN = timedelta(days=300)  # if two lines of one event are further apart, one of their years was guessed wrong


def assign_times(events: list[Observation], clocks: dict[str, Clock]) -> list[Observation]:
    """`events` with time, uncertainty in seconds and lane; those with a time in order of time, others by source and line.

    Lines of one source keep their order, even if its clock was set back.
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
    latest = EARLIEST_TIME
    for order, (event, placed) in enumerate(events_in_order(events, clock, source)):
        latest = max(latest, placed.time or EARLIEST_TIME)
        made = _with(event, placed)
        yield (made.lane, latest if placed.time else EARLIEST_TIME, source, order), made


def _with(event: Observation, placed: ResolvedTime) -> Observation:
    if placed.time is None:
        return replace(event, lane=placed.lane)
    off = placed.uncertainty_s
    times = [(p, _own_time(p, event, placed.time)) for p in event.proofs]
    stamped = any(parse_prefix(p.text).stamp for p in event.proofs)
    proofs = tuple(replace(p, time=t, time_uncertainty_s=off if t else None, stamped=stamped or t is None) for p, t in times)
    return replace(event, time=placed.time, uncertainty_s=off, lane=placed.lane, proofs=proofs)


def _own_time(proof: Proof, event: Observation, time: datetime) -> datetime | None:
    """The time of one line of `event`: the event's `time` plus the difference between the two lines' stamps.

    None for a later line without a stamp of a message that was repeated: nothing tells when it was printed again.
    """
    if event.stamp is None or len(event.proofs) == 1:
        return time
    own, of_event = parse_prefix(proof.text).stamp, event.stamp
    if own is None and event.count > 1 and proof.line > event.line:
        return None
    if own is None or own.lacks != of_event.lacks:
        return time
    if own.wall and of_event.wall and (own.wall.tzinfo is None) == (of_event.wall.tzinfo is None):
        apart = own.wall - of_event.wall
        if own.lacks == "date" and abs(apart) > MIN_DAY_CHANGE:  # past midnight
            return time
    elif own.mono is not None and of_event.mono is not None:
        apart = timedelta(seconds=own.mono - of_event.mono)
    else:
        return time
    return time + apart if abs(apart) < MAX_EVENT_SPAN else time
