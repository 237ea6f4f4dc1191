"""The sampled lines of one source to its series, bounded in memory and time.

{'loss': 0.83, 'learning_rate': 1.2e-05, 'epoch': 0.62} -> one reading each of "loss", "learning rate" and "epoch"

Every kind of line has a sample of its own, so that a million lines of losses do not push out a hundred of memory. The last
lines of the source are added: an even sample may end short of the end, and the end is what matters most.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from forensics import lazy
from forensics.model import Line, Region, Scan, Trigger
from forensics.series import gauges, processes, tables
from forensics.series.base import Reading, Series
from forensics.series.epoch_time import ANCHORS, epoch_seconds
from forensics.series.labels import Meaning, bare_factor, meaning
from forensics.series.numbers import Token, tokens

MEMORY = Trigger(
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
        *ANCHORS,
    ),
    thin=True,
)
# Lines that are few beside those of training, so that each has a sample of its own.
HELD_OUT_LOSS = Trigger(
    "held-out",
    ("val_loss", "eval_loss", "valid_loss", "val loss", "validation loss", "valid loss", "test loss", "| valid "),
    thin=True,
)
EPOCHS = Trigger("epoch end", ANCHORS, thin=True)
OF_LINES = (METRICS, MEMORY, HELD_OUT_LOSS, EPOCHS)
TRIGGERS = (*OF_LINES, *tables.TRIGGERS, *processes.TRIGGERS, *gauges.TRIGGERS)
READ_LINES = 2000  # of each kind; 20 us a line
MERGED = 16
# Plain texts, looked for in the line in lower case: much faster than a pattern, and most lines have none of them.
OF_MEMORY = ("mem", "rss", "ram", "alloc", "reserved", "gb_free", "heap", " ma ", "cached", "bytes_in_use", "'peak': ")
MESSAGES = ("out of memory", "tried to allocate", "failed to allocate", "oom-kill", "trying to allocate", "killed process")
SIDELESS = {"memory", "mem", "memory used", "mem used", "used memory", "memory usage", "memory use", "used", "memory allocated"}
TABLE = lazy.regex(r"^\s*(?:[kmgt]ib )?mem ?: +[\d.]+\S* +(?:\d|total)")  # of free and top, which tables.py reads
FROM_TO = lazy.regex(r"\b(loss scale )from \S{1,24} (?=to )", re.IGNORECASE)
SCOPED = ("rank", "gpu", "cuda", "device", "worker", "pid", "node", "host")
SCOPE = lazy.regex(r"(?<![\w/-])(?:local_)?(rank|gpu|cuda|device|worker|pid|node|host)[ :=#_\[\-]{0,3}(\d{1,7})\b")
DEFAULT = lazy.regex(r"^\[default(\d{1,5})\]:|^\[\d+,(\d{1,5})\]<std|^ {0,4}(\d{1,4}): ")
OF_TOTAL = lazy.regex(r"(?<![\w/.:-])(\d{1,9}) ?/ *(\d{1,9})(?![\w/.:-]| \d\d:)")
HELD_OUT = lazy.regex(r"\b(?:valid|validation|val|eval|evaluation|test|testing|evaluate|validating)\b", re.IGNORECASE)

Key = tuple[str, str, str, str, str, bool]


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


def numbers(scan: Scan) -> Numbers:
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
        low = line.text.lower()
        of_memory = any(w in low for w in OF_MEMORY) and not any(m in low for m in MESSAGES)
        if of_memory and TABLE.match(low):
            return
        text = FROM_TO.sub(r"\1", line.text) if "loss scale from" in low else line.text
        known = [(t, m) for t in tokens(text) if (m := meaning(t.label, t.unit, of_memory))]
        epoch = epoch_seconds(line.text, low)
        if epoch:
            name = f"held-out {epoch[1]}" if HELD_OUT.match(low.strip()) else epoch[1]
            self.found["epoch_time", name, "s", "", "", False].append(Reading(line.number, line.text, epoch[0]))
        if not known:
            return
        step, total = _step_of_total(line.text, _counted(known))
        scopes = _scopes(line.text, low)
        held_out = HELD_OUT.search(line.text) if "val" in low or "test" in low else None
        for token, what in known:
            if what.quantity not in ("step", "epoch"):
                evaluated = what.evaluated or (held_out is not None and held_out.start() < token.at and what.quantity != "memory")
                self._add(line, token, what, step, scopes, evaluated)
        if not held_out and any(m.quantity in ("loss", "rate", "step_time", "grad_norm") for _, m in known):
            self.progress.append(Progress(line, step, total, _joined(scopes, len(line.text))))

    def _add(
        self, line: Line, token: Token, what: Meaning, step: float | None, scopes: list[tuple[int, str]], held_out: bool
    ) -> None:
        name = f"held-out {what.name}" if held_out else what.name
        scope = _joined(scopes, token.at)
        value = token.value * what.factor
        if what.inverse:
            if value <= 0:
                return
            value = 1 / value
        unsaid = what.name in SIDELESS and not what.gpu
        of_gpu = what.gpu or (unsaid and ("gpu " in scope or "cuda " in scope))
        kept = unsaid and "tflops" in line.text  # torchtitan's `memory:` is the most that PyTorch has reserved
        key = (what.quantity, name, what.unit, scope, "peak" if kept else what.sense, of_gpu or kept)
        self.found[key].append(Reading(line.number, line.text, value, step))

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
    kept |= {k: sorted(r, key=lambda x: x.line) for k, r in loose.items() if len(r) >= MERGED}
    return kept


def _counted(known: list[tuple[Token, Meaning]]) -> dict[str, float]:
    """The step and the epoch that a line names, the first of each; whole steps before parts of an epoch (fairseq's `update`)."""
    told = {m.quantity: t.value for t, m in reversed(known) if m.quantity in ("step", "epoch")}
    if not told.get("step", 0.0).is_integer():
        told["step"] = next((t.value for t, m in known if m.quantity == "step" and t.value.is_integer()), told["step"])
    return told


def _step_of_total(text: str, told: Mapping[str, float]) -> tuple[float | None, float | None]:
    """The step that a line names, or that its `840/1352` tells, else its epoch; and the total where it belongs to that step."""
    pairs = [(float(a), float(b)) for a, b in OF_TOTAL.findall(text)] if "/" in text else []
    pairs = [p for p in pairs if p[0] <= p[1]]
    step = told.get("step")
    if step is not None:
        return step, next((b for a, b in pairs if a == step), None)
    return pairs[-1] if pairs else (told.get("epoch"), None)


def _scopes(text: str, low: str) -> list[tuple[int, str]]:
    found = DEFAULT.match(text)
    first = [(0, f"rank {next(g for g in found.groups() if g)}")] if found else []
    if not any(w in low for w in SCOPED):
        return first
    return first + [(m.end(), f"{m[1]} {m[2]}") for m in SCOPE.finditer(low)]


def _joined(scopes: list[tuple[int, str]], before: int) -> str:
    return ", ".join(dict.fromkeys(s for end, s in scopes if end <= before)) if scopes else ""
