"""signatures/rates.csv: how often each signature fired in logs that ended well, failed by its own cause, or by another cause.

    signature,healthy,own,other,failed_log_odds,cause_log_odds
    process.worker_died/shell,0.2,31.0,4.1,2.9,1.6

Logs are counted with weights, so that one origin counts at most as a few logs. `failed_log_odds`: that a log in which it fires
ended badly; `cause_log_odds`: that it ended by this cause. Both are smoothed towards a prior that depends on the signature's
weight, which is used alone for a signature that never fired. `python -m scripts.train rates` writes the file; changes are
reviewed as a diff.
"""

import csv
from collections.abc import Mapping
from math import log
from pathlib import Path

from msgspec import Struct

RATES_FILE = "rates.csv"
PRIOR_LOGS = 3.0  # logs that the promise of a weight counts as: three logs of the field outweigh it
FAILED_PRIOR = {"proof": 0.93, "strong": 0.85, "hint": 0.6}  # a proof is right in more than nine of ten logs, a hint in half
CAUSE_PRIOR = {"proof": 0.85, "strong": 0.7, "hint": 0.3}


class Rate(Struct, frozen=True):
    """Smoothed log odds of one signature."""

    failed: float
    cause: float


def smoothed_rate(weight: str, healthy: float, own: float, other: float) -> Rate:
    """The Rate of a signature of this weight that fired in so many logs, smoothed towards the prior."""
    total = healthy + own + other + PRIOR_LOGS
    failed = (own + other + PRIOR_LOGS * FAILED_PRIOR[weight]) / total
    cause = (own + PRIOR_LOGS * CAUSE_PRIOR[weight]) / total
    return Rate(_log_odds(failed), _log_odds(cause))


def prior_rate(weight: str) -> Rate:
    """The Rate of a signature that never fired."""
    return smoothed_rate(weight, 0.0, 0.0, 0.0)


def _log_odds(share: float) -> float:
    return round(log(share / (1 - share)), 3)


def read_rates(folder: Path) -> Mapping[str, tuple[float, float]]:
    """Signature -> (failed, cause) log odds; empty if the folder has no such file."""
    path = folder / RATES_FILE
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {r["signature"]: (float(r["failed_log_odds"]), float(r["cause_log_odds"])) for r in csv.DictReader(file)}
