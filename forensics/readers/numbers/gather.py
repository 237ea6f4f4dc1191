"""The series of one source, from its sampled lines, with bounded memory and time.

{'loss': 0.83, 'learning_rate': 1.2e-05, 'epoch': 0.62} -> one reading each of "loss", "learning rate" and "epoch"

Each kind of line has its own sample, so that a million lines of losses do not displace a hundred lines of memory. The last lines
of the source are added, because an even sample may miss them, and the end of a log matters most.
"""

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import lru_cache
from itertools import chain, compress, islice, repeat
from operator import attrgetter, itemgetter

from msgspec import Struct
from msgspec.structs import replace

from forensics.core.recent import Recent
from forensics.model import Line, Region, RegionColumns, Scan, Trigger
from forensics.readers.capture.own_message import OWN_STARTS, is_own_line
from forensics.readers.kernel.process_table import OOM_REPORT_KIND, report_lines
from forensics.readers.numbers import lost_values, memory_tools, processes, tool_tables, usage_reports
from forensics.readers.numbers.base import Reading, Readings, Series
from forensics.readers.numbers.labels import factor_of_unknown_unit
from forensics.readers.numbers.plans import MAX_CACHED_PLANS, Key, Plan, plans_of
from forensics.readers.python.quoted_source import code_lines

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
        *("loss", "it/s", "s/it", "/step", "grad norm", "gnorm"),
        *("elapsed time per", "per second", "/sec", "step time", "step_time"),
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
TOOLS = (tool_tables, processes, memory_tools, usage_reports)  # whose numbers have a meaning by the place where they stand
TRIGGERS = (*LINE_TRIGGERS, *(trigger for tool in TOOLS for trigger in tool.TRIGGERS))
KINDS_OF_TOOLS = {OOM_REPORT_KIND, *(trigger.kind for tool in TOOLS for trigger in tool.TRIGGERS)}
MAX_SAMPLED_LINES = 2000  # of each kind
MAX_TOGETHER = 64  # scans whose numbers were read together and are kept until each was asked for; some fifty are
MIN_TELLING_READINGS = 3  # two are neither a trend nor a loss that was lost
MIN_MERGED_READINGS = 16  # fewer readings under changing names are unrelated numbers


class Progress(Struct, frozen=True):
    """A line that shows the run's progress: `step` of `total` (None if unknown) and `scope`, the rank that wrote it."""

    line: Line
    step: float | None
    total: float | None
    scope: str


class ProgressLines(Sequence[Progress]):
    """Lines of progress in order, as columns with the plan of each; a Progress is made where one is asked for."""

    __slots__ = ("lines", "plans", "texts")

    def __init__(self, lines: Sequence[int] = (), texts: Sequence[str] = (), plans: Sequence[Plan] = ()) -> None:
        self.lines, self.texts, self.plans = lines, texts, plans

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, at: int) -> Progress:  # type: ignore[override]  # a part of it is never asked for
        own = self.plans[at]
        return Progress(Line(self.lines[at], self.texts[at]), *own.step_of_total(self.texts[at]), own.scope)

    @property
    def scopes(self) -> list[str]:
        """The scope of each line."""
        return [own.scope for own in self.plans]

    def of_scope(self, scope: str, most: int) -> list[Progress]:
        """The last `most` lines of `scope`, in order."""
        places = (i for i in range(len(self.plans) - 1, -1, -1) if self.plans[i].scope == scope)
        return [self[i] for i in islice(places, most)][::-1]


class Numbers(Struct, frozen=True):
    """All series of one source, and its lines of progress in order."""

    series: tuple[Series, ...]
    progress: ProgressLines


def gather_numbers(scan: Scan, telling: bool = False, beside: Sequence[Scan] = ()) -> Numbers:
    """The series and the progress in the sampled lines of `scan`. `telling`: only series that may show a fault or a curve.
    `beside`: scans, `scan` among them, that will be asked for one after the other: their numbers are read together."""
    if len(beside) < 2:
        return gather_together((scan,), telling)[0]
    found = _together.take(scan)
    if found is None:
        with suppress(Exception):  # of one of them; then each is read by itself
            for one, own in zip(beside, gather_together(beside, telling), strict=True):
                _together.keep(one, own, 1)
        found = _together.take(scan)
    return found or gather_together((scan,), telling)[0]


_together: Recent[Numbers] = Recent(MAX_TOGETHER)


def gather_together(scans: Sequence[Scan], telling: bool) -> list[Numbers]:
    """The numbers of each of `scans`: lines of one shape are read together, whatever scan they are of."""
    numbers: list[int] = []
    texts: list[str] = []
    starts: list[int] = []
    for scan in scans:
        starts.append(len(texts))
        own_numbers, own_texts = _printed(scan, *_sampled_lines(scan))
        numbers += own_numbers
        texts += own_texts
    of_source, of_layout = _planned(texts, starts)
    for planned in of_source:
        silent = _silent_keys(planned, numbers) if telling else frozenset[Key]()
        for one in planned:
            one.asked = tuple([i for i, key in enumerate(one.plan.keys) if key not in silent])
    for same in of_layout:
        _read_columns(same, texts)
    return [_numbers_of(scan, _Gathered(own, numbers, texts)) for scan, own in zip(scans, of_source, strict=True)]


def _numbers_of(scan: Scan, gathered: "_Gathered") -> Numbers:
    tools = () if KINDS_OF_TOOLS.isdisjoint(scan.regions) else TOOLS  # as in most logs
    series = [*gathered.series(), *(s for tool in tools for s in tool.series(scan)), *lost_values.series(scan)]
    return Numbers(tuple(sorted(series, key=lambda s: (s.lines[0], s.name, s.scope))), gathered.progress())


def _sampled_lines(scan: Scan) -> tuple[list[int], list[str]]:
    """The numbers and the texts of the sampled lines in order, each once (a progress bar once per sampled frame), and of the
    last lines of the source."""
    kinds: list[Sequence[Region]] = []
    for trigger in LINE_TRIGGERS:
        regions = scan.regions.get(trigger.kind, ())
        kinds += [regions] if regions and regions not in kinds else []  # often the same lines show the loss and the memory
    if columns := _all_columns(kinds):
        return _with_tail(columns, scan.tail)
    found: dict[tuple[int, float], str] = {}  # kinds may keep different windows of one long line: the first is used
    for regions in reversed(kinds):
        kept = regions if len(regions) <= MAX_SAMPLED_LINES else [*map(regions.__getitem__, _evenly([r.number for r in regions]))]
        found |= {(region.number, region.end): region.text for region in reversed(kept)}
    if found:
        numbers = {number for number, _ in found}
        frames = [line for line in scan.tail if line.number not in numbers or "\r" in line.text]
        known = {(number, text) for (number, _), text in found.items()} if any("\r" in line.text for line in frames) else set()
        for line in frames:
            last = _frame(line.text)
            if line.number not in numbers or (last != line.text and (line.number, last) not in known):
                found[line.number, math.inf] = last
    places = sorted([item for item in found.items() if not item[1].startswith(OWN_STARTS) or not is_own_line(item[1])])
    return [number for (number, _), _ in places], [text for _, text in places]


def _printed(scan: Scan, numbers: list[int], texts: list[str]) -> tuple[list[int], list[str]]:
    """Those of the lines that are no code which the log quotes, whose numbers were not measured, and no report of a kill: its
    numbers are of that group or host at that moment."""
    left = code_lines(scan, numbers) | report_lines(scan.regions.get(OOM_REPORT_KIND, ()), numbers)
    kept = [number not in left for number in numbers] if left else []
    return ([*compress(numbers, kept)], [*compress(texts, kept)]) if left else (numbers, texts)


def _all_columns(kinds: Sequence[Sequence[Region]]) -> RegionColumns | None:
    """The columns of one kind that hold all others; None if there are none."""
    largest = max(kinds, key=len, default=None)
    if not isinstance(largest, RegionColumns):
        return None
    return largest if all(own is largest or (isinstance(own, RegionColumns) and own.among is largest) for own in kinds) else None


def _with_tail(regions: RegionColumns, tail: Iterable[Line]) -> tuple[list[int], list[str]]:
    """As _sampled_lines(), for lines that are all of one kind."""
    kept = _evenly(regions.numbers)
    numbers, texts = [*map(regions.numbers.__getitem__, kept)], [*map(regions.texts.__getitem__, kept)]
    for line in tail:
        at = bisect_right(numbers, line.number)
        is_known = at > 0 and numbers[at - 1] == line.number
        if not is_known or ("\r" in line.text and _frame(line.text) not in texts[bisect_left(numbers, line.number) : at]):
            numbers.insert(at, line.number)
            texts.insert(at, _frame(line.text))
    own = [i for i, text in enumerate(texts) if text.startswith(OWN_STARTS) and is_own_line(text)]
    for i in reversed(own):
        del numbers[i], texts[i]
    return numbers, texts


def _evenly(numbers: Sequence[int]) -> Sequence[int]:
    """The indices of about MAX_SAMPLED_LINES of the lines with these numbers, evenly spaced: the scanner samples the beginning of
    a source more densely."""
    if len(numbers) <= MAX_SAMPLED_LINES:
        return range(len(numbers))
    min_gap, last = (numbers[-1] - numbers[0]) / MAX_SAMPLED_LINES, -math.inf
    kept: list[int] = []
    for i, number in enumerate(numbers[:-1]):
        if number - last >= min_gap:
            kept.append(i)
            last = number
    return [*kept, len(numbers) - 1]


def _frame(text: str) -> str:
    text = text.rstrip("\r")
    return text[text.rfind("\r") + 1 :]


class _Part(Struct):
    """What lines of one plan give: their places among all lines, and columns of a series but for its values."""

    places: list[int]
    numbers: list[int]
    texts: list[str]
    steps: list[float | None]


class _Planned(Struct):
    """The lines of one source that have one plan. `order`: the places of the first line of their shape, and of theirs.
    `asked`: the values that are read, by their index in the plan; `begin`: where they stand in the columns of their shape."""

    plan: Plan
    places: list[int]
    order: tuple[int, int]
    asked: tuple[int, ...] = ()
    begin: int = 0
    columns: tuple[Mapping[int, list[float]], list[float | None]] = ({}, [])


def _planned(texts: Sequence[str], starts: Sequence[int]) -> tuple[list[list[_Planned]], list[list[_Planned]]]:
    """The lines of each source by their plans, and those of each layout; `starts`: where the lines of each source begin."""
    of_source: list[list[_Planned]] = [[] for _ in starts]
    of_layout: list[list[_Planned]] = []
    for shape in plans_of(texts):
        layouts: dict[object, list[_Planned]] = defaultdict(list)
        first: dict[int, int] = {}  # of the shape, by source
        for own, places in shape:
            if not own.values and not own.is_progress:  # no number of theirs is read
                continue
            for source, some in _by_source(places, starts):
                first[source] = min(first.get(source, some[0]), some[0])
                made = _Planned(own, some, (0, some[0]))
                of_source[source].append(made)
                layouts[own.layout].append(made)
        for same in layouts.values():
            for made in same:
                made.order = first[bisect_right(starts, made.places[0]) - 1], made.places[0]
            of_layout.append(same)
    for several in of_source:
        several.sort(key=_order)
    return of_source, of_layout


_order = attrgetter("order")


def _by_source(places: list[int], starts: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    """`places`, which rise, by the source to which they belong."""
    begin = 0
    while begin < len(places):
        source = bisect_right(starts, places[begin]) - 1
        end = len(places) if source + 1 == len(starts) else bisect_left(places, starts[source + 1], begin)
        yield source, places[begin:end] if end - begin < len(places) else places
        begin = end


def _read_columns(same: Sequence[_Planned], texts: Sequence[str]) -> None:
    """Read the numbers of lines of one layout, whatever their sources and scopes are."""
    needed = [one for one in same if one.asked]
    if not needed:
        return
    asked = sorted({i for one in needed for i in one.asked})
    places: list[int] = []
    for one in needed:
        one.begin = len(places)
        places += one.places
    values = needed[0].plan.values
    columns, steps = needed[0].plan.columns([*map(texts.__getitem__, places)], [values[i] for i in asked])
    read = dict(zip(asked, columns, strict=True)), steps
    for one in needed:
        one.columns = read


class _Gathered:
    """The readings of each series of one source, as columns. `starts`, `numbers`, `texts`: of the lines of all sources that are
    read together."""

    def __init__(self, planned: Sequence[_Planned], numbers: Sequence[int], texts: Sequence[str]) -> None:
        found: dict[Key, list[tuple[_Part, list[float]]]] = defaultdict(list)
        progress: list[tuple[int, Plan]] = []
        for one in planned:
            places = one.places
            if one.asked:
                (columns, steps), end = one.columns, one.begin + len(places)
                own = [*map(texts.__getitem__, places)]
                part = _Part(places, [*map(numbers.__getitem__, places)], own, steps[one.begin : end])
                for i in one.asked:
                    _, key, factor, inverse = one.plan.values[i]
                    values = columns[i][one.begin : end]
                    values = values if factor == 1 else [value * factor for value in values]
                    found[key].append(_inverse(part, values) if inverse else (part, values))
            if one.plan.is_progress:
                progress += zip(places, repeat(one.plan))
        orders: dict[tuple[int, ...], tuple[list[int], Readings]] = {}
        joined = {key: _joined(parts, orders) for key, parts in found.items()}
        self.found = {key: readings for key, readings in joined.items() if len(readings)}
        self._progress = sorted(progress, key=itemgetter(0))
        self._numbers, self._texts = numbers, texts

    def progress(self) -> ProgressLines:
        """The lines of progress, in order."""
        if not self._progress:
            return ProgressLines()
        places, plans = zip(*self._progress, strict=True)
        return ProgressLines([*map(self._numbers.__getitem__, places)], [*map(self._texts.__getitem__, places)], plans)

    def series(self) -> list[Series]:
        """The series found so far, with sizes in bytes and with memory series of changing names merged."""
        made = []
        for key, readings in _merged(self.found).items():
            unit = key.unit
            if unit == "unknown":
                factor = factor_of_unknown_unit(max(map(abs, readings.values), default=0.0))
                unit, readings = "bytes", readings.times(factor)
            made.append(Series(key.name, key.quantity, unit, key.scope, readings, key.sense, key.gpu))
        return made


def _silent_keys(planned: Sequence[_Planned], numbers: Sequence[int]) -> Set[Key]:
    """The keys of series of so few readings that no detector looks at them and no curve is drawn of them. Rates are compared over
    time, and so is memory, whose short series may be parts of one. A loss is looked for beside a norm of the gradient, too."""
    counts: dict[Key, int] = {}
    for one in planned:
        for key in one.plan.keys:
            counts[key] = counts.get(key, 0) + len(one.places)
    few = {key for key, count in counts.items() if count < MIN_TELLING_READINGS and not key.name.startswith("held-out")}
    loose: dict[Key, int] = defaultdict(int)
    for key in few:
        if key.quantity == "memory":
            loose[_merged_key(key)] += counts[key]
    losses = {key for key in few if key.quantity == "loss"}
    if with_norm := [one for one in planned if losses and one.plan.has_norm]:
        near_norm = {numbers[p] for one in with_norm for p in one.places}
        of_loss = [one for one in planned if not losses.isdisjoint(one.plan.keys)]
        near = [one for one in of_loss if not near_norm.isdisjoint(map(numbers.__getitem__, one.places))]
        few -= {key for one in near for key in one.plan.keys if key in losses}
    return {
        key
        for key in few
        if key.quantity in ("rate", "loss") or (key.quantity == "memory" and loose[_merged_key(key)] < MIN_MERGED_READINGS)
    }


@lru_cache(maxsize=MAX_CACHED_PLANS)
def _merged_key(key: Key) -> Key:
    """The key of the series in which memory under changing names is merged."""
    return replace(key, quantity="memory", name="memory")


def _inverse(part: _Part, values: Sequence[float]) -> tuple[_Part, list[float]]:
    """The inverse of each value, without those that have none."""
    kept = [value > 0 for value in values]
    if all(kept):
        return part, [1 / value for value in values]
    left = _Part(
        [*compress(part.places, kept)],
        [*compress(part.numbers, kept)],
        [*compress(part.texts, kept)],
        [*compress(part.steps, kept)],
    )
    return left, [1 / value for value in compress(values, kept)]


def _joined(parts: Sequence[tuple[_Part, list[float]]], orders: dict[tuple[int, ...], tuple[list[int], Readings]]) -> Readings:
    """The parts of a series as its readings, in order. `orders`: the order of parts, and their other columns, which all series
    of the same lines share."""
    if len(parts) == 1:
        part, values = parts[0]
        return Readings(part.numbers, part.texts, values, part.steps)
    values = [*chain.from_iterable(own for _, own in parts)]
    same = tuple(id(part) for part, _ in parts)
    if same not in orders:
        places = [*chain.from_iterable(part.places for part, _ in parts)]
        order = sorted(range(len(places)), key=places.__getitem__)
        whole = Readings(
            [*chain.from_iterable(part.numbers for part, _ in parts)],
            [*chain.from_iterable(part.texts for part, _ in parts)],
            values,
            [*chain.from_iterable(part.steps for part, _ in parts)],
        )
        orders[same] = order, whole.picked(order)
    order, shared = orders[same]
    return Readings(shared.lines, shared.texts, [*map(values.__getitem__, order)], shared.steps)


def _merged(found: dict[Key, Readings]) -> dict[Key, Readings]:
    """Memory readings whose label changes from line to line (it holds a file name) form one series, if there are enough."""
    kept = {k: r for k, r in found.items() if k.quantity != "memory" or len(r) >= MIN_TELLING_READINGS}
    loose: dict[Key, list[Reading]] = defaultdict(list)
    for key, readings in found.items():
        if key not in kept:
            loose[_merged_key(key)] += readings
    for key, several in loose.items():
        if len(several) >= MIN_MERGED_READINGS:
            several.sort(key=lambda x: x.line)
            kept[key] = Readings(
                [r.line for r in several], [r.text for r in several], [r.value for r in several], [r.step for r in several]
            )
    return kept
