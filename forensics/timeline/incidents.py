"""Placed events to incidents: silence on the wall clock cuts; events without a time stay with their own source's.

A fault of hardware that comes back is one story however long it was silent: what the same device told of the same cause before
goes to the last incident in which it tells it.

The incident that `causes` speaks of comes first: the last one that holds more than hints.
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta

from forensics.identity import Tie
from forensics.model import Event, Incident, Value
from forensics.timeline.links import links

SILENCE = timedelta(hours=2)
HARDWARE = ("gpu_hardware.", "host_hardware.")
DEVICES = ("pci", "uuid", "dimm", "disk")


def incidents(events: list[Event], told: Iterable[Tie] = ()) -> list[Incident]:
    """Incidents, the one the job died of first; none for no events. `events`: in order, as `place` gives them.

    `told`: lines that name one thing in several ways, for the links.
    """
    told = tuple(told)
    timed = [e for e in events if e.time]
    groups: list[list[Event]] = []
    spans: list[tuple[datetime, datetime]] = []
    at = -1
    for event in timed:
        at = _group(spans, at, event.time or datetime.min)
        if at == len(groups):
            groups.append([])
        groups[at].append(event)
    for event in events:
        if event.time is None:
            _join(groups, event)
    made = [_incident(g, told) for g in _with_recurring(groups)]
    made.reverse()
    return sorted(made, key=lambda i: not any(e.weight != "hint" and e.cause for e in i.events))


def _group(spans: list[tuple[datetime, datetime]], at: int, time: datetime) -> int:
    """Which of the groups an event at `time` goes to: the one before it, `at`, or another that is no SILENCE away, or a new one.

    A source whose lines tell two clocks in turn makes two groups, not one at each turn.
    """
    tried: list[int] = [at, *range(len(spans) - 1, -1, -1)] if spans else []
    for i in tried:
        first, last = spans[i]
        if first - SILENCE <= time <= last + SILENCE:
            spans[i] = min(first, time), max(last, time)
            return i
    spans.append((time, time))
    return len(spans) - 1


def _join(groups: list[list[Event]], event: Event) -> None:
    """Put an event without a time to the nearest line of its own source, else to the last incident."""
    distances: dict[int, int] = defaultdict(lambda: 1 << 60)
    for i, group in enumerate(groups):
        for other in group:
            if other.source == event.source:
                distances[i] = min(distances[i], abs(other.line - event.line))
    if distances:
        groups[min(distances, key=lambda i: distances[i])].append(event)
    elif groups:
        groups[-1].append(event)
    else:
        groups.append([event])


def _with_recurring(groups: list[list[Event]]) -> list[list[Event]]:
    """`groups`, in order, with earlier reports of a hardware fault moved to the last group that has such a report of weight."""
    last: dict[tuple[str, str, Value], int] = {}
    for i, group in enumerate(groups):
        last |= {fault: i for e in group if e.weight != "hint" and (fault := _fault(e))}
    made: list[list[Event]] = [[] for _ in groups]
    for i, group in enumerate(groups):
        for event in group:
            fault = _fault(event)
            made[max(i, last.get(fault, i)) if fault else i].append(event)
    return [group for group in made if group]


def _fault(event: Event) -> tuple[str, str, Value] | None:
    """Cause and device of a hardware fault; None for anything else."""
    if not str(event.cause).startswith(HARDWARE):
        return None
    return next(((str(event.cause), name, event.fields[name]) for name in DEVICES if name in event.fields), None)


def _incident(events: list[Event], told: tuple[Tie, ...]) -> Incident:
    times = [e.time for e in events if e.time]
    ordered = [e for e in events if e.time]
    ordered += sorted((e for e in events if not e.time), key=lambda e: (e.source, e.line))
    return Incident(tuple(ordered), tuple(links(ordered, told)), min(times, default=None), max(times, default=None))
