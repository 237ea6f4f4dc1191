"""Placed events to incidents: silence on the wall clock cuts; events without a time stay with their own source's.

The incident that `causes` speaks of comes first: the last one that holds more than hints.
"""

from collections import defaultdict
from datetime import datetime, timedelta

from forensics.model import Event, Incident
from forensics.timeline.links import links

SILENCE = timedelta(hours=2)


def incidents(events: list[Event]) -> list[Incident]:
    """Incidents, the one the job died of first; none for no events."""
    timed = sorted((e for e in events if e.time), key=lambda e: (e.time, e.source, e.line))
    groups: list[list[Event]] = []
    last: datetime | None = None
    for event in timed:
        if last is None or event.time is None or event.time - last > SILENCE:
            groups.append([])
        groups[-1].append(event)
        last = event.time
    for event in events:
        if event.time is None:
            _join(groups, event)
    made = [_incident(g) for g in groups]
    made.reverse()
    return sorted(made, key=lambda i: not any(e.weight != "hint" and e.cause for e in i.events))


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


def _incident(events: list[Event]) -> Incident:
    times = [e.time for e in events if e.time]
    ordered = sorted(events, key=lambda e: (e.time is None, e.time or datetime.min, e.source, e.line))
    return Incident(tuple(ordered), tuple(links(ordered)), min(times, default=None), max(times, default=None))
