"""Time series: numbers that a log prints repeatedly become Observations when they show a fault.

    step 100 rss 1.2 GB ... step 900 rss 9.8 GB -> "memory grew by 10.7 MiB a step and did not flatten"

Readers: gather.py reads labelled numbers in lines; tables.py, processes.py and memory_tools.py read the output of tools.
Detectors: growth.py and evaluation.py find memory leaks; numerics.py NaN and divergence; slowdown.py slow-downs (throttling.py:
their reason); silence.py runs that stopped printing. trend.py holds the statistics. The scanner supplies an even sample of the
lines of each kind, so memory is bounded. pandas and matplotlib are imported only when a user asks for a file (export.py) or a
picture (plot.py).
"""

from forensics.database import Database
from forensics.model import Observation, Scan, Trigger
from forensics.readers.numbers.base import Reading, Series
from forensics.readers.numbers.gather import TRIGGERS, Numbers, ProgressLines, gather_numbers
from forensics.series.curves import curves
from forensics.series.limit_steps import with_limit_steps
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


NONE = Numbers((), ProgressLines())


def triggers() -> tuple[Trigger, ...]:
    """The triggers of all lines that may hold a number of a series."""
    return TRIGGERS


def read(scan: Scan, knowledge: Database, found: Numbers | None = None) -> list[Observation]:
    """The observations that the series of one source show. `knowledge`: the cause of each outcome. `found`: the numbers of the
    source, if they were gathered before."""
    found = found or gather_numbers(scan)
    if not found.series and not found.progress:
        return []
    from forensics.series.events import events  # imports half of this package, which a log without numbers does not need

    return events(scan, found, knowledge.records[RECORD])


def series_of(scan: Scan) -> tuple[Series, ...]:
    """All series of one source, in order of their first lines."""
    return gather_numbers(scan).series
