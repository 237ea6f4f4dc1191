"""Memory in what a server reports of itself: jupyter-resource-usage's JSON, a kernel's usage_reply, Prometheus' text format.

{"rss": 167284736, "limits": {"memory": {"rss": 1073741824, ...   -> "Jupyter memory used", 160 MiB; a limit of 1 GiB
..."date": "2026-11-23T06:16:58.46Z" ... "kernel_memory": 62730240 -> "kernel memory" pid 3395, 60 MiB, with its time
total_memory_usage 1.66424576e+08                                 -> "Jupyter memory used", 159 MiB
total_memory_usage{job="a"} 1.664e+08 1795406401000               -> the same of {job="a"}, with its time

Wordings: jupyter_resource_usage/api.py and metrics.py (1.3). Other metrics in this format have labels that are read as
those of any line.
"""

import datetime
from collections.abc import Iterator

from forensics.data_files.named_parts import patterns_of
from forensics.model import Region, Scan, Trigger
from forensics.readers.numbers.base import Cell, Measure, Series, series_from_cells

USAGE_TRIGGER = Trigger("usage report", ('{"rss": ', '"kernel_memory": '), thin=True)
PROMETHEUS_TRIGGER = Trigger("prometheus memory", ("total_memory_usage", "max_memory_usage"), thin=True)
TRIGGERS = (USAGE_TRIGGER, PROMETHEUS_TRIGGER)

JUPYTER_MEMORY = Measure("Jupyter memory used", "memory", "bytes", 1, "used")
KERNEL_MEMORY = Measure("kernel memory", "memory", "bytes", 1, "used")
LIMIT = Measure("Jupyter memory limit", "limit", "bytes", 1)
MEASURE_OF_METRIC = {"total_memory_usage": JUPYTER_MEMORY, "max_memory_usage": LIMIT}
PATTERNS = patterns_of("usage reports")


def series(scan: Scan) -> list[Series]:
    """The series of all such reports in `scan`."""
    return series_from_cells(_cells(scan))


def _cells(scan: Scan) -> Iterator[Cell]:
    for region in scan.regions.get(USAGE_TRIGGER.kind, ()):
        yield from _usage(region)
    for region in scan.regions.get(PROMETHEUS_TRIGGER.kind, ()):
        yield from _metric(region)


def _usage(region: Region) -> Iterator[Cell]:
    line = region.line
    if found := PATTERNS.usage.search(region.text):
        yield Cell(line, JUPYTER_MEMORY, "", float(found["rss"]))
        if found["limit"] and int(found["limit"]):
            yield Cell(line, LIMIT, "", float(found["limit"]))
    elif found := PATTERNS.kernel.search(region.text):
        date = PATTERNS.date.search(region.text)
        moment = datetime.datetime.fromisoformat(date["date"]).timestamp() if date else None
        yield Cell(line, KERNEL_MEMORY, f"pid {found['pid']}", float(found["bytes"]), time_s=moment)


def _metric(region: Region) -> Iterator[Cell]:
    """One sample; the help and type lines above it have no value. A maximum of 0 is none."""
    found = PATTERNS.metric.search(region.text)
    if found is None or not float(found["value"]):
        return
    moment = int(found["ms"]) / 1000 if found["ms"] else None
    measure = MEASURE_OF_METRIC[found["name"]]
    yield Cell(region.line, measure, found["labels"] or "", float(found["value"]), time_s=moment)
