"""Notices on trouble that ended nothing by itself: a machine that swaps, steps that slow down, functions that are traced
repeatedly, crashes that share a node, a memory module or an hour of the day.

    machine_load.py                         -> what free, vmstat, sar, pressure files and TensorFlow's warnings tell
    0.41 s ... 2.9 s a step from line 812   -> steps became 7.1 times slower from line 812 on

Nothing here takes part in the decision.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from types import MappingProxyType

from forensics.core.text import format_size
from forensics.model import Incident, Notice, Observation, Scan
from forensics.model.ranks import RankPicture
from forensics.readers.python.thread_places import thread_places
from forensics.readers.settings.attempts import REACHED, AttemptFacts
from forensics.readers.tools.machine_load import load_signs
from forensics.readers.tools.profiled import TRIGGER as PROFILED
from forensics.readers.tools.profiled import largest_row
from forensics.readers.tools.throttled import throttle_signs

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
        why = f"thread {place.thread or 'of no name'} of pid {place.pid} stood here when its stacks were taken"
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
    if one.kind in CHANGED_AT:
        since = f"from step {fields['step_no']} on" if "step_no" in fields else "from this line on"
        waiting = f"{fields['data_percent']} % of a step was waiting for data" if "data_percent" in fields else ""
        heat = "heat or power held the clocks down" if one.kind == "series/throttled" else ""
        usual = "slow data, heat, another program on the machine and swapping are the usual reasons"
        return f"steps became {fields['slower_by']} times slower {since}: {heat or waiting or usual}"
    return None


def of_late_ranks(seen: RankPicture | None) -> tuple[Notice, ...]:
    """A rank that is late again and again, and ended nothing by that."""
    late = [odd for odd in (seen.odd if seen else ()) if odd.kind == "late" and odd.proofs]
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
