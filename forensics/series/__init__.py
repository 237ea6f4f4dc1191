"""Measure: numbers that a log prints again and again become Events where they tell something.

    step 100 rss 1.2 GB ... step 900 rss 9.8 GB -> "memory grew by 10.7 MiB a step and did not flatten"

Read here: memory in use, of the host and of the GPU, per source and rank. The scanner hands over an even sample of the lines,
so memory is bounded.
"""

from forensics.model import Event, Scan, Trigger
from forensics.series.growth import growth_events
from forensics.series.memory import TRIGGER, samples

__all__ = ["read", "triggers"]


def triggers() -> tuple[Trigger, ...]:
    """The lines that may carry a number of a series."""
    return (TRIGGER,)


def read(scan: Scan) -> list[Event]:
    """What the series of one source tell."""
    return growth_events(scan, samples(scan.regions.get(TRIGGER.kind, ())))
