"""The numbers of one source to the Events that they tell: each kind of trouble has a module, and none reads another's.

rss 1.2 GB ... rss 9.8 GB -> series/growth      loss 0.31 ... loss nan -> series/nan      9 h of nothing -> series/silence
"""

from collections.abc import Sequence

from forensics.model import Observation, Scan
from forensics.series.base import Series
from forensics.series.epochs import epoch_events
from forensics.series.evaluation import evaluation_events
from forensics.series.finite import finite_events
from forensics.series.gather import Numbers
from forensics.series.growth import growth_events
from forensics.series.outcomes import NOT_FINITE, SILENT, Proves
from forensics.series.pace import pace_events
from forensics.series.ranks import straggler_events
from forensics.series.silence import silence_events
from forensics.series.waves import wave_events


def events(scan: Scan, found: Numbers, proves: Proves) -> list[Observation]:
    """What `found`, the numbers of `scan`, tell. `proves`: the cause of each outcome."""
    jumps = evaluation_events(scan, found, proves)
    jumping = {e.fields["series"] for e in jumps}
    return [
        *jumps,
        *(e for e in growth_events(scan, found.series, proves) if e.fields["series"] not in jumping),
        *finite_events(scan, found.series, proves[NOT_FINITE].cause),
        *_pace(scan, found.series, proves),
        *silence_events(scan, found, proves[SILENT].cause),
    ]


def _pace(scan: Scan, found: Sequence[Series], proves: Proves) -> list[Observation]:
    """What the times tell: a slow-down, else waves; uneven epochs; a straggler."""
    slower = pace_events(scan, found, proves) or wave_events(scan, found)
    return [*slower, *epoch_events(scan, found), *straggler_events(scan, found)]
