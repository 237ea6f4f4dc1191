"""The series of one source, from its sampled lines, with bounded memory and time.

{'loss': 0.83, 'learning_rate': 1.2e-05, 'epoch': 0.62} -> one reading each of "loss", "learning rate" and "epoch"

Each kind of line has its own sample, so that a million lines of losses do not displace a hundred lines of memory. The last lines
of the source are added, because an even sample may miss them, and the end of a log matters most.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from forensics.model import Line, Region, Scan, Trigger
from forensics.readers.numbers import memory_tools, processes, tool_tables, usage_reports
from forensics.readers.numbers.base import Reading, Series
from forensics.readers.numbers.labels import factor_of_unknown_unit
from forensics.readers.numbers.numbers import column
from forensics.readers.numbers.plans import Key, Plan, plan

MEMORY_TRIGGER = Trigger(
    "memory",
    ("rss=", "rss:", "rss ", "memory us", "mem us", "memory_us", "memory (mb)", "memory (gb)", "memory alloc", "memory_alloc",
     "memory_reserved", "memory_cached", "memory:", "memory=", "mem:", "mem=", "ram us", "ram:", "ram=", "used memory",
     "memallocated", "gpu mem", "gpu_mem", "free gpu", "free memory", "free mem", "available mem", "bytes_in_use", "gb_free",
     "mem_", "vram", "peak mem", "resident", " ma ", "'peak': "),
    thin=True,
)  # fmt: skip
METRICS_TRIGGER = Trigger(
    "metrics",
    (
        "loss",
        "it/s",
        "s/it",
        "/step",
        "grad norm",
        "gnorm",
        "elapsed time per",
        "per second",
        "/sec",
        "step time",
        "step_time",
    ),
    thin=True,
)
# These lines are rare compared with those of training steps, so each kind has a sample of its own.
HELD_OUT_LOSS_TRIGGER = Trigger(
    "held-out",
    ("val_loss", "eval_loss", "valid_loss", "val loss", "validation loss", "valid loss", "test loss", "| valid "),
    thin=True,
)
LINE_TRIGGERS = (METRICS_TRIGGER, MEMORY_TRIGGER, HELD_OUT_LOSS_TRIGGER)
TRIGGERS = (*LINE_TRIGGERS, *tool_tables.TRIGGERS, *processes.TRIGGERS, *memory_tools.TRIGGERS, *usage_reports.TRIGGERS)
MAX_SAMPLED_LINES = 2000  # of each kind
MIN_MERGED_READINGS = 16  # fewer readings under changing names are unrelated numbers

T = TypeVar("T")


class Progress(Struct, frozen=True):
    """A line that shows the run's progress: `step` of `total` (None if unknown) and `scope`, the rank that wrote it."""

    line: Line
    step: float | None
    total: float | None
    scope: str


class Numbers(Struct, frozen=True):
    """All series of one source, and its lines of progress in order."""

    series: tuple[Series, ...]
    progress: tuple[Progress, ...]


def gather_numbers(scan: Scan) -> Numbers:
    """The series and the progress in the sampled lines of `scan`."""
    gathered = _Gathered(_sampled_lines(scan))
    series = [
        *gathered.series(),
        *(s for module in (tool_tables, processes, memory_tools, usage_reports) for s in module.series(scan)),
    ]
    return Numbers(tuple(sorted(series, key=lambda s: (s.readings[0].line, s.name, s.scope))), tuple(gathered.progress))


def _sampled_lines(scan: Scan) -> Iterator[Line]:
    """The sampled lines in order, each once (a progress bar once per sampled frame), and the last lines of the source."""
    found: dict[tuple[int, float], Line] = {}  # kinds may keep different windows of one long line: the first is used
    for trigger in LINE_TRIGGERS:
        regions: tuple[Region, ...] = scan.regions.get(trigger.kind, ())
        for region in _evenly(regions):
            place = region.number, region.end
            if place not in found:
                found[place] = Line(region.number, region.text)
    if found:
        numbers = {number for number, _ in found}
        frames = [line for line in scan.tail if line.number not in numbers or "\r" in line.text]
        known = set(found.values()) if frames else set()
        for line in frames:
            last = Line(line.number, _frame(line.text))
            if line.number not in numbers or (last.text != line.text and last not in known):
                found[line.number, math.inf] = last
    return (found[place] for place in sorted(found))


def _evenly(regions: Sequence[Region]) -> Iterator[Region]:
    """About MAX_SAMPLED_LINES of `regions`, evenly spaced: the scanner samples the beginning of a source more densely."""
    if len(regions) <= MAX_SAMPLED_LINES:
        yield from regions
        return
    min_gap, last = (regions[-1].number - regions[0].number) / MAX_SAMPLED_LINES, -math.inf
    for region in regions:
        if region.number - last >= min_gap or region is regions[-1]:
            yield region
            last = region.number


def _frame(text: str) -> str:
    text = text.rstrip("\r")
    return text[text.rfind("\r") + 1 :]


class _Gathered:
    """The readings of each series, as columns: lines that share a plan are read together, value by value."""

    def __init__(self, lines: Iterable[Line]) -> None:
        columns: dict[Key, list[tuple[int, Reading]]] = defaultdict(list)
        progress: list[tuple[int, Progress]] = []
        of_plan: dict[int, tuple[Plan, list[tuple[int, Line]]]] = {}  # by identity: a plan is made once for lines of a shape
        for place, line in enumerate(lines):
            own = plan(line.text)
            of_plan.setdefault(id(own), (own, []))[1].append((place, line))
        for line_plan, shaped in of_plan.values():
            places, same = [place for place, _ in shaped], [line for _, line in shaped]
            counts = line_plan.steps_of_totals([line.text for line in same])
            for at, key, factor, inverse in line_plan.values:
                values = [v * factor for v in column([line.text[at] for line in same])]
                rows = [*zip(places, same, counts, values, strict=True)]
                if inverse:  # a rate of zero has no inverse
                    rows = [(place, line, count, 1 / v) for place, line, count, v in rows if v > 0]
                columns[key] += [(place, Reading(line.number, line.text, v, count[0])) for place, line, count, v in rows]
            if line_plan.is_progress:
                shown = zip(places, same, counts, strict=True)
                progress += [(place, Progress(line, *count, line_plan.scope)) for place, line, count in shown]
        self.found = {key: _in_order(rows) for key, rows in columns.items() if rows}
        self.progress = _in_order(progress)

    def series(self) -> list[Series]:
        """The series found so far, with sizes in bytes and with memory series of changing names merged."""
        made = []
        for (quantity, name, unit, scope, sense, gpu), readings in _merged(self.found).items():
            if unit == "unknown":
                factor = factor_of_unknown_unit(max((abs(r.value) for r in readings), default=0.0))
                unit, readings = "bytes", [replace(r, value=r.value * factor) for r in readings]
            made.append(Series(name, quantity, unit, scope, tuple(readings), sense, gpu))
        return made


def _in_order(rows: list[tuple[int, T]]) -> list[T]:
    """The items in the order of their places; those of one place as they are."""
    rows.sort(key=itemgetter(0))
    return [item for _, item in rows]


def _merged(found: dict[Key, list[Reading]]) -> dict[Key, list[Reading]]:
    """Memory readings whose label changes from line to line (it holds a file name) form one series, if there are enough."""
    kept = {k: r for k, r in found.items() if k[0] != "memory" or len(r) > 2}
    loose: dict[Key, list[Reading]] = defaultdict(list)
    for key, readings in found.items():
        if key not in kept:
            loose[key[0], "memory", *key[2:]] += readings
    kept |= {k: sorted(r, key=lambda x: x.line) for k, r in loose.items() if len(r) >= MIN_MERGED_READINGS}
    return kept
