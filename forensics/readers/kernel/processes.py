"""The largest processes at an out-of-memory kill, from the table of the report that the evidence quotes."""

from collections.abc import Iterable

from forensics.core import lazy
from forensics.model import Finding, ProcessMemory, Region, Scan
from forensics.readers.kernel.process_table import (
    NEW_OOM_REPORT,
    OOM_PAGE_BYTES,
    OOM_REPORT_KIND,
    report_regions,
    table_rows,
)

KILLED_PID_PATTERN = lazy.regex(r"Kill(?:ed)? process (\d{1,18})")
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
        starts = [r for r in report_regions(scan.regions.get(OOM_REPORT_KIND, ())) if origin(r.number) <= proof.line]
        if starts:
            rows = _rows(max(starts, key=lambda r: r.number), scan)
            return tuple(sorted(rows, key=lambda r: (-r.rss_bytes, r.line))[:MAX_PROCESS_ROWS])
    return ()


def _rows(region: Region, scan: Scan) -> list[ProcessMemory]:
    origin = scan.source.origin or int
    lines = region.lines_after()
    killed: set[int] = set()
    for line in lines:
        if NEW_OOM_REPORT in line.text:
            break
        killed |= {int(pid) for pid in KILLED_PID_PATTERN.findall(line.text)}
    return [
        ProcessMemory(scan.source.name, origin(line.number), row.pid, row.task, row.pages * OOM_PAGE_BYTES, row.pid in killed)
        for line, row in table_rows(lines)
    ]
