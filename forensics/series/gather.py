"""The sampled lines of one source to its series, bounded in memory and time.

{'loss': 0.83, 'learning_rate': 1.2e-05, 'epoch': 0.62} -> one reading each of "loss", "learning rate" and "epoch"

Every kind of line has a sample of its own, so that a million lines of losses do not push out a hundred of memory. The last
lines of the source are added: an even sample may end short of the end, and the end is what matters most.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from forensics.model import Line, Region, Scan, Trigger
from forensics.series import gauges, processes, tables
from forensics.series.base import Reading, Series
from forensics.series.epoch_time import EPOCH_TIME_ANCHORS, epoch_seconds
from forensics.series.labels import bare_factor
from forensics.series.plans import HELD_OUT, Key, plan

MEMORY_TRIGGER = Trigger(
    "memory",
    ("rss=", "rss:", "rss ", "memory us", "mem us", "memory_us", "memory (mb)", "memory (gb)", "memory alloc", "memory_alloc",
     "memory_reserved", "memory_cached", "memory:", "memory=", "mem:", "mem=", "ram us", "ram:", "ram=", "used memory",
     "memallocated", "gpu mem", "gpu_mem", "free gpu", "free memory", "free mem", "available mem", "bytes_in_use", "gb_free",
     "mem_", "vram", "peak mem", "resident", " ma ", "'peak': "),
    thin=True,
)  # fmt: skip
METRICS = Trigger(
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
        *EPOCH_TIME_ANCHORS,
    ),
    thin=True,
)
# Lines that are few beside those of training, so that each has a sample of its own.
HELD_OUT_LOSS = Trigger(
    "held-out",
    ("val_loss", "eval_loss", "valid_loss", "val loss", "validation loss", "valid loss", "test loss", "| valid "),
    thin=True,
)
EPOCHS = Trigger("epoch end", EPOCH_TIME_ANCHORS, thin=True)
OF_LINES = (METRICS, MEMORY_TRIGGER, HELD_OUT_LOSS, EPOCHS)
TRIGGERS = (*OF_LINES, *tables.TRIGGERS, *processes.TRIGGERS, *gauges.TRIGGERS)
READ_LINES = 2000  # of each kind
MIN_MERGED_READINGS = 16


class Progress(Struct, frozen=True):
    """A line that shows how far the run has come: `step` of `total` where it tells them, and the rank that wrote it."""

    line: Line
    step: float | None
    total: float | None
    scope: str


class Numbers(Struct, frozen=True):
    """All series of one source, and the lines that show progress, in order."""

    series: tuple[Series, ...]
    progress: tuple[Progress, ...]


def gather_numbers(scan: Scan) -> Numbers:
    """What the sampled lines of `scan` measure."""
    gathered = _Gathered()
    for line in _lines(scan):
        gathered.read(line)
    series = [*gathered.series(), *(s for form in (tables, processes, gauges) for s in form.series(scan))]
    return Numbers(tuple(sorted(series, key=lambda s: (s.readings[0].line, s.name, s.scope))), tuple(gathered.progress))


def _lines(scan: Scan) -> Iterator[Line]:
    """Sampled lines of text in order, each once, of a redrawn bar each sampled frame; and the source's last lines."""
    found: dict[tuple[int, float], Line] = {}  # of a long line, kinds give different windows: the first counts
    for trigger in OF_LINES:
        regions: tuple[Region, ...] = scan.regions.get(trigger.kind, ())
        for region in _even(regions):
            found.setdefault((region.number, region.end), Line(region.number, region.text))
    if found:
        known, numbers = set(found.values()), {number for number, _ in found}
        for line in scan.tail:
            last = Line(line.number, _frame(line.text))
            if line.number not in numbers or (last.text != line.text and last not in known):
                found[line.number, math.inf] = last
    return (found[place] for place in sorted(found))


def _even(regions: Sequence[Region]) -> Iterator[Region]:
    """About READ_LINES of `regions` at most, evenly over the lines of the source: its beginning is sampled more densely."""
    if len(regions) <= READ_LINES:
        yield from regions
        return
    apart, last = (regions[-1].number - regions[0].number) / READ_LINES, -math.inf
    for region in regions:
        if region.number - last >= apart or region is regions[-1]:
            yield region
            last = region.number


def _frame(text: str) -> str:
    text = text.rstrip("\r")
    return text[text.rfind("\r") + 1 :]


class _Gathered:
    def __init__(self) -> None:
        self.found: dict[Key, list[Reading]] = defaultdict(list)
        self.progress: list[Progress] = []

    def read(self, line: Line) -> None:
        """Take the numbers of one line."""
        text = line.text
        known = plan(text)
        if known.ends_epoch(text) and (epoch := epoch_seconds(text, text.lower())):
            name = f"held-out {epoch[1]}" if HELD_OUT.match(text.strip()) else epoch[1]
            self.found["epoch_time", name, "s", "", "", False].append(Reading(line.number, text, epoch[0]))
        step, total = known.step_of_total(text)
        for number in known.values:
            value = number.read(text)
            if value is not None:
                self.found[number.key].append(Reading(line.number, text, value, step))
        if known.is_progress:
            self.progress.append(Progress(line, step, total, known.scope))

    def series(self) -> list[Series]:
        """The series found, scattered ones joined, sizes in bytes."""
        made = []
        for (quantity, name, unit, scope, sense, gpu), readings in _joined_names(self.found).items():
            if unit == "bare":
                factor = bare_factor(max((abs(r.value) for r in readings), default=0.0))
                unit, readings = "bytes", [replace(r, value=r.value * factor) for r in readings]
            made.append(Series(name, quantity, unit, scope, tuple(readings), sense, gpu))
        return made


def _joined_names(found: dict[Key, list[Reading]]) -> dict[Key, list[Reading]]:
    """Memory whose label differs from line to line (a file's name in it) is one series, where there are many of them."""
    kept = {k: r for k, r in found.items() if k[0] != "memory" or len(r) > 2}
    loose: dict[Key, list[Reading]] = defaultdict(list)
    for key, readings in found.items():
        if key not in kept:
            loose[key[0], "memory", *key[2:]] += readings
    kept |= {k: sorted(r, key=lambda x: x.line) for k, r in loose.items() if len(r) >= MIN_MERGED_READINGS}
    return kept
