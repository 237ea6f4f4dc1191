"""Memory in the words of tools that print no label a person would: mprof, memory_profiler, control groups, YOLO's epochs.

MEM 105.500000 1700000004.5000                       -> "resident memory", 105.5 MiB
     7  100.500 MiB  100.500 MiB    1   @profile     -> "memory at entry of line 7", 100.5 MiB
/sys/fs/cgroup/memory.current:123456789              -> "cgroup memory", 123456789 bytes
      Epoch    GPU_mem   box_loss ...
        1/3       1.2G      1.192 ...                -> "GPU_mem", 1.2 GiB at epoch 1, "box loss" 1.192
"""

import re
from collections.abc import Iterator

from forensics.core import lazy
from forensics.model import Line, Region, Scan, Trigger
from forensics.series.base import Series
from forensics.series.cells import GIB, KIB, MIB, Cell, Measure, series_from_cells

MPROF = Trigger("mprof", ("\nmem ", "\nchld "), thin=True)
PROFILED = Trigger("memory_profiler", ("mem usage    increment",), after=2, thin=True)
CGROUP_TRIGGER = Trigger(
    "cgroup file",
    ("memory.current", "memory.usage_in_bytes", "memory.max", "memory.limit_in_bytes", "memory.events"),
    after=7,
    thin=True,
)
YOLO = Trigger("yolo epochs", ("gpu_mem   ",), after=3, thin=True)
TRIGGERS = (MPROF, PROFILED, CGROUP_TRIGGER, YOLO)

SAMPLED = Measure("resident memory", "memory", "bytes", MIB, "used")
IN_CGROUP = Measure("cgroup memory", "memory", "bytes", 1, "used")
LIMIT = Measure("cgroup limit", "limit", "bytes", 1)
EVENTS = {n: Measure(f"cgroup {n} events", "events", "") for n in ("high", "max", "oom", "oom_kill")}
ON_GPU = Measure("GPU_mem", "memory", "bytes", 1, "peak", True)
MPROF_SAMPLE_PATTERN = lazy.regex(r"(?:MEM|CHLD (?P<pid>\d{1,10})) (?P<mib>\d+\.\d{6}) \d+\.\d{4}$")
PROFILE_ROW_PATTERN = lazy.regex(r"\A\s*(?P<line>\d+)\s+(?P<mib>\d+(?:\.\d+)?) MiB\s+(?P<more>\d+(?:\.\d+)?) MiB\s")
CGROUP_FILE_PATTERN = lazy.regex(r"memory\.(?P<file>current|usage_in_bytes|max|limit_in_bytes)\b(?P<rest>.*)$")
BYTES_PATTERN = lazy.regex(r"[^\w.]{0,12}(?P<bytes>\d{1,19})\b(?!\.\d)")
EVENT = lazy.regex(r"\b(high|max|oom|oom_kill)[ :=]+(\d{1,18})\b")
UNLIMITED = 1 << 60  # version 1 says "no limit" by the largest multiple of a page
YOLO_EPOCH_PATTERN = lazy.regex(r"\A\s*(?P<epoch>\d{1,7})/\d{1,7}\s+(?P<size>\d+(?:\.\d+)?)(?P<scale>[KMG])\s(?P<rest>.*)$")
OLD_LOSSES = ("box", "obj", "cls", "total")  # of YOLOv5, before its columns were called box_loss
BYTES_PER_YOLO_UNIT = {"K": KIB, "M": MIB, "G": GIB}


def series(scan: Scan) -> list[Series]:
    """The series of all such lines of `scan`."""
    return series_from_cells(_cells(scan))


def _cells(scan: Scan) -> Iterator[Cell]:
    samples = scan.regions.get(MPROF.kind, ())
    for line in (*(Line(r.number, r.text) for r in samples), *(scan.tail if samples else ())):
        found = MPROF_SAMPLE_PATTERN.match(line.text)
        if found:
            yield Cell(line, SAMPLED, f"pid {found['pid']}" if found["pid"] else "", float(found["mib"]))
    for region in scan.regions.get(PROFILED.kind, ()):
        yield from _profiled(region)
    for region in scan.regions.get(CGROUP_TRIGGER.kind, ()):
        yield from _cgroup(region)
    for region in scan.regions.get(YOLO.kind, ()):
        yield from _yolo(region)


def _profiled(region: Region) -> Iterator[Cell]:
    """A function's table is printed at each call; the row of its decorator says what it began with."""
    for line in region.lines_after():
        found = PROFILE_ROW_PATTERN.match(line.text)
        if found and found["mib"] == found["more"]:
            what = Measure(f"memory at entry of line {found['line']}", "memory", "bytes", MIB, "used")
            yield Cell(line, what, "", float(found["mib"]))


def _cgroup(region: Region) -> Iterator[Cell]:
    """`cat` with the file's name in front (grep, head, a script's own print), or the value on the line after it."""
    line, after = Line(region.number, region.text), region.lines_after()
    found = CGROUP_FILE_PATTERN.search(region.text)
    if found:
        value = BYTES_PATTERN.match(found["rest"])
        if value is None and after and after[0].text.isdecimal():
            value, line = BYTES_PATTERN.match(after[0].text), after[0]
        if value:
            what = IN_CGROUP if found["file"] in ("current", "usage_in_bytes") else LIMIT
            if what is IN_CGROUP or int(value["bytes"]) < UNLIMITED:
                yield Cell(line, what, "", float(value["bytes"]))
    elif "memory.events" in region.text:
        counts = EVENT.findall(region.text.partition("memory.events")[2])
        yield from (Cell(line, EVENTS[name], "", float(count)) for name, count in counts)
        for below in after if not counts else ():
            one = re.fullmatch(r"(\w+) (\d{1,18})", below.text)
            if one is None:
                return
            if one[1] in EVENTS:
                yield Cell(below, EVENTS[one[1]], "", float(one[2]))


def _yolo(region: Region) -> Iterator[Cell]:
    """The header that YOLO prints at each epoch, and the bar below it. What it shows is what PyTorch keeps reserved."""
    head = region.text.split()
    for line in region.lines_after():
        found = YOLO_EPOCH_PATTERN.match(line.text)
        if not found or head[:2] not in (["Epoch", "GPU_mem"], ["Epoch", "gpu_mem"]):
            continue
        epoch = float(found["epoch"])
        yield Cell(line, ON_GPU, "", float(found["size"]) * BYTES_PER_YOLO_UNIT[found["scale"]], epoch)
        for name, text in zip(head[2:], found["rest"].split(), strict=False):
            if (name.endswith("_loss") or name in OLD_LOSSES) and re.fullmatch(r"\d+(?:\.\d+)?|nan|inf", text):
                yield Cell(line, Measure(f"{name.removesuffix('_loss')} loss", "loss", ""), "", float(text), epoch)
