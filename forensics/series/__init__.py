"""Time series: numbers that a log prints repeatedly become Observations when they show a fault.

    step 100 rss 1.2 GB ... step 900 rss 9.8 GB -> "memory grew by 10.7 MiB a step and did not flatten"

Readers: gather.py reads labelled numbers in lines; tables.py, processes.py and memory_tools.py read the output of tools.
Detectors: growth.py and evaluation.py find memory leaks; numerics.py NaN and divergence; slowdown.py slow-downs (throttling.py:
their reason); silence.py runs that stopped printing. trend.py holds the statistics. The scanner supplies an even sample of the
lines of each kind, so memory is bounded. pandas and matplotlib are imported only when a user asks for a file (export.py) or a
picture (plot.py).

The step at which memory that grows in one source would reach a limit that another source names.

train.log: 15 MiB a step, 30.1 GiB at step 1990 + dmesg: limit 33554432kB -> limit 32 GiB by step 2120

Series as short curves for a report: at most 200 points each, with the extreme values.

4,000 readings of "loss" -> ("loss", "", [(12, 9.1), (57, 7.7), ...])
"""

import itertools
import math
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from forensics.database import Database
from forensics.model import Observation, Scan, Trigger
from forensics.readers.numbers.base import Reading, Series
from forensics.readers.numbers.gather import TRIGGERS, Numbers, ProgressLines, gather_numbers
from forensics.series.observations import GROWS_TO_LIMIT, HOST_MEMORY_GROWS, OUTCOMES, RECORD

MAX_SERIES_POINTS = 200  # a report draws a curve a few hundred pixels wide
MIN_CURVE_READINGS = 3  # two are a straight line
SHOWN_QUANTITIES = ("memory", "loss", "grad_norm", "loss_scale", "step_time", "data_time", "rate", "temperature", "clock")

Curve = tuple[str, str, list[tuple[int, float]]]


def curves(scan: Scan) -> list[Curve]:
    """(name, unit, [(line, value)]) of each series with at least MIN_CURVE_READINGS finite readings, memory and losses first."""
    wanted = sorted(
        (s for s in gather_numbers(scan).series if s.quantity in SHOWN_QUANTITIES),
        key=lambda s: (SHOWN_QUANTITIES.index(s.quantity), -len(s.readings)),
    )
    made = [(f"{s.name} {s.scope}".strip(), s.unit, points(s)) for s in wanted]
    return [c for c in made if len(c[2]) >= MIN_CURVE_READINGS]


def points(series: Series, max_points: int = MAX_SERIES_POINTS) -> list[tuple[int, float]]:
    """At most `max_points` (line, value) of the finite readings: the lowest and the highest of each of equally long stretches."""
    finite = [r for r in series.readings if math.isfinite(r.value)]
    if len(finite) <= max_points:
        return [(r.line, r.value) for r in finite]
    count = max_points // 2
    edges = [i * len(finite) // count for i in range(count + 1)]
    kept: list[Reading] = []
    for a, b in itertools.pairwise(edges):
        stretch = finite[a:b]
        kept += {min(stretch, key=lambda r: r.value), max(stretch, key=lambda r: r.value)}
    return [(r.line, r.value) for r in sorted(kept, key=lambda r: r.line)]


GROWTH = "series/growth"
SHARED_PAGES_FACTOR = 1.1  # resident memory includes pages of shared files, which are not charged to the cgroup


def with_limit_steps(events: Mapping[str, Sequence[Observation]], knowledge: Database) -> dict[str, list[Observation]]:
    """`events` by source; growth gets the fields `limit_bytes` and `limit_step` if all sources together name one limit."""
    proves = knowledge.records[RECORD]
    limits = {
        limit
        for found in events.values()
        for e in found
        if e.cause and proves[GROWS_TO_LIMIT].is_beside(e.cause) and isinstance(limit := e.fields.get("limit_bytes"), int)
    }
    if len(limits) != 1:
        return {source: list(found) for source, found in events.items()}
    (limit,) = limits
    return {source: [_with_limit(e, limit, proves[HOST_MEMORY_GROWS].cause) for e in found] for source, found in events.items()}


def _with_limit(event: Observation, limit: int, cause: str | None) -> Observation:
    at = limit_step(event, limit) if event.kind == GROWTH and event.cause == cause else None
    return event if at is None else replace(event, fields={**event.fields, "limit_bytes": limit, "limit_step": at})


def limit_step(event: Observation, limit: int) -> int | None:
    """The step at which the growth of `event` reaches `limit` bytes.

    None if its steps are unknown, it has a limit already, or its memory is far above `limit`.
    """
    speed, last_step, used = (event.fields.get(name) for name in ("step_bytes", "last_step", "last_bytes"))
    if not isinstance(speed, int) or not isinstance(last_step, int) or not isinstance(used, int) or "limit_bytes" in event.fields:
        return None
    return math.ceil(last_step + max(0, limit - used) / speed) if speed > 0 and used <= SHARED_PAGES_FACTOR * limit else None


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
