"""What is worth knowing of numbers: trouble that ended nothing by itself, and where the numbers of two runs part.

Two runs: their learning rates, losses, the pace and the memory.

    step 900 loss 1.9 took 0.20 s         step 900 loss 3.1 took 0.35 s
    -> Change("loss", "7.5, 7.3, 7.1 to 1.7", "7.5, 7.3, 7.1 to 24"), Change("loss from step 900 on", "1.9", "3.1"),
       Change("time per step", "0.2 s", "0.35 s")

Only numbers that both runs print are compared; the time of a step is also taken from the times of their lines.

Trouble that ended nothing by itself: a machine that swaps, steps that slow down, functions that are traced
repeatedly, crashes that share a node, a memory module or an hour of the day.

    machine_load.py                         -> what free, vmstat, sar, pressure files and TensorFlow's warnings tell
    0.41 s ... 2.9 s a step from line 812   -> steps became 7.1 times slower from line 812 on

Nothing here takes part in the decision.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import pairwise
from types import MappingProxyType

from msgspec.structs import replace

from forensics.core.averages import median
from forensics.core.text import format_size
from forensics.model import Incident, Notice, Observation, Scan
from forensics.model.answers import STOOD_HERE, Change
from forensics.model.ranks import RankPicture
from forensics.readers.numbers.base import seconds_of
from forensics.readers.python.process_stacks import thread_places
from forensics.readers.settings.attempts import REACHED, AttemptFacts
from forensics.readers.tools.machine_load import load_signs
from forensics.readers.tools.profiled import TRIGGER as PROFILED
from forensics.readers.tools.profiled import largest_row
from forensics.readers.tools.throttled import throttle_signs
from forensics.series import Series, series_of

MIN_COMPARED_READINGS = 3  # the first ones say whether two runs began alike, the last where they ended
MAX_FIRST_VALUES = 3  # chosen by hand: enough to see whether two runs began alike
NOISE_FACTOR = 4.0  # two runs with other seeds differ by about as much as one reading from the next; four times that is no chance
MIN_PARTED_SHARE = 0.05  # chosen by hand: of the good run's loss; less is no other course
PACE_RATIO = 1.2  # chosen by hand: the pace of one program on one machine varies by less from run to run
RATE_RATIO = 1.01  # a learning rate is chosen; logs round it
MEMORY_RATIO = 1.1  # the memory of any program varies by less
WHOLE_FROM = 1000  # chosen by hand: from here on a decimal place says nothing
END_SHARE = 5  # the last fifth of the readings tells how a run went at its end


def compared_numbers(good: Iterable[Scan], bad: Iterable[Scan], *, paced: bool) -> tuple[Change, ...]:
    """The numbers that both runs print, of each name the first series. `paced`: the pace is known to differ already."""
    then, now = _first_series(good), _first_series(bad)
    both = [(then[name], now[name]) for name in now if name in then]
    found = [change for a, b in both if not (paced and a.quantity == "step_time") for change in _compared(a, b)]
    if not paced and not any(a.quantity in ("step_time", "rate") for a, _ in both):
        found += [change for a, b in both[:1] if (change := _pace_by_times(a, b))]
    return tuple(found)


def _first_series(run: Iterable[Scan]) -> dict[tuple[str, str], Series]:
    """The longest series of each name and sense, what was chosen first, then losses."""
    order = ("lr", "loss", "step_time", "rate", "memory")
    series = [s for scan in run for s in _placed(scan) if s.quantity in order and len(s.readings) >= MIN_COMPARED_READINGS]
    first: dict[tuple[str, str], Series] = {}
    for each in sorted(series, key=lambda s: (order.index(s.quantity), -len(s.readings), s.scope)):
        first.setdefault((each.name, each.sense), each)
    return first


def _placed(scan: Scan) -> Iterator[Series]:
    """The series of a source with the lines of its file."""
    for one in series_of(scan):
        yield replace(one, readings=tuple(replace(r, line=scan.source.number_of(r.line)) for r in one.readings))


def _compared(good: Series, bad: Series) -> Iterator[Change]:
    if good.quantity == "loss":
        then, now = _course(good), _course(bad)
        yield from (_change(good, bad, then, now), *_parting(good, bad)) if then != now else ()
    elif good.quantity == "lr":
        yield from _compared_rates(good, bad)
    elif good.quantity == "memory":
        yield from _compared_memory(good, bad)
    else:
        yield from _compared_pace(good, bad)


def _compared_rates(good: Series, bad: Series) -> Iterator[Change]:
    """The learning rates of the first step whose rates differ."""
    expected, now = _by_step(good), _by_step(bad)
    both = [(step, expected[step], value) for step, value in now.items() if step in expected]
    apart = next((n for n, (_, a, b) in enumerate(both) if _is_other(a, b, RATE_RATIO)), None)
    if apart is not None:
        step, then, last = both[apart]
        yield _change(good, bad, f"{then:.4g}", f"{last:.4g}", f" from step {step:g} on" if apart else "")


def _compared_memory(good: Series, bad: Series) -> Iterator[Change]:
    if good.unit == bad.unit == "bytes":
        most = min if good.sense == "free" else max
        then, now = most(good.values), most(bad.values)
        if _is_other(then, now, MEMORY_RATIO):
            yield _change(good, bad, format_size(then), format_size(now), f", at {'least' if most is min else 'most'}")


def _compared_pace(good: Series, bad: Series) -> Iterator[Change]:
    then, now = (median([*filter(math.isfinite, s.values)]) for s in (good, bad))
    end = median([*filter(math.isfinite, bad.values)][-max(1, len(bad.values) // END_SHARE) :])
    if _is_other(then, now, PACE_RATIO) or _is_other(then, end, PACE_RATIO):
        late = f", {_value(end, bad)} at the end" if _is_other(now, end, PACE_RATIO) else ""
        yield _change(good, bad, _value(then, good), _value(now, bad) + late)


def _is_other(one: float, other: float, ratio: float) -> bool:
    low, high = sorted((one, other))
    return high > ratio * low


def _value(value: float, series: Series) -> str:
    told = f"{value:,.0f}" if abs(value) >= WHOLE_FROM else f"{value:.3g}"
    return f"{told} {series.unit}" if series.unit[:1].isalpha() else told


def _change(good: Series, bad: Series, then: str, now: str, of: str = "") -> Change:
    what = good.name.removesuffix(" s").removesuffix(" sec").removesuffix(" per") if good.quantity == "rate" else good.name
    name = what + good.unit if what != good.name else what  # `tokens per s` -> `tokens/s`; `samples per second` has it in words
    return Change(name + of, then, now, good.lines[0], bad.lines[0])


def _course(series: Series) -> str:
    """The first values, which tell whether two runs began alike, and the last."""
    told = [_loss(value) for value in series.values]
    return ", ".join(told[:MAX_FIRST_VALUES]) + (f" to {told[-1]}" if len(told) > MAX_FIRST_VALUES else "")


def _loss(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "NaN"


def _parting(good: Series, bad: Series) -> Iterator[Change]:
    """The step from which on the two losses stay apart, with its values."""
    expected = _by_step(good)
    both = [(step, expected[step], value) for step, value in _by_step(bad).items() if step in expected]
    if len(both) < MIN_COMPARED_READINGS:
        return
    noise = median([abs(b - a) for a, b in pairwise(e for _, e, _ in both)])
    apart = [not abs(value - e) <= max(NOISE_FACTOR * noise, MIN_PARTED_SHARE * abs(e)) for _, e, value in both]
    last = next((i for i, is_apart in reversed([*enumerate(apart)]) if not is_apart), -1)
    if last + 1 < len(both) - 1 or not math.isfinite(both[-1][2]):  # one reading alone may be chance
        step, e, value = both[last + 1]
        yield _change(good, bad, _loss(e), _loss(value), f" from step {step:g} on")


def _by_step(series: Series) -> dict[float, float]:
    """The first value of each step; nothing of a series whose steps begin again."""
    known = [(step, value) for step, value in zip(series.steps, series.values, strict=True) if step is not None]
    first: dict[float, float] = {}
    for step, value in known:
        first.setdefault(step, value)
    return first if all(a[0] <= b[0] for a, b in pairwise(known)) else {}


def _pace_by_times(good: Series, bad: Series) -> Change | None:
    """The time of a step by the times of the lines, where both runs have them."""
    then, now = _seconds_a_step(good), _seconds_a_step(bad)
    if not then or not now or not _is_other(then, now, PACE_RATIO):
        return None
    return Change("seconds a step", f"{then:.3g}", f"{now:.3g}", good.lines[0], bad.lines[0])


def _seconds_a_step(series: Series) -> float | None:
    """The middle one of the times from one reading to the next, divided by their steps."""
    known = [
        (step, moment)
        for step, text in zip(series.steps, series.texts, strict=True)
        if step is not None and (moment := seconds_of(text)) is not None
    ]
    paces = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(known) if b[0] > a[0] and b[1] > a[1]]
    return median(paces) if len(paces) >= MIN_COMPARED_READINGS else None


NO_OWNER = "unknown"
CHANGED_AT = {"series/slow-down": 1, "series/starved": 1, "series/throttled": 2}  # which line of the evidence shows the change
GROWTH_FIELDS = ("first_bytes", "last_bytes", "hour_bytes")
SHARED_FIELD_PHRASES = {
    "host": "the host",
    "node": "the node",
    "dimm": "the memory module",
    "pci": "the GPU at",
    "gpu": "GPU",
    "device": "the device",
}
MIN_SHARED_DEATHS = 3  # deaths that share something; two may by chance
MAX_THREAD_NOTICES = 4  # chosen by hand: two wait for each other, and some more may do so
MAX_MACHINE_NOTICES = 6  # chosen by hand: beside a cause, which is what the reader came for


def notices(
    scans: Iterable[Scan],
    observed: Sequence[Observation],
    incidents: Sequence[Incident],
    quoted: Set[tuple[str, int]] = frozenset(),
    known: Mapping[str, Sequence[AttemptFacts]] = MappingProxyType({}),
) -> tuple[Notice, ...]:
    """All notices, at most MAX_MACHINE_NOTICES of the machine. Lines that the evidence of the first cause has `quoted` get
    none, but count for what crashes have in common. `known`: the facts of the attempts by source."""
    scans = list(scans)
    found = [n for scan in scans for n in (*_of_machine(scan), *_of_profile(scan))][:MAX_MACHINE_NOTICES]
    kept = (n for n in (*found, *_of_threads(scans), *_of_pace(observed)) if (n.source, n.line) not in quoted)
    return (*kept, *_in_common(_ends(incidents, observed, known)))


def _of_machine(scan: Scan) -> Iterator[Notice]:
    for sign in (*load_signs(scan), *throttle_signs(scan)):
        yield Notice(scan.source.name, scan.source.number_of(sign.line), sign.text, None, NO_OWNER, sign.why)


def _of_threads(scans: Sequence[Scan]) -> Iterator[Notice]:
    """Where threads stood when their stacks were taken: two that wait for each other are seen side by side."""
    sources = {scan.source.name: scan.source for scan in scans}
    for place in thread_places(scans)[:MAX_THREAD_NOTICES]:
        why = f"{f'thread {place.thread}' if place.thread else 'a thread'} of pid {place.pid} {STOOD_HERE}"
        yield Notice(place.source, sources[place.source].number_of(place.line), place.text, None, NO_OWNER, why)


def _of_profile(scan: Scan) -> Iterator[Notice]:
    """The line with the largest increment in a table of memory_profiler."""
    for region in scan.regions.get(PROFILED.kind, ()):
        if (most := largest_row(region, scan.source.name)) is not None:
            row = next(x for x in region.lines_after() if most.text in x.text and x.text.split()[:1] == [str(most.line)])
            why = f"{most.place} took {format_size(int(most.value or 0))}, more than any other line of this profile"
            yield Notice(scan.source.name, scan.source.number_of(row.number), row.text, None, NO_OWNER, why)


def _of_pace(observed: Sequence[Observation]) -> Iterator[Notice]:
    """Growth and slow-downs of the series, one of each kind."""
    seen: set[str] = set()
    for one in observed:
        why = _pace(one)
        if why and one.kind not in seen and one.proofs:
            seen.add(one.kind)
            proof = one.proofs[min(CHANGED_AT.get(one.kind, 0), len(one.proofs) - 1)]
            yield Notice(proof.source, proof.line, proof.text, one.cause, NO_OWNER, why)


def _pace(one: Observation) -> str | None:
    fields = one.fields
    if one.kind == "series/growth" and "first_bytes" in fields:
        first, last, hourly = (format_size(n) if isinstance(n := fields.get(f), int) else "" for f in GROWTH_FIELDS)
        return f"{fields['series']} grew from {first} to {last}" + (f", by {hourly} an hour" if hourly else "")
    if one.kind == "series/divergence":
        since = f", from step {fields['onset_step']} on" if "onset_step" in fields else ""
        return f"{fields['series']} was {fields['lowest']} at its best, and {fields['last_finite']} at the end{since}"
    if one.kind in CHANGED_AT:
        since = f"from step {fields['step_no']} on" if "step_no" in fields else "from this line on"
        waiting = f"{fields['data_percent']} % of a step was waiting for data" if "data_percent" in fields else ""
        heat = "heat or power limits kept the clocks down" if one.kind == "series/throttled" else ""
        usual = "the usual reasons are slow data, heat, another program on the machine, and swapping"
        return f"steps became {fields['slower_by']} times slower {since}: {heat or waiting or usual}"
    return None


def of_late_ranks(seen: RankPicture | None) -> tuple[Notice, ...]:
    """A rank that is late again and again, and ended nothing by that."""
    late = [odd for odd in (seen.odd if seen else ()) if odd.is_only_late and odd.proofs]
    whys = (f"{odd.named} keeps the others waiting: {odd.doing}{f' ({odd.place.place})' if odd.place else ''}" for odd in late)
    return tuple(
        Notice(o.proofs[0].source, o.proofs[0].line, o.proofs[0].text, None, NO_OWNER, w) for o, w in zip(late, whys, strict=True)
    )


Ended = tuple[Observation, str]  # what ended a job or an attempt, and the step that it reached, as it is printed, or empty


def _in_common(ends: Sequence[Ended]) -> Iterator[Notice]:
    """What MIN_SHARED_DEATHS or more crashes have in common: a node, a memory module, a GPU, a step, an hour of the day."""
    if len(ends) < MIN_SHARED_DEATHS:
        return
    traits: dict[tuple[str, str], list[Observation]] = {}
    for one, reached in ends:
        for trait in _traits(one, reached):
            traits.setdefault(trait, []).append(one)
    value_counts = Counter(name for name, _ in traits)
    for (name, value), found in traits.items():
        distinguishes = value_counts[name] > 1 or name in ("dimm", "step", "hour")  # one host in all logs says nothing
        days = {one.time.date() for one in found if one.time} if name == "hour" else set()
        if (
            len(found) >= MIN_SHARED_DEATHS
            and distinguishes
            and found[-1].proofs
            and (name != "hour" or len(days) >= MIN_SHARED_DEATHS)
        ):
            proof = found[-1].proofs[0]
            hint = "what it reads or does there is the same each time" if name == "step" else "a fault that comes and goes"
            why = f"{len(found)} of {len(ends)} deaths share {_named(name, value)}: {hint}, look there first"
            yield Notice(proof.source, proof.line, proof.text, None, NO_OWNER, why)  # of all of them, not of this one's cause


def _ends(
    incidents: Sequence[Incident], observed: Sequence[Observation], known: Mapping[str, Sequence[AttemptFacts]]
) -> list[Ended]:
    """What ended each incident, or each attempt where the attempts of one job make one incident."""
    of_incidents = [(e, _reached_in(e, known)) for i in incidents if (e := _end_of(i.events)) is not None]
    of_attempts: list[Ended] = []
    shown: dict[str, list[Observation]] = defaultdict(list)
    for o in observed:
        if o.proofs:
            shown[o.source].append(o)
    for source, attempts in known.items():
        for attempt in attempts:
            inside = [o for o in shown.get(source, ()) if attempt.first_line <= o.proofs[0].line <= attempt.last_line]
            if (end := _end_of(inside)) is not None:
                of_attempts.append((end, _reached(attempt)))
    return of_attempts if len(of_attempts) > len(of_incidents) else of_incidents


def _reached_in(end: Observation, known: Mapping[str, Sequence[AttemptFacts]]) -> str:
    """The step that the attempt in which `end` stands had reached; empty if unknown."""
    line = end.proofs[0].line if end.proofs else end.line
    return next((_reached(a) for a in known.get(end.source, ()) if a.first_line <= line <= a.last_line), "")


def _reached(attempt: AttemptFacts) -> str:
    return next((value for value, _ in attempt.said.get(REACHED, ())), "")


def _end_of(events: Iterable[Observation]) -> Observation | None:
    """The one that ended something, of the greatest weight. Records have no `ends`: proof counts."""
    ends = [e for e in events if e.cause and (e.weight == "proof" if e.ends == "" else e.ends != "nothing")]
    return min(ends, key=lambda e: ("proof", "strong", "hint").index(e.weight), default=None)


def _traits(one: Observation, reached: str) -> Iterator[tuple[str, str]]:
    yield from ((name, str(one.fields[name])) for name in SHARED_FIELD_PHRASES if name in one.fields)
    step = one.fields.get("last_step", one.fields.get("step_no"))
    if step is not None or reached:
        yield "step", reached or f"step {step}"
    if one.time:
        yield "hour", f"{one.time:%H}"


def _named(name: str, value: str) -> str:
    if name == "hour":
        return f"the hour of the day, {value}:00 to {value}:59"
    return f"the place they reached, {value}" if name == "step" else f"{SHARED_FIELD_PHRASES[name]} {value}"
