"""The numbers of one source to Observations: each kind of fault has a module, and no such module uses another.

rss 1.2 GB ... rss 9.8 GB -> series/growth      loss 0.31 ... loss nan -> series/nan      9 h of nothing -> series/silence
"""

from collections.abc import Sequence

from forensics.model import Observation, Scan
from forensics.readers.numbers.base import Series
from forensics.readers.numbers.gather import Numbers
from forensics.series.epochs import epoch_events
from forensics.series.evaluation import evaluation_events
from forensics.series.growth import growth_events
from forensics.series.held_clocks import held_clocks
from forensics.series.numerics import numeric_events
from forensics.series.outcomes import NOT_FINITE, SILENT, Proves
from forensics.series.ranks import straggler_events
from forensics.series.saw_tooth import saw_tooth_events
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
        *_speed_events(scan, found.series, proves),
        *silence_events(scan, found, proves[SILENT].cause),
    ]


def _speed_events(scan: Scan, found: Sequence[Series], proves: Proves) -> list[Observation]:
    """Observations of speed: a slow-down, else a saw-tooth, else clocks held down; uneven epochs; a straggler."""
    slower = slowdown_events(scan, found, proves) or saw_tooth_events(scan, found)
    held = [] if slower else held_clocks(scan, found)
    return [*slower, *held, *epoch_events(scan, found), *straggler_events(scan, found)]
