"""The process table in the kernel's out-of-memory report: the one parser of its rows.

    [  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name
    [  12286]     0 12286   655928   126942  5226496   519670             0 leaker     -> pid 12286, leaker, 126942 pages

Column names of dump_tasks() in mm/oom_kill.c; they differ by version, so the header is read. The first ones never changed: a
table whose header is missing is read by them. Sizes are in pages.

The largest processes at an out-of-memory kill, from the table of the report that the evidence quotes.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from msgspec import Struct

from forensics.core import lazy
from forensics.data_files.named_parts import patterns_of
from forensics.model import Finding, Line, ProcessMemory, Region, Scan, Source

OOM_REPORT_KIND = "kernel_oom"  # the scanner keeps these regions for the record of that name
MIN_OOM_TABLE_LINES = 500  # a region that keeps fewer lines was made for another detector, without the table
OOM_PAGE_BYTES = 4096  # the table counts pages; those of x86 and most Arm kernels, as no line says how large they are
NEW_OOM_REPORT = "invoked oom-killer"
OOM_TABLE_HEADER_PATTERN = lazy.regex(r"\[\s*pid\s*\]\s+(?P<columns>uid\s(?:(?!\[\s*pid).)*\bname)\s*$")
PATTERNS = patterns_of("process table")


class TableRow(Struct, frozen=True):
    """One process of the table; `pages` are resident."""

    pid: int
    task: str
    pages: int


class ProcessTable:
    """Reads the lines of one report in order; it remembers the header."""

    def __init__(self) -> None:
        self._columns: list[str] = []

    def row(self, text: str) -> TableRow | None:
        """The process of a line; None for the header and for a line that is no row."""
        if "]" not in text:
            return None
        header = OOM_TABLE_HEADER_PATTERN.search(text)
        if header:
            self._columns = header["columns"].split()
        found = None if header else PATTERNS.oom_table_row.search(text)
        if found is None:
            return None
        if not self._columns:
            bare = PATTERNS.first_columns.match(found["rest"])
            return TableRow(int(found["pid"]), bare["task"], int(bare["rss"])) if bare else None
        cells = found["rest"].split(None, len(self._columns) - 1)
        if len(cells) != len(self._columns) or "rss" not in self._columns:
            return None
        pages = cells[self._columns.index("rss")]
        return TableRow(int(found["pid"]), cells[-1], int(pages)) if pages.isdecimal() else None


def report_regions(regions: Iterable[Region]) -> list[Region]:
    """The regions that hold a whole report."""
    return [r for r in regions if r.most_after >= MIN_OOM_TABLE_LINES]


def report_lines(regions: Iterable[Region], lines: Sequence[int]) -> set[int]:
    """Those of `lines`, which rise, that stand in a report, from its first line to the kill."""
    found: set[int] = set()
    first = 0
    for region in regions:
        if NEW_OOM_REPORT in region.text:
            first = region.number
        elif first and region.number - first <= MIN_OOM_TABLE_LINES:
            found.update(lines[bisect_left(lines, first) : bisect_right(lines, region.number)])
    return found


def table_rows(lines: Iterable[Line]) -> Iterator[tuple[Line, TableRow]]:
    """The rows of one report, up to the next report."""
    table = ProcessTable()
    for line in lines:
        if NEW_OOM_REPORT in line.text:
            return
        if row := table.row(line.text):
            yield line, row


MAX_PROCESS_ROWS = 20  # the biggest ones: the smaller ones together seldom matter


def processes(scans: Iterable[Scan], first: Finding) -> tuple[ProcessMemory, ...]:
    """The rows of the report that the evidence of `first` quotes, the largest first, at most MAX_PROCESS_ROWS."""
    proof = next(iter(first.evidence), None)
    scan = next((s for s in scans if proof and s.source.name == proof.source), None)
    if proof is None or scan is None:
        return ()
    reports = report_regions(scan.regions.get(OOM_REPORT_KIND, ()))
    before = [r for r in reports if scan.source.number_of(r.number) <= proof.line]
    rows = _rows(max(before, key=lambda r: r.number), scan.source) if before else []
    return tuple(sorted(rows, key=lambda r: (-r.rss_bytes, r.line))[:MAX_PROCESS_ROWS])


def _rows(region: Region, source: Source) -> list[ProcessMemory]:
    lines = region.lines_after()
    report = list(takewhile(lambda line: NEW_OOM_REPORT not in line.text, lines))
    killed = {int(pid) for line in report for pid in PATTERNS.killed_pid.findall(line.text)}
    return [
        ProcessMemory(source.name, source.number_of(n.number), row.pid, row.task, row.pages * OOM_PAGE_BYTES, row.pid in killed)
        for n, row in table_rows(report)
    ]
