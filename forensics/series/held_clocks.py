"""Clocks of a GPU that heat or the power brake held down, in a table of nvidia-smi: whatever it did to the steps.

clocks_event_reasons.hw_thermal_slowdown: Not Active, Active, Active, Active   -> "hw thermal slowdown" in 3 of 4 readings

There is no cause: the run may go on for days. The power cap is no such reason, because a busy GPU is at it all the time.
"""

from collections.abc import Sequence

from forensics.model import Observation, Scan, Value
from forensics.readers.numbers.base import Series
from forensics.series.observations import distinct_lines, scope_fields, series_observation

# What holds the clocks down, the clearest first: heat and power both set `hw slowdown` (nvml.h).
HELD_BY = {
    "sw thermal slowdown": "heat",
    "hw thermal slowdown": "heat",
    "hw power brake slowdown": "the power brake",
    "hw slowdown": "heat or the power brake",
}
MIN_HELD_READINGS = 2  # one may be a moment


def held_clocks(scan: Scan, series: Sequence[Series]) -> list[Observation]:
    """At most one Observation: the reason that was active in most readings of a GPU."""
    known = sorted((s for s in series if s.quantity == "throttle" and s.name in HELD_BY), key=lambda s: [*HELD_BY].index(s.name))
    active = [(one, [r for r in one.readings if r.value]) for one in known]
    most = max(active, key=lambda pair: len(pair[1]), default=None)
    if most is None or len(most[1]) < MIN_HELD_READINGS:
        return []
    one, held = most
    fields: dict[str, Value] = {
        "reason": one.name,
        "held_by": HELD_BY[one.name],
        "held": len(held),
        "readings": len(one.readings),
    }
    lines = distinct_lines((held[0], held[-1]))
    return [series_observation(scan, "held-clocks", None, "hint", lines, {**fields, **scope_fields(one)}, len(held))]
