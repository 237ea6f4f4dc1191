"""The families of made logs by name, and log `number` of each."""

import random
from collections.abc import Callable

from tests.series import truth, truth_pace
from tests.series.truth import Run, printed

FAMILIES: dict[str, Callable[[random.Random], Run]] = {
    "leak": truth.leak,
    "saw-tooth": truth.saw_tooth,
    "warm-up": truth.warm_up,
    "noise": truth.noise,
    "nan": truth.nan,
    "divergence": truth.divergence,
    "recovered overflow": truth.overflow,
    "stall": truth.stall,
    "slow-down": truth.slow_down,
    "healthy": truth.healthy,
    "evaluation jump": truth_pace.evaluation_jump,
    "evaluation peak": truth_pace.evaluation_peak,
    "throttled": truth_pace.throttled,
    "warm GPU": truth_pace.warm_gpu,
}


def made(family: str, number: int) -> str:
    """Log `number` of a family; always the same text for the same arguments."""
    return printed(FAMILIES[family](random.Random(f"{family} {number}")))
