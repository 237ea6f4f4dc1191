"""Measure: numbers that a log prints again and again become Observations where they show trouble.

    step 100 rss 1.2 GB ... step 900 rss 9.8 GB -> "memory grew by 10.7 MiB a step and did not flatten"

gather.py reads the numbers of lines, tables.py, processes.py and gauges.py those that tools print in forms of their own;
growth.py and evaluation.py find leaks, finite.py NaN and divergence, pace.py slow-downs (heat.py: their reason), waves.py,
epochs.py and ranks.py uneven ones, silence.py runs that stopped printing; trend.py holds the statistics. The scanner hands over
an even sample of the lines of each kind, so memory is bounded. numpy and pandas are needed only where a person asks for a file
or a picture (export.py).
"""

from forensics.database import Database
from forensics.model import Observation, Scan, Trigger
from forensics.series.base import Reading, Series
from forensics.series.curves import curves
from forensics.series.gather import TRIGGERS, Numbers, gather_numbers
from forensics.series.limits import with_limit_steps
from forensics.series.outcomes import OUTCOMES, RECORD

__all__ = [
    "NONE",
    "OUTCOMES",
    "RECORD",
    "Numbers",
    "Reading",
    "Series",
    "curves",
    "gather_numbers",
    "read",
    "series_of",
    "triggers",
    "with_limit_steps",
]


NONE = Numbers((), ())


def triggers() -> tuple[Trigger, ...]:
    """The lines that may carry a number of a series."""
    return TRIGGERS


def read(scan: Scan, knowledge: Database, found: Numbers | None = None) -> list[Observation]:
    """What the series of one source tell. `knowledge` says which cause that proves. `found`: its numbers, where they were read
    before."""
    found = found or gather_numbers(scan)
    if not found.series and not found.progress:
        return []
    from forensics.series.events import events  # half of this package, which a log without numbers does not need

    return events(scan, found, knowledge.records[RECORD])


def series_of(scan: Scan) -> tuple[Series, ...]:
    """All series of one source, by their first line."""
    return gather_numbers(scan).series
