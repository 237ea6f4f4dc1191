"""Memory in the output of tools without a usual label: mprof, memory_profiler, cgroup files, YOLO's epochs.

MEM 105.500000 1700000004.5000                       -> "resident memory", 105.5 MiB
     7  100.500 MiB  100.500 MiB    1   @profile     -> "memory at entry of line 7", 100.5 MiB
/sys/fs/cgroup/memory.current:123456789              -> "cgroup memory", 123456789 bytes
      Epoch    GPU_mem   box_loss ...
        1/3       1.2G      1.192 ...                -> "GPU_mem", 1.2 GiB at epoch 1, "box loss" 1.192
"""

import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from forensics.core.limits import BYTES_PER_UNIT, MIB
from forensics.data_files.named_parts import patterns_of
from forensics.model import Region, Scan, Trigger
from forensics.readers.numbers.base import Cell, Measure, Series, series_from_cells

MPROF_TRIGGER = Trigger("mprof", ("\nmem ", "\nchld "), thin=True)
MEMORY_PROFILER_TRIGGER = Trigger("memory_profiler", ("mem usage    increment",), after=2, thin=True)
CGROUP_TRIGGER = Trigger(
    "cgroup file",
    ("memory.current", "memory.usage_in_bytes", "memory.max", "memory.limit_in_bytes", "memory.events"),
    after=7,
    thin=True,
)
YOLO_TRIGGER = Trigger("yolo epochs", ("gpu_mem   ",), after=3, thin=True)
TRIGGERS = (MPROF_TRIGGER, MEMORY_PROFILER_TRIGGER, CGROUP_TRIGGER, YOLO_TRIGGER)

MPROF_MEMORY = Measure("resident memory", "memory", "bytes", MIB, "used")
CGROUP_MEMORY = Measure("cgroup memory", "memory", "bytes", 1, "used")
CGROUP_LIMIT = Measure("cgroup limit", "limit", "bytes", 1)
EVENT_MEASURES = {n: Measure(f"cgroup {n} events", "events", "") for n in ("high", "max", "oom", "oom_kill")}
YOLO_GPU_MEMORY = Measure("GPU_mem", "memory", "bytes", 1, "peak", True)
PATTERNS = patterns_of("memory tools")
UNLIMITED = 1 << 60  # cgroup v1 writes "no limit" as the largest multiple of a page, in bytes
YOLOV5_LOSS_COLUMNS = ("box", "obj", "cls", "total")  # of YOLOv5, before its columns were called box_loss


def series(scan: Scan) -> list[Series]:
    """The series of these tools in `scan`."""
    return series_from_cells(_cells(scan))


def _cells(scan: Scan) -> Iterator[Cell]:
    samples = scan.regions.get(MPROF_TRIGGER.kind, ())
    for line in (*(r.line for r in samples), *(scan.tail if samples else ())):
        found = PATTERNS.mprof_sample.match(line.text)
        if found:
            scope = f"pid {found['pid']}" if found["pid"] else ""
            yield Cell(line, MPROF_MEMORY, scope, float(found["mib"]), time_s=float(found["time"]))
    for region in scan.regions.get(MEMORY_PROFILER_TRIGGER.kind, ()):
        yield from _profiled(region)
    yield from _cgroups(scan.regions.get(CGROUP_TRIGGER.kind, ()))
    for region in scan.regions.get(YOLO_TRIGGER.kind, ()):
        yield from _yolo(region)


def _profiled(region: Region) -> Iterator[Cell]:
    """memory_profiler prints a table at each call of a function; the row of the decorator has the memory at its entry."""
    for line in region.lines_after():
        found = PATTERNS.profile_row.match(line.text)
        if found and found["mib"] == found["more"]:
            measure = Measure(f"memory at entry of line {found['line']}", "memory", "bytes", MIB, "used")
            yield Cell(line, measure, "", float(found["mib"]))


def _cgroups(regions: Iterable[Region]) -> Iterator[Cell]:
    """The files of all cgroups; where the source has several, each has series of its own."""
    found = [(_path_of(region.text), [*_cgroup(region)]) for region in regions]
    several = len({path for path, cells in found if cells}) > 1
    for path, cells in found:
        yield from (replace(cell, scope=path if several else "") for cell in cells)


def _path_of(text: str) -> str:
    """The path of the cgroup that a line tells, without the mount point; empty for none."""
    found = PATTERNS.cgroup_path.search(text)
    return found["path"].removeprefix("/sys/fs/cgroup").removeprefix("/memory").strip("/") if found else ""


def _cgroup(region: Region) -> Iterator[Cell]:
    """A cgroup file: its name with the value after it (grep, head, a script's print), or with the value on the next line."""
    line, after = region.line, region.lines_after()
    found = PATTERNS.cgroup_file.search(region.text)
    if found:
        value = PATTERNS.bytes.match(found["rest"])
        if value is None and after and after[0].text.isdecimal():
            value, line = PATTERNS.bytes.match(after[0].text), after[0]
        if value:
            measure = CGROUP_MEMORY if found["file"] in ("current", "usage_in_bytes") else CGROUP_LIMIT
            if measure is CGROUP_MEMORY or int(value["bytes"]) < UNLIMITED:
                yield Cell(line, measure, "", float(value["bytes"]))
    elif "memory.events" in region.text:
        counts = PATTERNS.event.findall(region.text.partition("memory.events")[2])
        yield from (Cell(line, EVENT_MEASURES[name], "", float(count)) for name, count in counts)
        for below in after if not counts else ():
            one = re.fullmatch(r"(\w+) (\d{1,18})", below.text)
            if one is None:
                return
            if one[1] in EVENT_MEASURES:
                yield Cell(below, EVENT_MEASURES[one[1]], "", float(one[2]))


def _yolo(region: Region) -> Iterator[Cell]:
    """The header that YOLO prints at each epoch, and the progress bar below it. Its memory is what PyTorch has reserved."""
    header = region.text.split()
    if header[:2] not in (["Epoch", "GPU_mem"], ["Epoch", "gpu_mem"]):
        return
    for line in region.lines_after():
        found = PATTERNS.yolo_epoch.match(line.text)
        if not found:
            continue
        epoch = float(found["epoch"])
        yield Cell(line, YOLO_GPU_MEMORY, "", float(found["size"]) * BYTES_PER_UNIT[found["scale"]], epoch)
        for name, text in zip(header[2:], found["rest"].split(), strict=False):
            if (name.endswith("_loss") or name in YOLOV5_LOSS_COLUMNS) and re.fullmatch(r"\d+(?:\.\d+)?|nan|inf", text):
                yield Cell(line, Measure(f"{name.removesuffix('_loss')} loss", "loss", ""), "", float(text), epoch)
