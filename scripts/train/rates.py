"""Count how often each signature fired in healthy cases, in cases of its own cause, and in cases of another cause: rates.csv.

A case counts with the weight of its origin. Models that use the rates must not be trained with a case's own part in them:
`without` leaves out the cases of one origin.
"""

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from forensics.database import HEALTHY
from forensics.database.rates import RATES_FILE, Rate, smoothed_rate
from scripts.train.cases import FAILED, Case

Counts = list[float]  # healthy, own, other
RATES_HEADER = ("signature", "healthy", "own", "other", "failed_log_odds", "cause_log_odds")


def rates_csv(rows: Iterable[tuple[str, float, float, float, Rate]]) -> str:
    """The file of (signature, healthy, own, other, Rate), by name."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(RATES_HEADER)
    for name, healthy, own, other, rate in sorted(rows):
        table.writerow([name, *(f"{x:.1f}" for x in (healthy, own, other)), f"{rate.failed:.3f}", f"{rate.cause:.3f}"])
    return out.getvalue()


def read_fired(folder: Path) -> Mapping[str, tuple[float, float, float]]:
    """Signature -> logs in which it fired: (healthy, failed by its cause, failed by other causes); empty without a file."""
    path = folder / RATES_FILE
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {r["signature"]: (float(r["healthy"]), float(r["own"]), float(r["other"])) for r in csv.DictReader(file)}


class FiringCounts(Struct):
    """`by_origin`: origin -> signature -> counts. `total`: the sum over all origins. `weights`: signature -> its weight."""

    by_origin: dict[str, dict[str, Counts]]
    total: dict[str, Counts]
    weights: dict[str, str]

    def rates(self) -> dict[str, tuple[float, float]]:
        """Signature -> its log odds (failed, cause), of all origins."""
        return {kind: _pair(smoothed_rate(self.weights[kind], *counts)) for kind, counts in self.total.items()}

    def without(self, origin: str, rates: Mapping[str, tuple[float, float]]) -> Mapping[str, tuple[float, float]]:
        """The rates without the cases of `origin`. `rates`: of all cases."""
        changed = {
            kind: _pair(smoothed_rate(self.weights[kind], *(max(0.0, a - b) for a, b in zip(self.total[kind], own, strict=True))))
            for kind, own in self.by_origin.get(origin, {}).items()
        }
        return {**rates, **changed}

    def csv(self) -> str:
        """The text of the CSV file."""
        return rates_csv((k, c[0], c[1], c[2], smoothed_rate(self.weights[k], *c)) for k, c in self.total.items())


def _pair(rate: Rate) -> tuple[float, float]:
    return rate.failed, rate.cause


def count_firings(cases: Sequence[Case], weight: Sequence[float]) -> FiringCounts:
    """Count in which of `cases` each signature and record fired for the subject. `weight`: of each case."""
    by_origin: dict[str, dict[str, Counts]] = defaultdict(lambda: defaultdict(lambda: [0.0, 0.0, 0.0]))
    weights: dict[str, str] = {}
    for case, share in zip(cases, weight, strict=True):
        seen: dict[str, str] = {}
        for o in case.question.owned:
            if o.owner != "others" and o.observation.cause not in (None, HEALTHY):
                seen[o.observation.kind] = str(o.observation.cause)
                weights.setdefault(o.observation.kind, o.observation.weight)
        for kind, cause in seen.items():
            if case.right == (FAILED,):
                by_origin[case.source][kind][2] += share / 2  # it failed with an unknown cause
                by_origin[case.source][kind][1] += share / 2
                continue
            by_origin[case.source][kind][0 if case.healthy else 1 if cause in case.right else 2] += share
    total: dict[str, Counts] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for found in by_origin.values():
        for kind, counts in found.items():
            total[kind] = [a + b for a, b in zip(total[kind], counts, strict=True)]
    return FiringCounts({k: dict(v) for k, v in by_origin.items()}, dict(total), weights)
