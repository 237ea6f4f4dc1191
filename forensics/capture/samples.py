"""Sample memory and pressure over time, more often when memory is short, and compute the rate at which memory is used up.

{"time": ..., "rss_bytes": ..., "processes": 17, "group_bytes": ..., "limit_bytes": ..., "available_bytes": ...}
"""

from __future__ import annotations

import time

from forensics.capture import proc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from forensics.capture.cgroups import Groups
    from forensics.capture.tree import ProcessTree

MAX_SAMPLES = 1200  # bounds memory: if there are more, every second one of the older half is removed
MIN_FREE_SHARE = 0.10  # chosen by hand: of a limit or of the host's memory; below it memory is short
# Between two samples while memory is short: at 1 GB/s a tenth of a host of 64 GiB lasts 6 s, so a dozen samples show the end.
SHORT_MEMORY_INTERVAL_S = 0.5
RATE_WINDOW_S = 60.0  # chosen by hand: longer than one batch or the loading of one file, so that no single step makes the rate
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
            row["group_bytes"], row["limit_bytes"] = fullest
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
        """Seconds until memory is used up at the present rate; None if it does not grow or is not limited."""
        if len(self.rows) < 4:
            return None
        last = self.rows[-1]
        first = next(r for r in self.rows if last["monotonic_s"] - r["monotonic_s"] <= RATE_WINDOW_S)
        apart = last["monotonic_s"] - first["monotonic_s"]
        if apart < RATE_WINDOW_S / 4:
            return None
        left, rate = (last["available_bytes"] or 0), (last["rss_bytes"] - first["rss_bytes"]) / apart
        if last.get("limit_bytes") and first.get("limit_bytes"):
            rate = max(rate, (last["group_bytes"] - first["group_bytes"]) / apart)
            left = min(left, last["limit_bytes"] - last["group_bytes"])
        return left / rate if rate > 0 else None

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
