"""A straggler: one rank that is slower than all others, which wait for it.

[rank3] step_time 0.92, [rank0..7] step_time 0.61 -> rank 3, slower by 1.5

Reported if, of MIN_RANKS ranks or more with MIN_RANK_READINGS readings each, the median time per step of one rank is
MIN_STRAGGLER_SLOWDOWN times the median of the other ranks' medians, and larger than MIN_RANK_SEPARATION of all readings of the
others. The Observation has no cause: the GPU, the host, the network or the data of the rank may be slow.
"""

import statistics
from collections.abc import Sequence

from forensics.model import Observation, Scan, Value
from forensics.readers.numbers.base import Series
from forensics.series.observations import distinct_lines, scope_fields, series_observation

MIN_RANKS = 3  # of two, nobody can say which is the odd one
MIN_RANK_READINGS = 10  # chosen by hand: the median of fewer moves with a single slow step
MIN_STRAGGLER_SLOWDOWN = 1.25  # chosen by hand: healthy ranks differ by less; recall and false alarms in docs/series.md
MIN_RANK_SEPARATION = 0.9  # chosen by hand: nearly all, as a slow rank may catch up once
MAX_RANK_READINGS = 200  # evenly spaced ones: a median of 200 is as good


def straggler_events(scan: Scan, series: Sequence[Series]) -> list[Observation]:
    """At most one Observation: the slowest rank, of the first step time or rate that shows one."""
    of_ranks = [s for s in series if s.scope.startswith("rank ") and len(s.readings) >= MIN_RANK_READINGS]
    kinds = dict.fromkeys((s.quantity, s.name) for s in series if s.quantity in ("step_time", "rate"))
    for kind in kinds:
        ranks = [s for s in of_ranks if (s.quantity, s.name) == kind]
        if len(ranks) >= MIN_RANKS and len({s.scope for s in ranks}) == len(ranks):
            found = _straggler(scan, [s.evenly_sampled(MAX_RANK_READINGS) for s in ranks])
            if found:
                return [found]
    return []


def _straggler(scan: Scan, ranks: Sequence[Series]) -> Observation | None:
    times = {s.scope: _step_times(s) for s in ranks}
    medians = {scope: statistics.median(values) for scope, values in times.items()}
    slowest = max(ranks, key=lambda s: medians[s.scope])
    usual = statistics.median(m for scope, m in medians.items() if scope != slowest.scope)
    factor = medians[slowest.scope] / usual
    others = [v for scope, values in times.items() if scope != slowest.scope for v in values]
    if factor < MIN_STRAGGLER_SLOWDOWN or sum(medians[slowest.scope] > v for v in others) < MIN_RANK_SEPARATION * len(others):
        return None
    fields: dict[str, Value] = {
        "series": f"{slowest.name} {slowest.scope}",
        "slower_by": round(factor, 2),
        "ranks": len(ranks),
        **scope_fields(slowest),
    }
    other = next(s for s in ranks if s is not slowest)
    quoted = distinct_lines((slowest.readings[-1], other.readings[-1]))
    return series_observation(scan, "straggler", None, "hint", quoted, fields, sum(len(s.readings) for s in ranks))


def _step_times(series: Series) -> list[float]:
    """The times per step, for rates the inverse; values that are not positive are left out."""
    values = [r.value for r in series.readings if r.value > 0]
    return ([1 / v for v in values] if series.quantity == "rate" else values) or [1.0]
