"""What XLA planned to hold for one step of a JAX program: arguments, results, and the memory in work.

    CompiledMemoryStats(..., argument_size_in_bytes=4308092, output_size_in_bytes=2700624, ..., temp_size_in_bytes=446752768, ...)
        -> StepPlan(arguments=4308092, results=2700624, in_work=446752768); a program prints it by
           print(jax.jit(step).lower(...).compile().memory_analysis())
    BufferAssignment stats:                              below an out-of-memory error of a GPU
                 parameter allocation:   10.04GiB
            maybe_live_out allocation:   28.74GiB
         preallocated temp allocation:  154.06GiB
    Peak buffers:
            Buffer 1:
                    Size: 38.10GiB
                    Operator: op_name="jit(step)/add" source_file="/home/me/train.py" source_line=175     -> largest 38.10GiB

Wordings: xla/pjrt/pjrt_executable.cc CompiledMemoryStats::DebugString(), xla/service/buffer_assignment.cc Stats::ToString().
"""

from collections.abc import Callable, Iterable, Sequence

from forensics.core.limits import size_of
from forensics.data_files.named_parts import patterns_of
from forensics.model import Habit, Line, Scan, StepPlan, Trigger

TRIGGER = Trigger("xla_plan", ("compiledmemorystats(", "bufferassignment stats"), after=24)
PATTERNS = patterns_of("xla plan")
PLANNED_ALLOCATIONS = 3  # of the pattern above
FIRST_BUFFER = "Buffer 1:"  # they are sorted by size
BUFFER_LINES = 3  # its size, its operator, its label


def step_plan(scans: Iterable[Scan]) -> StepPlan | None:
    """The plan with the most memory in work: evaluation and initialisation are compiled beside the step."""
    plans = [
        plan
        for scan in scans
        for region in scan.regions.get(TRIGGER.kind, ())
        if (plan := read_plan(region.lines(), scan.source.name, scan.source.number_of))
    ]
    return max(plans, key=lambda p: p.in_work, default=None)


def read_plan(lines: Sequence[Line], source: str = "", origin: Callable[[int], int] = int) -> StepPlan | None:
    """The plan in `lines`; None if there is none."""
    for line in lines:
        counts = {name: int(number) for name, number in PATTERNS.planned_size.findall(line.text)}
        if {"argument", "output", "temp"} <= counts.keys():
            results = counts["output"] - counts.get("alias", 0)
            return StepPlan(source, origin(line.number), counts["argument"], results, counts["temp"])
    rows = [line.text for line in lines]
    sizes = {name: (size_of(size) or 0) for row in rows for name, size in PATTERNS.planned_allocation.findall(row)}
    if len(sizes) < PLANNED_ALLOCATIONS:
        return None
    arguments, results, in_work = sizes["parameter"], sizes["maybe_live_out"], sizes["preallocated temp"]
    return StepPlan(source, origin(lines[0].number), arguments, results, in_work, *_largest(rows))


def _largest(rows: list[str]) -> tuple[int, Habit | None]:
    """The size of the largest buffer, and the line of a program that makes it; (0, None) if none is listed."""
    first = next((i for i, row in enumerate(rows) if row.strip() == FIRST_BUFFER), None)
    if first is None:
        return 0, None
    below = rows[first + 1 : first + 1 + BUFFER_LINES]
    size = next(((size_of(m[1]) or 0) for row in below if (m := PATTERNS.buffer_size.match(row))), None)
    made = next((m for row in below if (m := PATTERNS.buffer_operator.search(row))), None)
    return size or 0, Habit("largest_buffer", made[1], int(made[2]), made[0]) if made else None
