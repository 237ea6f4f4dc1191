"""Failures over time as bars, each divided by the kind of cause.

Failures of 40 days -> OverTime(start, end, bars=(Bar(0, "memory", 0.0, 2, "2026-03-01 12:00 to ...: 2"), ...), most=7)
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct

MAX_BARS = 60  # chosen by hand: on a phone a bar is five pixels wide
MIN_DRAWN_FAILURES = 5  # chosen by hand: fewer can be read from the list


class Bar(Struct, frozen=True):
    """`place`: which stretch of time, from 0. `count` failures of one `kind` stand on `below` others. `text`: of the stretch."""

    place: int
    kind: str
    below: int
    count: int
    text: str


class OverTime(Struct, frozen=True):
    """All bars. `most`: failures of the fullest stretch."""

    start: datetime
    end: datetime
    bars: tuple[Bar, ...]
    most: int


def over_time(failures: Sequence[tuple[datetime, str]], kinds: Sequence[str]) -> OverTime | None:
    """The bars of failures (time, kind), in each bar the kinds in the given order; None where there is too little to draw."""
    times = [time.replace(tzinfo=None) for time, _ in failures]  # as they are shown
    if len(times) < MIN_DRAWN_FAILURES or min(times) == max(times):
        return None
    start, end = min(times), max(times)
    step = (end - start) / MAX_BARS
    stretches: dict[int, Counter[str]] = defaultdict(Counter)
    for time, (_, kind) in zip(times, failures, strict=True):
        stretches[min(MAX_BARS - 1, int((time - start) / step))][kind] += 1
    bars: list[Bar] = []
    for place, counts in sorted(stretches.items()):
        text, below = f"{_stretch(start, step, place)}: {counts.total()}", 0
        for kind in (k for k in kinds if counts[k]):
            bars.append(Bar(place, kind, below, counts[kind], text))
            below += counts[kind]
    return OverTime(start, end, tuple(bars), max(c.total() for c in stretches.values()))


def _stretch(start: datetime, step: timedelta, place: int) -> str:
    first, last = start + place * step, start + (place + 1) * step
    return f"{first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M}"
