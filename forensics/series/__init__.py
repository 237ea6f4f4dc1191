"""Time series: numbers that a log prints repeatedly become Observations when they show a fault.

    step 100 rss 1.2 GB ... step 900 rss 9.8 GB -> "memory grew by 10.7 MiB a step and did not flatten"

numerics.py finds NaN and divergence, memory.py leaks, slowdown.py slow-downs and their reasons, silence.py runs that stopped
printing; trend.py holds the statistics. The scanner supplies an even sample of the lines of each kind, so memory is bounded.
pandas and matplotlib are imported only when a user asks for a file or a picture (export.py). Numbers are read by readers/numbers.

The step at which memory that grows in one source would reach a limit that another source names.

train.log: 15 MiB a step, 30.1 GiB at step 1990 + dmesg: limit 33554432kB -> limit 32 GiB by step 2120
"""

import math
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from forensics.database import Database
from forensics.model import Observation, Scan, Trigger
from forensics.readers.numbers.base import Reading, Series
from forensics.readers.numbers.gather import TRIGGERS, Numbers, ProgressLines, gather_numbers
from forensics.series.observations import GROWS_TO_LIMIT, HOST_MEMORY_GROWS, NOT_FINITE, OUTCOMES, RECORD

SHOWN_QUANTITIES = ("memory", "loss", "grad_norm", "loss_scale", "step_time", "data_time", "rate", "temperature", "clock")
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
    """The step at which the growth of `event` reaches `limit` bytes. None if its steps are unknown, it has a limit already, or
    its memory is far above `limit`."""
    speed, last_step, used = (event.fields.get(name) for name in ("step_bytes", "last_step", "last_bytes"))
    if not isinstance(speed, int) or not isinstance(last_step, int) or not isinstance(used, int) or "limit_bytes" in event.fields:
        return None
    return math.ceil(last_step + max(0, limit - used) / speed) if speed > 0 and used <= SHARED_PAGES_FACTOR * limit else None


NONE = Numbers((), ProgressLines())


def read(scan: Scan, knowledge: Database, found: Numbers | None = None) -> list[Observation]:
    """The observations that the series of one source show. `knowledge`: the cause of each outcome. `found`: the numbers of the
    source, if they were gathered before."""
    found = found or gather_numbers(scan, telling=True)
    if not found.series and not found.progress:
        return []
    from forensics.series.events import events  # imports half of this package, which a log without numbers does not need

    return events(scan, found, knowledge.records[RECORD])


def with_events(events: Sequence[Observation], scan: Scan, found: Numbers, knowledge: Database) -> list[Observation]:
    """`events` of one source and those of its series; those of numbers that were lost and came back have no cause."""
    every = [*events, *read(scan, knowledge, found)]
    if all(all(map(math.isfinite, one.values)) for one in found.series):
        return every
    from forensics.series import regained

    return regained.without_regained(every, found.series, knowledge.records[RECORD][NOT_FINITE].cause)


def series_of(scan: Scan) -> tuple[Series, ...]:
    """All series of one source, in order of their first lines."""
    return gather_numbers(scan).series
