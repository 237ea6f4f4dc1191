"""What the kernel dumps below a report of an oops, a lockup or a stall: the processor, its task, and the function it was in.

[ 4210.252462] rcu: INFO: rcu_sched self-detected stall on CPU
[ 4210.258060] rcu: 	41-....: (60003 ticks this GP) idle=6d2/1/0x4000000000000002 softirq=310224/310224 fqs=14410
[ 4210.267881] CPU: 41 PID: 8812 Comm: ruleload Tainted: G        W         5.10.14-1 #1
[ 4210.313986] RIP: 0010:queued_write_lock_slowpath+0x4e/0x80

It proves nothing by itself: a warning has the same dump. Its fields belong to the message of the report above it.
"""

from forensics.data_files.named_parts import patterns_of
from forensics.model import Region, Trigger, Value
from forensics.readers.base import ParsedLine, Record, parse_lines, typed_fields

TRIGGER = Trigger("kernel_dump", (" Comm: ", "RIP: 0010:"), before=25, after=40)
OUTCOMES: tuple[str, ...] = ()
PATTERNS = patterns_of("dump")


IDLE_TASK = "swapper"  # an interrupt came while nothing ran: it says nothing of whose fault it is
MAX_OOPS_LINES = 10  # between the first line of a report and its `Oops:`


def read(region: Region) -> Record | None:
    """The fields of the dump around the region's line; None where no report of the kernel stands above it, and for a second line
    of one dump."""
    row = parse_lines([region.line])[0]
    above = parse_lines(region.lines_before())
    start = _first_line(above)
    if start is None or PATTERNS.other_head.search(above[start].message):
        return None
    task = PATTERNS.task.search(row.message)
    if task is None and any(" Comm: " in r.message for r in above[start:]):
        return None
    fields: dict[str, Value] = typed_fields({k: v for k, v in task.groupdict().items() if v}) if task else {}
    if str(fields.get("task", "")).startswith(IDLE_TASK):
        fields = {}
    if PATTERNS.names_task.search(above[start].message):
        fields = {k: v for k, v in fields.items() if k == "cpu"}
    rows = [row, *_until_next(parse_lines(region.lines_after()))]
    function = next((f for r in rows if (f := PATTERNS.stopped_function.search(r.message))), None)
    fields |= {k: v for k, v in function.groupdict().items() if v} if function else {}
    quote = (above[start].line, row.line)
    return (
        Record("kernel_dump", above[start].line.number, region.number, None, "hint", quote, fields, lends=True)
        if fields
        else None
    )


def _first_line(above: list[ParsedLine]) -> int | None:
    """The index of the first line of the report whose dump follows `above`; an oops has a second heading."""
    heads = [i for i, row in enumerate(above) if _is_head(row)]
    dumps = [i for i, row in enumerate(above) if " Comm: " in row.message]
    if not heads:
        return None
    first = heads[-1]
    for i in reversed(heads):
        if first - i > MAX_OOPS_LINES or any(i < dump < first for dump in dumps) or PATTERNS.other_head.search(above[i].message):
            break
        first = i
    return first


def _is_head(row: ParsedLine) -> bool:
    return PATTERNS.head.search(row.message) is not None or PATTERNS.other_head.search(row.message) is not None


def _until_next(rows: list[ParsedLine]) -> list[ParsedLine]:
    """The rows before the next report."""
    end = next((i for i, row in enumerate(rows) if _is_head(row) or " Comm: " in row.message), len(rows))
    return rows[:end]
