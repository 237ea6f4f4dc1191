"""Tables of processes, printed again and again, to the memory of each big one: top, ps, and the kernel's at each OOM kill.

    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND
   4711 root      20   0   30.2g   5.5g 123456 R 100.0   8.5   1:00.00 python     -> "resident memory", pid 4711, 5.5 GiB

[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name
[   4711]  1000  4711  9000000  1000000 16000000        0             0 python    -> the same, 1000000 pages

Only processes that hold MIN_TABLE_SHARE of what their table shows are kept: a shell that grows from 2 to 3 MB says nothing.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from forensics.core import lazy
from forensics.model import Line, Scan, Trigger
from forensics.series.base import Series
from forensics.series.cells import GIB, KIB, MIB, Cell, Measure, series_from_cells

PROCESS_TABLE_TRIGGER = Trigger(
    "process table",
    ("%mem", "pid   rss", "pid    rss", "rss command", "rss    vsz", "elapsed   rss"),
    after=40,
    thin=True,
)
TOP = Trigger("top memory", ("ib mem :", "mem:  ", "avail mem"), before=1, thin=True)
TRIGGERS = (PROCESS_TABLE_TRIGGER, TOP)
OOM_REPORT_KIND = "kernel_oom"  # the scanner keeps these regions for the record of that name
KERNEL_REACH = 500
OOM_PAGE_BYTES = 4096
MIN_TABLE_SHARE = 0.1
READ_TABLES = 500
RESIDENT = Measure("resident memory", "memory", "bytes", 1, "used")
PROCESS_MEMORY_MEASURE = Measure("memory used", "memory", "bytes", 1, "used")
AVAILABLE = Measure("memory available", "memory", "bytes", 1, "free")
PROCESS_SIZE_PATTERN = lazy.regex(r"(\d{1,15}(?:\.\d{1,6})?)([kmgt]?)$", re.IGNORECASE)
KERNEL_HEAD = lazy.regex(r"\[\s*pid\s*\]\s+(?P<columns>uid\s.*\bname)\s*$")
KERNEL_ROW = lazy.regex(r"\[\s*(?P<pid>\d{1,10})\]\s+(?P<rest>\d+\s+\d+\s+\d+\s+\d+\s.*\S)\s*$")
TOP_USED = lazy.regex(
    r"\b(?P<unit>[KMGT]iB )?Mem ?:.*?(?P<used>\d+(?:\.\d+)?)(?P<suffix>[kmgt]?) used,\s+\S+ (?P<last>free|buff)"
)
TOP_AVAILABLE = lazy.regex(r"\b(?P<unit>[KMGT]iB )Swap ?:.* (?P<free>\d+(?:\.\d+)?) avail Mem")
BYTES_PER_PS_UNIT = {"": KIB, "k": KIB, "m": MIB, "g": GIB, "t": GIB << 10}

Row = tuple[Line, int, float]  # its process and the bytes it holds


def series(scan: Scan) -> list[Series]:
    """The memory of the big processes of all tables of `scan`, and of the host as top tells it."""
    regions = scan.regions.get(PROCESS_TABLE_TRIGGER.kind, ())
    tables = [list(_table(r.text, r.lines_after())) for r in regions[:: -(-len(regions) // READ_TABLES) or 1]]
    kernel = [list(_kernel(r.lines_after())) for r in scan.regions.get(OOM_REPORT_KIND, ()) if r.most_after >= KERNEL_REACH]
    return series_from_cells((*_big(tables), *_big(kernel), *_host(scan)))


def _table(header: str, lines: Sequence[Line]) -> Iterator[Row]:
    """The rows of top or ps below their header; both may have words in front (a stamp), equally many."""
    head = header.split()
    column = next((c for c in ("RES", "RSS") if c in head), None)
    if column is None or "PID" not in head:
        return
    pid, held = head.index("PID"), head.index(column)
    for line in lines:
        cells = line.text.split()
        found = PROCESS_SIZE_PATTERN.match(cells[held]) if len(cells) > max(pid, held) and cells[pid].isdecimal() else None
        if found is None:
            return
        yield line, int(cells[pid][:10]), float(found[1]) * BYTES_PER_PS_UNIT[found[2].lower()]


def _kernel(lines: Sequence[Line]) -> Iterator[Row]:
    """dump_tasks() of mm/oom_kill.c; sizes in pages, taken as 4 KiB. The header tells the columns, which differ by version."""
    columns: list[str] = []
    for line in lines:
        if "invoked oom-killer" in line.text:
            return
        header = KERNEL_HEAD.search(line.text)
        columns = header["columns"].split() if header else columns
        row = KERNEL_ROW.search(line.text) if columns and not header else None
        cells = row["rest"].split(None, len(columns) - 1) if row else []
        if row and len(cells) == len(columns) and "rss" in columns and cells[columns.index("rss")].isdecimal():
            yield line, int(row["pid"]), float(cells[columns.index("rss")]) * OOM_PAGE_BYTES


def _big(tables: Sequence[Sequence[Row]]) -> Iterator[Cell]:
    """Rows of processes that stand in two tables at least and hold MIN_TABLE_SHARE of the last one they stand in."""
    rows: dict[int, list[Row]] = defaultdict(list)
    share: dict[int, float] = {}
    for table in tables:
        whole = sum(held for _, _, held in table) or 1.0
        for row in table:
            rows[row[1]].append(row)
            share[row[1]] = row[2] / whole
    for pid, found in rows.items():
        if share[pid] >= MIN_TABLE_SHARE and len(found) > 1:
            yield from (Cell(line, RESIDENT, f"pid {pid}", held) for line, _, held in found)


def _host(scan: Scan) -> Iterator[Cell]:
    """The lines `MiB Mem : ...` and `... avail Mem` of top, and `Mem: 65856736k total, ...` of old ones."""
    for region in scan.regions.get(TOP.kind, ()):
        line = Line(region.number, region.text)
        used, free = TOP_USED.search(region.text), TOP_AVAILABLE.search(region.text)
        if used and (used["unit"] or used["suffix"]) and used["last"] == "buff":  # old ones count caches as used
            yield Cell(
                line,
                PROCESS_MEMORY_MEASURE,
                "",
                float(used["used"]) * BYTES_PER_PS_UNIT[(used["suffix"] or used["unit"][0]).lower()],
            )
        if free:
            yield Cell(line, AVAILABLE, "", float(free["free"]) * BYTES_PER_PS_UNIT[free["unit"][0].lower()])
