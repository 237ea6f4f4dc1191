"""The memory of each large process, from repeated process tables: of top, of ps, and of the kernel's OOM reports.

    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND
   4711 root      20   0   30.2g   5.5g 123456 R 100.0   8.5   1:00.00 python     -> "resident memory", pid 4711, 5.5 GiB

[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name
[   4711]  1000  4711  9000000  1000000 16000000        0             0 python    -> the same, 1000000 pages

Only processes with at least MIN_TABLE_SHARE of their table's memory are kept: a shell that grows from 2 to 3 MB is no leak.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from forensics.core.limits import BYTES_PER_UNIT
from forensics.data_files.named_parts import patterns_of
from forensics.model import Line, Scan, Trigger
from forensics.readers.kernel.process_table import OOM_PAGE_BYTES, OOM_REPORT_KIND, report_regions, table_rows
from forensics.readers.numbers.base import AVAILABLE_MEMORY_MEASURE, USED_MEMORY_MEASURE, Cell, Measure, Series, series_from_cells

PROCESS_TABLE_TRIGGER = Trigger(
    "process table", ("%mem", "pid   rss", "pid    rss", "rss command", "rss    vsz", "elapsed   rss"), after=40, thin=True
)
TOP_TRIGGER = Trigger("top memory", ("ib mem :", "mem:  ", "avail mem"), before=1, thin=True)
TRIGGERS = (PROCESS_TABLE_TRIGGER, TOP_TRIGGER)
MIN_TABLE_SHARE = 0.1  # chosen by hand: a process with less does not fill a machine
MAX_READ_TABLES = 500  # evenly chosen ones: top prints one every few seconds for days
RESIDENT_MEASURE = Measure("resident memory", "memory", "bytes", 1, "used")
PATTERNS = patterns_of("processes")
KIBIBYTES = "K"  # what ps and top count in

Row = tuple[Line, int, float]  # line, pid, bytes of resident memory


def series(scan: Scan) -> list[Series]:
    """The memory of the large processes in all tables of `scan`, and the host's memory in top's header."""
    regions = scan.regions.get(PROCESS_TABLE_TRIGGER.kind, ())
    tables = [list(_table_rows(r.text, r.lines_after())) for r in regions[:: -(-len(regions) // MAX_READ_TABLES) or 1]]
    kernel_tables = [
        [(line, row.pid, float(row.pages) * OOM_PAGE_BYTES) for line, row in table_rows(r.lines_after())]
        for r in report_regions(scan.regions.get(OOM_REPORT_KIND, ()))
    ]
    return series_from_cells((*_large(tables), *_large(kernel_tables), *_host(scan)))


def _table_rows(header: str, lines: Sequence[Line]) -> Iterator[Row]:
    """The rows of top or ps below their header. Header and rows may begin with the same number of other words (a timestamp)."""
    columns = header.split()
    column = next((c for c in ("RES", "RSS") if c in columns), None)
    if column is None or "PID" not in columns:
        return
    pid, size = columns.index("PID"), columns.index(column)
    for line in lines:
        cells = line.text.split()
        found = PATTERNS.process_size.match(cells[size]) if len(cells) > max(pid, size) and cells[pid].isdecimal() else None
        if found is None:
            return
        yield line, int(cells[pid][:10]), float(found[1]) * BYTES_PER_UNIT[found[2].upper() or KIBIBYTES]


def _large(tables: Sequence[Sequence[Row]]) -> Iterator[Cell]:
    """The rows of processes that occur in two or more tables and have MIN_TABLE_SHARE of the memory of their last table."""
    rows: dict[int, list[Row]] = defaultdict(list)
    share: dict[int, float] = {}
    for table in tables:
        total = sum(size for _, _, size in table) or 1.0
        for row in table:
            rows[row[1]].append(row)
            share[row[1]] = row[2] / total
    for pid, found in rows.items():
        if share[pid] >= MIN_TABLE_SHARE and len(found) > 1:
            yield from (Cell(line, RESIDENT_MEASURE, f"pid {pid}", size) for line, _, size in found)


def _host(scan: Scan) -> Iterator[Cell]:
    """The lines `MiB Mem : ...` and `... avail Mem` of top, and `Mem: 65856736k total, ...` of its old versions."""
    for region in scan.regions.get(TOP_TRIGGER.kind, ()):
        line = region.line
        used, free = PATTERNS.top_used.search(region.text), PATTERNS.top_available.search(region.text)
        if used and (used["unit"] or used["suffix"]) and used["last"] == "buff":  # old versions count caches as used
            unit = (used["suffix"] or used["unit"][0]).upper()
            yield Cell(line, USED_MEMORY_MEASURE, "", float(used["used"]) * BYTES_PER_UNIT[unit])
        if free:
            yield Cell(line, AVAILABLE_MEMORY_MEASURE, "", float(free["free"]) * BYTES_PER_UNIT[free["unit"][0].upper()])
