"""Numbers that were lost and came back: a batch whose loss is NaN harms nothing if all losses behind it are numbers again.

step 49 loss 0.51 / step 50 loss nan / step 51 loss 0.50 / step 100 loss 0.41    -> line 2 proves nothing
step 49 loss 0.51 / step 50 loss nan / step 51 loss 0.0 / step 100 loss 0.0      -> it does: nothing is learnt any more
"""

import math
from collections.abc import Sequence

from msgspec.structs import replace

from forensics.model import Observation
from forensics.readers.numbers.base import Series

MIN_REGAINED = 2  # chosen by hand: one value behind the lost ones may be of another kind


def without_regained(events: Sequence[Observation], series: Sequence[Series], cause: str | None) -> list[Observation]:
    """`events`; those of `cause`, of lost numbers, that stand on lines of regained ones alone have no cause."""
    lines = _regained_lines(series)
    return [replace(o, cause=None, weight="hint") if o.cause == cause and set(o.shown_on) <= lines else o for o in events]


def _regained_lines(series: Sequence[Series]) -> set[int]:
    """The lines with lost values, all of which their series have regained."""
    regained: set[int] = set()
    lost: set[int] = set()
    for one in series:
        bad = {i for i, value in enumerate(one.values) if not math.isfinite(value)}
        behind = one.values[max(bad) + 1 :] if bad else []
        is_regained = len(behind) >= MIN_REGAINED and all(behind)
        (regained if is_regained else lost).update(one.lines[i] for i in bad)
    return regained - lost
