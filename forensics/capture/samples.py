"""Sample memory and pressure over time, more often when memory is short, and compute the rate at which memory is used up.

{"time": ..., "rss_bytes": ..., "processes": 17, "group_bytes": ..., "limit_bytes": ..., "available_bytes": ...}
"""

from __future__ import annotations

import time
from itertools import pairwise

from forensics.capture import proc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from forensics.capture.cgroups import Groups
    from forensics.capture.tree import ProcessTree

MAX_SAMPLES = 1200  # bounds memory: if there are more, every second one of the older half is removed
MIN_FREE_SHARE = 0.10  # chosen by hand: of a limit or of the host's memory; below it memory is short
# Between two samples while memory is short: at 1 GB/s a tenth of a host of 64 GiB lasts 6 s, so a dozen samples show the end.
SHORT_MEMORY_INTERVAL_S = 0.5
# Chosen by hand: so far back is looked, and so far ahead; the shortest one is longer than the loading of one file.
FORECAST_SPANS_S = (60.0, 150.0, 300.0, 600.0)
MIN_COVERED_SHARE = 0.8  # of such a span by samples, which are not taken at its very ends
MIN_FORECAST_ROWS = 8  # two for each quarter of the span
MIN_QUARTER_SHARE = 0.5  # of the mean rate, in each quarter: chosen by hand, it neither stops nor comes in one step
MAX_WARNED_S = 600.0  # chosen by hand: a warning so long before leaves time to save a checkpoint


class MemorySamples:
    """Samples of a job. `least_available`: the smallest share of the host's memory that was free."""

    def __init__(self, every_s: float) -> None:
        self.every_s = max(0.1, every_s)
        self.rows: list[dict[str, Any]] = []
        self.most_bytes = 0
        self.least_available = 1.0
        self.most_used = 0.0  # share of the group's limit
        self.most_pressure = 0.0  # percent of time in which all tasks waited for memory
        self.total_bytes = proc.memory().get("MemTotal", 0)
        self.kills_before = proc.host_kills()
        self._next = 0.0

    def due(self, now: float) -> bool:
        """Is it time for a sample? `now`: monotonic."""
        return now >= self._next

    def take(self, tree: ProcessTree, groups: Groups, started: float) -> dict[str, Any]:
        """Read the memory of all processes, groups and the host."""
        for process in list(tree.living.values()):
            process.sample()
            process.group = groups.follow(process.pid, started) or process.group
        groups.update()
        host, fullest = proc.memory(), groups.fullest()
        row: dict[str, Any] = {"time": time.time(), "monotonic_s": time.monotonic(), "processes": len(tree.living)}
        row["rss_bytes"] = sum(p.rss_bytes for p in tree.living.values())
        row["cpu_s"] = round(sum(p.cpu_s for p in tree.living.values()), 2)
        row["available_bytes"] = host.get("MemAvailable")
        if fullest:
            row["group_bytes"], row["limit_bytes"], row["group_cache_bytes"] = fullest
            self.most_used = max(self.most_used, fullest[0] / max(1, fullest[1]))
        if pressed := proc.pressure():
            row["pressure"] = pressed
            self.most_pressure = max(self.most_pressure, pressed.get("full_avg10", 0.0))
        self.most_bytes = max(self.most_bytes, row["rss_bytes"])
        if self.total_bytes and row["available_bytes"] is not None:
            self.least_available = min(self.least_available, row["available_bytes"] / self.total_bytes)
        self._keep(row)
        self._next = time.monotonic() + (min(self.every_s, SHORT_MEMORY_INTERVAL_S) if self._is_short(row) else self.every_s)
        return row

    def _is_short(self, row: dict[str, Any]) -> bool:
        limit = row.get("limit_bytes")
        short = limit is not None and row["group_bytes"] > (1 - MIN_FREE_SHARE) * limit
        return short or (
            bool(self.total_bytes) and (row["available_bytes"] or self.total_bytes) < MIN_FREE_SHARE * self.total_bytes
        )

    def _keep(self, row: dict[str, Any]) -> None:
        self.rows.append(row)
        if len(self.rows) > MAX_SAMPLES:
            half = len(self.rows) // 2
            self.rows = [*self.rows[:half:2], *self.rows[half:]]

    def runs_out_in(self) -> float | None:
        """Seconds until memory is used up; None if it does not grow, is not limited, or nothing is certain.

        Memory must have grown at a steady rate for as long as it is foretold: a program that loads its data grows, and stops.
        """
        last = self.rows[-1] if self.rows else {}
        for span_s in FORECAST_SPANS_S:
            rows = [r for r in self.rows if last["monotonic_s"] - r["monotonic_s"] <= span_s]
            covered_s = last["monotonic_s"] - rows[0]["monotonic_s"] if rows else 0.0
            if covered_s < MIN_COVERED_SHARE * span_s or len(rows) < MIN_FORECAST_ROWS:
                continue
            for left, used in self._uses(rows):
                rate = _steady_rate([(r["monotonic_s"], u) for r, u in zip(rows, used, strict=True)])
                if rate > 0 and left / rate <= covered_s:
                    return left / rate
        return None

    def _uses(self, rows: list[dict[str, Any]]) -> Iterator[tuple[int, list[int]]]:
        """What is left in the last row, and what was used in each: of the host's memory, and of the group's limit."""
        last = rows[-1]
        yield last["available_bytes"] or 0, [r["rss_bytes"] for r in rows]
        if all(r.get("limit_bytes") == last.get("limit_bytes") for r in rows) and last.get("limit_bytes"):
            used = [r["group_bytes"] - r.get("group_cache_bytes", 0) for r in rows]
            yield last["limit_bytes"] - used[-1], used

    def as_record(self) -> dict[str, Any]:
        """The summary of the samples in run.json."""
        after = proc.host_kills()
        return {
            "most_bytes": self.most_bytes,
            "host_bytes": self.total_bytes,
            "least_available_share": round(self.least_available, 4),
            "most_used_share_of_limit": round(self.most_used, 4) if self.most_used else None,
            "most_pressure_full_avg10": self.most_pressure,
            "host_kills": None if after is None or self.kills_before is None else after - self.kills_before,
            "host": proc.memory(),
        }


def _steady_rate(used: list[tuple[float, int]]) -> float:
    """The growth per second, by the slowest quarter; 0 if a quarter has less than MIN_QUARTER_SHARE of the mean rate."""
    edges = [used[i * (len(used) - 1) // 4] for i in range(5)]
    rates = [(b[1] - a[1]) / max(1e-3, b[0] - a[0]) for a, b in pairwise(edges)]
    mean = (edges[-1][1] - edges[0][1]) / max(1e-3, edges[-1][0] - edges[0][0])
    return min(mean, rates[-1]) if min(rates) >= MIN_QUARTER_SHARE * mean else 0.0
