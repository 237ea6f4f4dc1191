"""The process table in the kernel's out-of-memory report.

    [  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name
    [  12286]     0 12286   655928   126942  5226496   519670             0 leaker

Column names of dump_tasks() in mm/oom_kill.c; they differ by version, so the header is read. Sizes are in pages of 4 KiB.
"""

from collections.abc import Iterable

from forensics.core import lazy
from forensics.model import Finding, Line, ProcessMemory, Region, Scan

OOM_REPORT_KIND = "kernel_oom"  # the scanner keeps these regions for the record of that name
MIN_OOM_TABLE_LINES = 500  # a region that keeps fewer lines was made for another detector, without the table
OOM_PAGE_BYTES = 4096  # the table counts pages; those of x86 and most Arm kernels, as no line says how large they are
OOM_TABLE_HEADER_PATTERN = lazy.regex(r"\[\s*pid\s*\]\s+(?P<columns>uid\s.*\bname)\s*$")
OOM_TABLE_ROW_PATTERN = lazy.regex(r"\[\s*(?P<pid>\d+)\]\s+(?P<rest>\d+\s+\d+\s+\d+\s+\d+\s.*\S)\s*$")
KILLED_PID_PATTERN = lazy.regex(r"Kill(?:ed)? process (\d+)")
MAX_PROCESS_ROWS = 20  # the biggest ones: the smaller ones together seldom matter


def processes(scans: Iterable[Scan], first: Finding) -> tuple[ProcessMemory, ...]:
    """The rows of the report that the evidence of `first` quotes, the largest first, at most MAX_PROCESS_ROWS."""
    if not first.evidence:
        return ()
    proof = first.evidence[0]
    for scan in scans:
        if scan.source.name != proof.source:
            continue
        origin = scan.source.origin or int
        starts = [
            r
            for r in scan.regions.get(OOM_REPORT_KIND, ())
            if r.most_after >= MIN_OOM_TABLE_LINES and origin(r.number) <= proof.line
        ]
        if starts:
            rows = _rows(max(starts, key=lambda r: r.number), scan)
            return tuple(sorted(rows, key=lambda r: (-r.rss_bytes, r.line))[:MAX_PROCESS_ROWS])
    return ()


def _rows(region: Region, scan: Scan) -> list[ProcessMemory]:
    origin = scan.source.origin or int
    columns: list[str] = []
    found: list[tuple[Line, int, str, int]] = []
    killed: set[int] = set()
    for line in region.lines_after():
        if "invoked oom-killer" in line.text:
            break
        header = OOM_TABLE_HEADER_PATTERN.search(line.text)
        if header:
            columns = header["columns"].split()
        row = OOM_TABLE_ROW_PATTERN.search(line.text) if columns else None
        cells = row["rest"].split(None, len(columns) - 1) if row else []
        if row and len(cells) == len(columns) and "rss" in columns:
            found.append((line, int(row["pid"][:18]), cells[-1], int(cells[columns.index("rss")][:18])))
        killed |= {int(pid[:18]) for pid in KILLED_PID_PATTERN.findall(line.text)}
    return [
        ProcessMemory(scan.source.name, origin(line.number), pid, task, pages * OOM_PAGE_BYTES, pid in killed)
        for line, pid, task, pages in found
    ]
