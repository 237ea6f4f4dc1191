"""The numbers of one source to Observations: each kind of fault has a module, and no such module uses another.

rss 1.2 GB ... rss 9.8 GB -> series/growth      loss 0.31 ... loss nan -> series/nan      9 h of nothing -> series/silence
"""

from forensics.model import Observation, Scan
from forensics.readers.numbers.gather import Numbers
from forensics.series.memory import evaluation_events, growth_events
from forensics.series.numerics import numeric_events
from forensics.series.observations import NOT_FINITE, SILENT, Proves
from forensics.series.silence import silence_events
from forensics.series.slowdown import slowdown_events


def events(scan: Scan, found: Numbers, proves: Proves) -> list[Observation]:
    """The observations that `found`, the numbers of `scan`, show. `proves`: the cause of each outcome."""
    at_evaluations = evaluation_events(scan, found, proves)
    explained = {e.fields["series"] for e in at_evaluations}
    return [
        *at_evaluations,
        *(e for e in growth_events(scan, found.series, proves) if e.fields["series"] not in explained),
        *numeric_events(scan, found.series, proves[NOT_FINITE].cause),
        *slowdown_events(scan, found.series, proves),
        *silence_events(scan, found, proves[SILENT].cause),
    ]
