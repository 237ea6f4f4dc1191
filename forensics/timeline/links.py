"""Which events speak of the same thing, and by what: pid, GPU, notebook kernel, container, job; else time, within uncertainty."""

from collections import defaultdict
from itertools import combinations

from forensics.model import Event, Link

SAME = ("pid", "pci", "uuid", "kernel_id", "container", "job")
LOCAL = ("pid", "pci")  # mean something on one host only
MAX_EVENTS = 400  # pairs are quadratic; an incident with more is linked by its first ones
NEAR_S = 5.0


def links(events: list[Event]) -> list[Link]:
    """Links between events of different sources, the surest kind of each pair only."""
    events = [e for e in events if e.cause][:MAX_EVENTS]
    found: dict[tuple[tuple[str, int], tuple[str, int]], Link] = {}
    by_value: dict[tuple[str, object], list[Event]] = defaultdict(list)
    for event in events:
        for name in SAME:
            if name in event.fields:
                by_value[name, event.fields[name]].append(event)
    for (name, value), same in by_value.items():
        for a, b in combinations(same, 2):
            if a.place != b.place and not (name in LOCAL and _elsewhere(a, b)):
                found.setdefault((a.place, b.place), Link(a.place, b.place, f"{name} {value}"))
    for a, b in combinations(events, 2):
        gap = near(a, b)
        if a.source != b.source and gap is not None:
            found.setdefault((a.place, b.place), Link(a.place, b.place, f"time, {gap:.1f} s apart"))
    return list(found.values())


def _elsewhere(a: Event, b: Event) -> bool:
    """Do the two name different hosts?"""
    return "host" in a.fields and "host" in b.fields and a.fields["host"] != b.fields["host"]


def near(a: Event, b: Event) -> float | None:
    """Seconds between two events when that is within NEAR_S and what their clocks may be off; None when not or unknown."""
    if a.time is None or b.time is None:
        return None
    gap = abs((a.time - b.time).total_seconds())
    return gap if gap <= NEAR_S + (a.uncertainty_s or 0) + (b.uncertainty_s or 0) else None
