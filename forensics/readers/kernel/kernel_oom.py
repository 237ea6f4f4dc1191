"""Reads the kernel's out-of-memory report: the process that asked for memory, the limit, the killed process and its memory.

    python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
    ... memory: usage 409600kB, limit 409600kB, failcnt 331 ...
    oom-kill:constraint=CONSTRAINT_MEMCG,...,oom_memcg=/job,task_memcg=/job,task=python3,pid=1917,uid=0
    Memory cgroup out of memory: Killed process 1917 (python3) total-vm:469992kB, anon-rss:393356kB, ...

The wordings are those of mm/oom_kill.c and mm/memcontrol.c from Linux 2.6 to 6.x. The process that invoked the killer is often
not the one that was killed. The constraint tells whether the host or a cgroup ran out of memory; without it, the sentence about
the kill does, without that the cgroup's usage or the call trace, and without these what was asked for: a cgroup is charged for
plain GFP_KERNEL pages (0xd0 before Linux 4.4), the host mostly runs out of movable user pages.
"""

import re
from collections import defaultdict
from collections.abc import Iterable

from forensics.core.text import format_size
from forensics.data_files.named_parts import first_row, patterns_of
from forensics.line_formats.cgroup_paths import owner_phrase
from forensics.model import Line, Region, Stamp, Trigger, Value, Weight
from forensics.readers.base import ParsedLine, Record, parse_lines, typed_fields
from forensics.readers.kernel.process_table import OOM_PAGE_BYTES, ProcessTable

TRIGGERS = (
    Trigger("kernel_oom", ("invoked oom-killer",), after=500),
    # A report whose first lines are missing, as the kernel's ring overwrites them: its last lines still name the killed process.
    Trigger(
        "kernel_oom",
        ("oom-kill:constraint=", "killed as a result of limit of", "Killed process", "Kill process "),
        before=300,
        after=10,
    ),
)
MEMORY_LIMIT, HOST_MEMORY_EXHAUSTED = "memory_limit", "host_memory_exhausted"
OUTCOMES = (MEMORY_LIMIT, HOST_MEMORY_EXHAUSTED)

QUOTE_RANKS = {"constraint": 2, "limit": 2, "usage": 3, "invoked": 4}  # of the lines, the smallest is quoted first
PATTERNS = patterns_of("kernel oom")
UNLIMITED_BYTES = 1 << 60  # for "no limit" the kernel writes its largest counter, 2**63 minus a page
MAX_TOP_TASKS = 5  # the largest ones; smaller processes do not fill the memory
# GFP_KERNEL and GFP_KERNEL_ACCOUNT as kernels printed them, from 2.6 on; the bits were numbered anew several times.
GFP_KERNEL_MASKS = {"0xd0", "0x24000c0", "0x14000c0", "0x6000c0", "0xcc0", "0x400cc0"}
PRINTED_S = 10.0  # seconds; a serial console needs several to print a long report


def read(region: Region) -> Record | None:
    """The report that starts on the region's line. None if a person triggered it (sysrq), or if no line of a report was found."""
    parsed = parse_lines([region.line, *region.lines_after()])
    rows = [r for r in parsed if r.prefix.program in (None, "kernel", parsed[0].prefix.program)]
    report = _Report()
    first = _first_kept(region, rows[0], report)
    for i, row in enumerate(rows):
        again = "constraint" in report.fields and row.message.startswith("oom-kill:")  # a log that has only such lines
        if i and (again or "invoked oom-killer" in row.message or _later(rows[0].prefix.stamp, row.prefix.stamp)):
            break
        report.feed(row)
    return report.record(first)


def _first_kept(region: Region, last: ParsedLine, report: "_Report") -> int:
    """The number of the first line that is left of a report whose beginning is missing, fed to `report`; that of `last`, the line
    of `region`, if nothing is missing."""
    first = region.number
    if "invoked oom-killer" in last.message:
        return first
    kept: list[ParsedLine] = []
    for row in reversed(parse_lines(region.lines_before())):
        if row.prefix.program not in (None, "kernel", last.prefix.program):
            continue
        if _is_of_another(row.message) or _later(row.prefix.stamp, last.prefix.stamp):
            break
        kept.append(row)
    for row in reversed(kept):
        if report.feed(row) or PATTERNS.report_line.search(row.message):
            first = min(first, row.line.number)
    return first


def _is_of_another(message: str) -> bool:
    """Is it the first line of a whole report, or one of the last of a report?"""
    return "invoked oom-killer" in message or "oom-kill:" in message or PATTERNS.oom_kill.search(message) is not None


def _later(start: Stamp | None, now: Stamp | None) -> bool:
    """Is a line more than PRINTED_S from the report's first line? It is then another report, as in the output of grep."""
    gap = now.seconds_after(start) if start and now else None
    return gap is not None and abs(gap) > PRINTED_S


class _Report:
    def __init__(self) -> None:
        self.fields: dict[str, Value] = {}
        self.quote: list[tuple[int, Line]] = []
        self.tasks: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
        self.table = ProcessTable()
        self.kills: set[str] = set()
        self.is_done = False
        self.last = 0
        self.said: set[str] = set()

    def feed(self, row: ParsedLine) -> bool:
        """Add one line of the report. Does it tell anything?"""
        message = row.message
        kill = PATTERNS.oom_kill.search(message)
        if kill:
            self._kill(kill, row.line)
        elif found := first_row("kernel oom lines", message):
            self.fields |= typed_fields(found.parts(message))
            self._seen(row.line, QUOTE_RANKS.get(found.name, 9))
        elif task := self.table.row(message):
            count, pages = self.tasks[task.task]
            self.tasks[task.task] = count + 1, pages + task.pages
            self.last = row.line.number
        elif PATTERNS.cgroup_charge_frame.search(message):
            self.said.add("stack cgroup")
        elif PATTERNS.page_allocation_frame.search(message):
            self.said.add("stack global")
        else:
            return False
        return True

    def _kill(self, found: re.Match[str], line: Line) -> None:
        groups = {k.rstrip("2"): v for k, v in found.groupdict().items() if v and k not in ("memcg", "plain", "done")}
        if found["memcg"]:
            self.said.add("cgroup")
        elif found["plain"]:
            self.said.add("global")
        if found["done"] and not self.is_done:  # kernels before 5.0 announce a process first, and may kill a child of it instead
            self.kills, self.is_done = set(), True
        if found["done"] or "pid" not in self.fields:
            self.kills.add(found["pid"])
            if len(self.kills) == 1:
                self.fields |= typed_fields(groups)
        self._seen(line, 0 if found["done"] else 1)

    def _seen(self, line: Line, worth: int) -> None:
        self.quote.append((worth, line))
        self.last = max(self.last, line.number)

    def record(self, first: int) -> Record | None:
        """The Record of all lines that were added."""
        if self.fields.get("order") == -1 or not (self.kills or "invoker" in self.fields or "constraint" in self.fields):
            return None
        outcome, sure = self._outcome()
        fields = {
            k: v
            for k, v in self.fields.items()
            if k != "gfp_mask" and not (k.endswith("_bytes") and isinstance(v, int) and v >= UNLIMITED_BYTES)
        }
        if outcome == HOST_MEMORY_EXHAUSTED:
            for name in ("limit_path", "limit_bytes", "usage_bytes"):
                fields.pop(name, None)
        who = owner_phrase(str(fields.get("limit_path") or fields.get("cgroup") or ""))
        if who:
            fields["owner"] = who
        if self.tasks:
            fields["biggest"] = self._biggest()
        if self.kills:
            fields["kills"] = len(self.kills)
        self.quote.sort(key=lambda q: (q[0], q[1].number))
        weight: Weight = "hint"  # cut off before the line with the limit
        if sure or self.kills:
            weight = "proof" if sure and (self.kills or "constraint" in fields) else "strong"
        quote = tuple(line for worth, line in self.quote if worth < 9)[:4]
        return Record("kernel_oom", first, max(self.last, first), outcome, weight, quote, fields)

    def _outcome(self) -> tuple[str, bool]:
        constraint = self.fields.get("constraint")
        if constraint:
            limited = constraint == "CONSTRAINT_MEMCG" or "limit_path" in self.fields
            return MEMORY_LIMIT if limited else HOST_MEMORY_EXHAUSTED, True
        if "cgroup" in self.said or "limit_path" in self.fields:
            return MEMORY_LIMIT, True
        if "global" in self.said:
            return HOST_MEMORY_EXHAUSTED, True
        if "stack cgroup" in self.said or "limit_bytes" in self.fields:
            return MEMORY_LIMIT, True
        if "stack global" in self.said:
            return HOST_MEMORY_EXHAUSTED, True
        shows_host = "total_ram_bytes" in self.fields or "swap_total_bytes" in self.fields
        is_charge = self.fields.get("gfp_mask") in GFP_KERNEL_MASKS and self.fields.get("order") == 0 and not shows_host
        return MEMORY_LIMIT if is_charge else HOST_MEMORY_EXHAUSTED, False

    def _biggest(self) -> str:
        top: Iterable[tuple[str, tuple[int, int]]] = sorted(self.tasks.items(), key=lambda t: -t[1][1])[:MAX_TOP_TASKS]
        return ", ".join(
            f"{name}{f' x{count}' if count > 1 else ''} {format_size(pages * OOM_PAGE_BYTES)}" for name, (count, pages) in top
        )
