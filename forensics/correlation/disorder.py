"""Find out whether a source is out of order: its stamps go back and forth, so the order of its lines means nothing.

03:00:09 step 90 / 03:00:02 step 20 / 03:00:07 step 70 / 03:00:01 step 10 ...     -> yes: sorted by something else, or mixed

These are in order: a clock that was set, a file to which another run is appended, ranks that write a moment late, and a log with
the newest line first. Their stamps go back rarely, by little, or in one direction only.
"""

from collections.abc import Iterable
from datetime import datetime
from itertools import pairwise

from forensics.correlation.timestamp_resolver import naive
from forensics.readers.stamps.clock_samples import ClockSample

MIN_STAMPED_LINES = 12  # with fewer, any order may be chance
MIN_BACKWARD_SHARE = 1 / 3  # of the steps from one stamp to the next, those that go back; half of them in random order
LEAP_YEAR_START = datetime(1904, 1, 1)
MIN_BACKWARD_SPANS = 2.5  # the sum of all steps back, in spans of the log; n / 6 for n lines in random order


def is_disordered(samples: Iterable[ClockSample]) -> bool:
    """Is the source of these samples out of order? `samples`: in order of line."""
    times = [t for t in map(_seconds, samples) if t is not None]
    span = max(times, default=0.0) - min(times, default=0.0)
    back = [a - b for a, b in pairwise(times) if b < a]
    forth = len(times) - 1 - len(back)
    return (
        len(times) >= MIN_STAMPED_LINES
        and len(back) / (len(times) - 1) >= MIN_BACKWARD_SHARE
        and forth > 0
        and sum(back) > MIN_BACKWARD_SPANS * span > 0
    )


def _seconds(sample: ClockSample) -> float | None:
    """The stamp in seconds, for comparison with stamps of the same kind: since LEAP_YEAR_START, or since boot."""
    stamp = sample.stamp
    if stamp is None or sample.header or stamp.delta is not None:
        return None
    if stamp.wall is not None:
        return (naive(stamp.wall) - LEAP_YEAR_START).total_seconds()
    return stamp.mono
