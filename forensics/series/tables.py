"""Numbers that stand in columns: free, nvidia-smi, vmstat, sar -r, nvidia-smi dmon and --query-gpu csv.

              total        used        free      shared  buff/cache   available
Mem:       62880028     5909424    55600892       95508     1369712    56381080   -> used 5909424 KiB, available 56381080 KiB
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from forensics.model import Line, Region, Scan, Trigger
from forensics.series.base import Reading, Series

FREE = Trigger("free table", ("mem: ",), before=1, thin=True)
SMI = Trigger("nvidia-smi table", ("mib / ",), before=1, thin=True)
CSV = Trigger("nvidia-smi csv", (" mib,", "memory.used"), thin=True)
ROWS = Trigger("column table", ("swpd", "kbmemfree", "# gpu "), after=30, thin=True)
TRIGGERS = (FREE, SMI, CSV, ROWS)

SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,18})?)([KMGTP]?)i?B?$", re.IGNORECASE)
USED_OF = re.compile(r"(\d{1,9})MiB / +\d{1,9}MiB")
HOT = re.compile(r"\b(\d{1,3})C\b")
INDEX = re.compile(r"^\|\s+(\d{1,3})\s+\S")
SCALES = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
KIB, MIB = 1 << 10, 1 << 20
# Column of a table -> (name, quantity, unit, factor, sense, of a GPU). vmstat and sar count in KiB, dmon in MHz and degrees.
COLUMNS: Mapping[str, tuple[str, str, str, float, str, bool]] = {
    "swpd": ("swap used", "memory", "bytes", KIB, "used", False),
    "kbmemused": ("memory used and cached", "memory", "bytes", KIB, "peak", False),
    "kbavail": ("memory available", "memory", "bytes", KIB, "free", False),
    "gtemp": ("temperature", "temperature", "C", 1, "", True),
    "pclk": ("SM clock", "clock", "MHz", 1, "", True),
    "memory.used": ("GPU memory used", "memory", "bytes", MIB, "used", True),
    "temperature.gpu": ("temperature", "temperature", "C", 1, "", True),
    "clocks.current.sm": ("SM clock", "clock", "MHz", 1, "", True),
    "clocks.sm": ("SM clock", "clock", "MHz", 1, "", True),
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of a table's row."""

    line: Line
    column: str
    scope: str
    value: float


def series(scan: Scan) -> list[Series]:
    """The series of all tables of `scan`."""
    found: dict[tuple[str, str], dict[int, Cell]] = defaultdict(dict)
    for cell in _cells(scan):
        found[cell.column, cell.scope][cell.line.number] = cell
    return [_series(column, scope, cells) for (column, scope), cells in found.items()]


def _series(column: str, scope: str, cells: dict[int, Cell]) -> Series:
    name, quantity, unit, factor, sense, gpu = COLUMNS.get(column) or _FREE[column]
    readings = (Reading(n, cells[n].line.text, cells[n].value * factor) for n in sorted(cells))
    return Series(name, quantity, unit, scope, tuple(readings), sense, gpu)


def _cells(scan: Scan) -> Iterator[Cell]:
    for region in scan.regions.get(FREE.kind, ()):
        yield from _free(region)
    for region in scan.regions.get(SMI.kind, ()):
        yield from _smi(region)
    yield from _csv(scan)
    for region in scan.regions.get(ROWS.kind, ()):
        yield from _rows(region)


_FREE: Mapping[str, tuple[str, str, str, float, str, bool]] = {
    "used": ("memory used", "memory", "bytes", 1, "used", False),
    "available": ("memory available", "memory", "bytes", 1, "free", False),
}


def _free(region: Region) -> Iterator[Cell]:
    """`free`, with or without -m, -g, -h. Old ones count buffers and cache as used; those are taken off."""
    head = next((x.text.split() for x in region.lines_before() if "total" in x.text and "used" in x.text), None)
    _, _, rest = region.text.partition("Mem:")
    cells = [SIZE.match(c) for c in rest.split()]
    if head is None or not cells or len(cells) > len(head) or not all(cells):
        return
    row = dict(zip(head, (_size(c) for c in cells if c), strict=False))
    plain = not any(c[2] for c in cells if c)
    factor = _free_factor(row.get("total", 0.0)) if plain else 1.0
    line = Line(region.number, region.text)
    used = row.get("used", 0.0) - row.get("buffers", 0.0) - row.get("cached", 0.0)
    yield Cell(line, "used", "", used * factor)
    if "available" in row:
        yield Cell(line, "available", "", row["available"] * factor)


def _size(cell: re.Match[str]) -> float:
    return float(cell[1]) * 1024.0 ** SCALES[cell[2].lower()]


def _free_factor(total: float) -> float:
    """`free` prints KiB unless told otherwise; a total below 4 million is a machine of 4 GB, or MiB, or (below 4096) GiB."""
    return float(KIB if total >= 4_000_000 else MIB if total >= 4096 else 1 << 30)


def _smi(region: Region) -> Iterator[Cell]:
    """The two lines of a GPU in nvidia-smi's picture: its index in the first, heat and memory in the second."""
    used, hot = USED_OF.search(region.text), HOT.search(region.text)
    above = region.lines_before()
    index = INDEX.match(above[-1].text) if above else None
    if not used or not index:
        return
    line = Line(region.number, region.text)
    yield Cell(line, "memory.used", f"gpu {index[1]}", float(used[1]))
    if hot:
        yield Cell(line, "temperature.gpu", f"gpu {index[1]}", float(hot[1]))


def _csv(scan: Scan) -> Iterator[Cell]:
    """`nvidia-smi --query-gpu=... --format=csv -l`: one header, then a row for each GPU and moment."""
    header: list[str] = []
    regions = scan.regions.get(CSV.kind, ())
    rows = {r.number: r.text for r in regions} | {x.number: x.text for x in scan.tail if regions}
    for number in sorted(rows):
        cells = [c.strip() for c in rows[number].split(",")]
        if "memory.used" in rows[number] and len(cells) > 1:
            header = [c.split(" ")[0] for c in cells]
        elif header and len(cells) == len(header):
            row = dict(zip(header, cells, strict=True))
            scope = f"gpu {row['index']}" if "index" in row else row.get("uuid", row.get("pci.bus_id", ""))
            for column in COLUMNS.keys() & row.keys():
                found = re.match(r"\d+(?:\.\d+)?", row[column])
                if found:
                    yield Cell(Line(number, rows[number]), column, scope, float(found[0]))


def _rows(region: Region) -> Iterator[Cell]:
    """vmstat, sar -r, dmon: rows of numbers below a header that is printed again and again."""
    head = region.text.lstrip("# ").split()
    for line in region.lines_after():
        cells = line.text.split()
        if line.text.startswith("#"):
            continue
        if len(cells) != len(head) or not any(c.isdigit() for c in cells):
            return
        row = dict(zip(head, cells, strict=True))
        scope = f"gpu {row['gpu']}" if "gpu" in row else ""
        for column in COLUMNS.keys() & row.keys():
            if re.fullmatch(r"\d+(?:\.\d+)?", row[column]):
                yield Cell(line, column, scope, float(row[column]))
