"""Numbers in columns: of free, nvidia-smi (its picture, --query-gpu, -q -d MEMORY, dmon, pmon), vmstat and sar -r.

              total        used        free      shared  buff/cache   available
Mem:       62880028     5909424    55600892       95508     1369712    56381080   -> used 5909424 KiB, available 56381080 KiB
"""

import bisect
import datetime
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from forensics.core.limits import BYTES_PER_UNIT, GIB, KIB, MIB
from forensics.data_files.named_parts import patterns_of
from forensics.model import Line, Region, Scan, Trigger
from forensics.readers.numbers.base import (
    AVAILABLE_MEMORY_MEASURE,
    USED_MEMORY_MEASURE,
    Cell,
    Measure,
    Series,
    seconds_of,
    series_from_cells,
)

FREE_TRIGGER = Trigger("free table", ("mem: ",), before=1, thin=True)
SMI_TRIGGER = Trigger("nvidia-smi table", ("mib / ",), before=1, thin=True)
SMI_DATE_TRIGGER = Trigger("nvidia-smi date", ("| nvidia-smi ",), before=2, thin=True)
SMI_MEMORY_TRIGGER = Trigger("nvidia-smi -q memory", ("    fb memory usage",), before=1, after=4, thin=True)
SMI_REPORT_TRIGGER = Trigger("nvidia-smi -q date", ("==nvsmi log==",), after=2, thin=True)
CSV_TRIGGER = Trigger("nvidia-smi csv", (" mib,", " mib\n", " mhz,"), thin=True)
CSV_HEADER_TRIGGER = Trigger(
    "nvidia-smi csv header",
    (
        *("memory.used", "used_memory [", "used_gpu_memory [", "temperature.gpu"),
        *("power.draw", "clocks_throttle_reasons.", "clocks_event_reasons."),
    ),
    after=100,
    thin=True,
)
COLUMN_TABLE_TRIGGER = Trigger("column table", ("swpd", "kbmemfree", "# gpu ", "#date  ", "#time  "), after=100, thin=True)
TRIGGERS = (
    *(FREE_TRIGGER, SMI_TRIGGER, SMI_DATE_TRIGGER, SMI_MEMORY_TRIGGER),
    *(SMI_REPORT_TRIGGER, CSV_TRIGGER, CSV_HEADER_TRIGGER, COLUMN_TABLE_TRIGGER),
)
MAX_SMI_PICTURE_LINES = 100  # from its version to its last GPU: 7 lines above the first one, 4 for each of 16

PATTERNS = patterns_of("tool tables")
TEMPERATURE_MEASURE = Measure("temperature", "temperature", "C", gpu=True)
CLOCK_MEASURE = Measure("SM clock", "clock", "MHz", gpu=True)
POWER_MEASURE = Measure("power draw", "power", "W", gpu=True)
GPU_USED_MEASURE = Measure("GPU memory used", "memory", "bytes", MIB, "used", True)
GPU_SIZE_MEASURE = Measure("GPU memory size", "limit", "bytes", MIB, gpu=True)
VMSTAT_AVAILABLE_COLUMNS = ("free", "buff", "cache")  # the memory available to a program is their sum
# Column of a table -> what it measures. vmstat and sar count in KiB, nvidia-smi in MiB.
COLUMN_MEASURES: Mapping[str, Measure] = {
    "swpd": Measure("swap used", "memory", "bytes", KIB, "used"),
    "kbmemused": Measure("memory used and cached", "memory", "bytes", KIB, "peak"),
    "kbavail": Measure("memory available", "memory", "bytes", KIB, "free"),
    "gtemp": TEMPERATURE_MEASURE,
    "pclk": CLOCK_MEASURE,
    "pwr": POWER_MEASURE,
    "fb": GPU_USED_MEASURE,
    "used_memory": GPU_USED_MEASURE,
    "used_gpu_memory": GPU_USED_MEASURE,
    "memory.used": GPU_USED_MEASURE,
    "memory.total": GPU_SIZE_MEASURE,
    "temperature.gpu": TEMPERATURE_MEASURE,
    "power.draw": POWER_MEASURE,
    "clocks.current.sm": CLOCK_MEASURE,
    "clocks.sm": CLOCK_MEASURE,
}
# Throttle reasons: the bits of nvmlClocksEventReasons (nvml.h); --query-gpu also has a column for each.
THROTTLE_REASON_BITS: Mapping[str, int] = {
    "sw_power_cap": 0x4,
    "hw_slowdown": 0x8,
    "sw_thermal_slowdown": 0x20,
    "hw_thermal_slowdown": 0x40,
    "hw_power_brake_slowdown": 0x80,
}
THROTTLE_MEASURES = {name: Measure(name.replace("_", " "), "throttle", "", gpu=True) for name in THROTTLE_REASON_BITS}


def series(scan: Scan) -> list[Series]:
    """The series of all tables of `scan`."""
    return series_from_cells(_cells(scan))


def _cells(scan: Scan) -> Iterator[Cell]:
    for region in scan.regions.get(FREE_TRIGGER.kind, ()):
        yield from _free(region)
    dates = _smi_dates(scan)
    rows = scan.regions.get(SMI_TRIGGER.kind, ())
    for above, line in (*((x.lines_before(), x.line) for x in rows), *_last_rows(scan, rows)):
        yield from _smi(line, above[-1].text if above else "", dates.before(line.number, MAX_SMI_PICTURE_LINES))
    reports = _dates(x for region in scan.regions.get(SMI_REPORT_TRIGGER.kind, ()) for x in region.lines_after())
    for region in scan.regions.get(SMI_MEMORY_TRIGGER.kind, ()):
        yield from _smi_memory(region, reports.before(region.number, MAX_SMI_PICTURE_LINES))
    yield from _csv(scan)
    heads = scan.regions.get(COLUMN_TABLE_TRIGGER.kind, ())
    for region in heads:
        yield from _rows(region.text, region.lines_after())
    if heads:
        yield from _rows(heads[-1].text, [x for x in scan.tail if x.number > heads[-1].number], at_end=True)


def _free(region: Region) -> Iterator[Cell]:
    """`free`, with or without -m, -g, -h. Old versions count buffers and cache as used; they are subtracted."""
    head = next((x.text.split() for x in region.lines_before() if "total" in x.text and "used" in x.text), None)
    _, _, rest = region.text.partition("Mem:")
    cells = [PATTERNS.table_size.match(c) for c in rest.split()]
    if head is None or not cells or len(cells) > len(head) or not all(cells):
        return
    row = dict(zip(head, (float(c[1]) * BYTES_PER_UNIT[c[2].upper()] for c in cells if c), strict=False))
    plain = not any(c[2] for c in cells if c)
    factor = _free_factor(row.get("total", 0.0)) if plain else 1.0
    line = region.line
    used = row.get("used", 0.0) - row.get("buffers", 0.0) - row.get("cached", 0.0)
    yield Cell(line, USED_MEMORY_MEASURE, "", used * factor)
    if "available" in row:
        yield Cell(line, AVAILABLE_MEMORY_MEASURE, "", row["available"] * factor)


def _free_factor(total: float) -> float:
    """The bytes of one unit of `free`, guessed from the total: KiB (the default) from 4 million on, MiB from 4096 on, else
    GiB."""
    return float(KIB if total >= 4_000_000 else MIB if total >= 4096 else GIB)


class _Dates(NamedTuple):
    """Lines with a date, in order: their numbers and their times in seconds."""

    lines: list[int]
    times: list[float]

    def before(self, number: int, max_lines: int) -> float | None:
        """The time of the last of them before line `number`, if it is at most `max_lines` above it."""
        at = bisect.bisect(self.lines, number) - 1
        return self.times[at] if at >= 0 and number - self.lines[at] <= max_lines else None


def _smi_dates(scan: Scan) -> _Dates:
    """The dates that nvidia-smi prints above each picture: `Tue Oct 29 19:00:23 2024`, a rule, `| NVIDIA-SMI 550.54.15 ...`."""
    heads = scan.regions.get(SMI_DATE_TRIGGER.kind, ())
    last = scan.tail if heads else ()
    return _dates((*(x for region in heads for x in region.lines_before()), *last))


def _last_rows(scan: Scan, rows: Sequence[Region]) -> Iterator[tuple[list[Line], Line]]:
    """The last lines of a source with pictures, each with the line above it; a sample of many pictures may lack them."""
    if rows:
        yield from (([above], line) for above, line in itertools.pairwise(scan.tail) if line.number > rows[-1].number)


def _dates(lines: Iterable[Line]) -> _Dates:
    dated = {x.number: time for x in lines if (time := seconds_of(x.text)) is not None}
    return _Dates(sorted(dated), [dated[n] for n in sorted(dated)])


def _smi(line: Line, above: str, time_s: float | None) -> Iterator[Cell]:
    """The two lines of a GPU in the table of nvidia-smi: its index in the one `above`, temperature and memory in the second."""
    memory, hot, index = (
        PATTERNS.used_of_total.search(line.text),
        PATTERNS.celsius.search(line.text),
        PATTERNS.smi_row_index.match(above),
    )
    if not memory or not index:
        return
    scope = f"gpu {index[1]}"
    yield Cell(line, GPU_USED_MEASURE, scope, float(memory["used"]), time_s=time_s)
    yield Cell(line, GPU_SIZE_MEASURE, scope, float(memory["total"]), time_s=time_s)
    if hot:
        yield Cell(line, TEMPERATURE_MEASURE, scope, float(hot[1]), time_s=time_s)


def _smi_memory(region: Region, time_s: float | None) -> Iterator[Cell]:
    """`nvidia-smi -q -d MEMORY -l`: the bus address of a GPU, `FB Memory Usage`, and below it its sizes."""
    above = region.lines_before()
    gpu = PATTERNS.smi_gpu.match(above[-1].text) if above else None
    if gpu is None:
        return
    for line in region.lines_after():
        if found := PATTERNS.smi_size.match(line.text):
            measure = GPU_USED_MEASURE if found["name"] == "Used" else GPU_SIZE_MEASURE
            yield Cell(line, measure, gpu["bus"], float(found["mib"]), time_s=time_s)


def _csv(scan: Scan) -> Iterator[Cell]:
    """`nvidia-smi --query-gpu=... --format=csv -l`: one header, then a row for each GPU and time."""
    heads = scan.regions.get(CSV_HEADER_TRIGGER.kind, ())
    if not heads:
        return
    rows = {x.number: x.text for head in heads for x in (*head.lines_after(), head.line)}
    rows |= {r.number: r.text for r in scan.regions.get(CSV_TRIGGER.kind, ())} | {x.number: x.text for x in scan.tail}
    header: list[str] = []
    for number in sorted(rows):
        cells = [c.strip() for c in rows[number].split(",")]
        names = [c.split(" ")[0] for c in cells]
        if COLUMN_MEASURES.keys() & set(names) or any(map(PATTERNS.throttle_column.match, names)):
            header = names
        elif header and len(cells) == len(header):
            yield from _csv_row(Line(number, rows[number]), dict(zip(header, cells, strict=True)))


def _csv_row(line: Line, row: Mapping[str, str]) -> Iterator[Cell]:
    scope = f"gpu {row['index']}" if "index" in row else row.get("uuid", row.get("gpu_uuid", row.get("pci.bus_id", "")))
    scope = ", ".join(part for part in (scope, f"pid {row['pid']}" if "pid" in row else "") if part)
    for column in COLUMN_MEASURES.keys() & row.keys():
        found = re.match(r"\d+(?:\.\d+)?", row[column])
        if found:
            yield Cell(line, COLUMN_MEASURES[column], scope, float(found[0]))
    for column, value in row.items():
        reason = PATTERNS.throttle_column.match(column)
        if reason and reason[1] in THROTTLE_REASON_BITS and value in ("Active", "Not Active"):
            yield Cell(line, THROTTLE_MEASURES[reason[1]], scope, float(value == "Active"))
        elif reason and reason[1] == "active" and re.fullmatch(r"0x[0-9a-fA-F]{1,16}", value):
            yield from (
                Cell(line, THROTTLE_MEASURES[n], scope, float(bool(int(value, 16) & bit)))
                for n, bit in THROTTLE_REASON_BITS.items()
            )


def _smi_moment(text: str) -> float | None:
    """Seconds of the date and time that dmon and pmon print with `-o DT`: `20240104 13:54:35`."""
    try:
        return datetime.datetime.strptime(text, "%Y%m%d %H:%M:%S").replace(tzinfo=datetime.UTC).timestamp()
    except ValueError:
        return None


def _rows(header: str, lines: Sequence[Line], at_end: bool = False) -> Iterator[Cell]:
    """vmstat, sar -r, dmon, pmon: rows of numbers below a header that is printed once or repeatedly. `at_end`: the lines do not
    directly follow the header, so other lines between the rows are skipped."""
    head = header.lstrip("# ").split()
    for line in lines:
        cells = line.text.split()
        if not cells or line.text.startswith("#"):
            continue
        is_row = len(cells) - len(head) in (0, 1)  # vmstat -t has one header, "UTC", for a date and a time
        if not is_row or not any(c.isdecimal() for c in cells):
            if at_end:
                continue
            return
        row = dict(zip(head, cells, strict=False))
        scope = ", ".join(f"{name} {row[name]}" for name in ("gpu", "pid") if row.get(name, "").isdecimal())
        moment = _smi_moment(f"{row['Date']} {row['Time']}") if "Date" in row and "Time" in row else None
        for column in COLUMN_MEASURES.keys() & row.keys():
            if re.fullmatch(r"\d+(?:\.\d+)?", row[column]):
                yield Cell(line, COLUMN_MEASURES[column], scope, float(row[column]), time_s=moment)
        if "swpd" in row and all(row.get(c, "").isdecimal() for c in VMSTAT_AVAILABLE_COLUMNS):
            yield Cell(line, AVAILABLE_MEMORY_MEASURE, "", KIB * sum(float(row[c]) for c in VMSTAT_AVAILABLE_COLUMNS))
