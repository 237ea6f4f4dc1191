"""Notices on trouble that ended nothing by itself: a machine that swaps, steps that slow down, functions that are traced
repeatedly, crashes that share a node, a memory module or an hour of the day.

    Swap:  2.0Gi  2.0Gi  0B                 -> the swap space was full: what does not fit into memory moves at the speed of a disk
    full avg10=34.10 avg60=20.02 ...        -> all tasks waited for memory 34 % of the last ten seconds
    0.41 s ... 2.9 s a step from line 812   -> steps became 7.1 times slower from line 812 on
    WARNING: 5 out of the last 5 calls ... triggered tf.function retracing

Wordings: free and vmstat of procps, sar -W and -S of sysstat, /proc/pressure (Documentation/accounting/psi.rst), TensorFlow's
polymorphic_function. Nothing here takes part in the decision.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from types import MappingProxyType

from forensics.context.attempts import REACHED, AttemptFacts
from forensics.context.profiled import TRIGGER as PROFILED
from forensics.context.profiled import largest_row
from forensics.core import lazy
from forensics.core.text import format_size
from forensics.model import Incident, Notice, Observation, Region, Scan, Trigger

TRIGGER = Trigger(
    "machine_load", ("swap: ", "---swap--", "full avg10=", "pswpin/s", "%swpused", "triggered tf.function retracing"), after=60
)
SWAP_ROW_PATTERN = lazy.regex(r"^\s*Swap:\s+([\d.]+)([KMGT]?)i?B?\s+([\d.]+)([KMGT]?)i?B?\s+([\d.]+)([KMGT]?)i?B?\s*$")
PRESSURE = lazy.regex(r"\bfull avg10=([\d.]+) avg60=[\d.]+ avg300=[\d.]+")
PRESSURE_FILE_PATTERN = lazy.regex(r"\bpressure[/_]?(cpu|io|memory)\b|\b(cpu|io|memory)[._]pressure\b")
RETRACED = lazy.regex(r"(\d+) out of the last (\d+) calls to .{1,400}triggered tf\.function retracing")
BYTES_PER_FREE_UNIT = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
FULL = 0.05  # of the swap space left
MIN_STALL_PERCENT = 10.0  # of the time in which nothing at all could run for want of memory, or of input and output
SWAPPED_ROWS = 2  # one row is the average since the machine started
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
MAX_MACHINE_NOTICES = 6  # chosen by hand: beside a cause, which is what the reader came for
Made = tuple[int, str, str]  # line, its text, why it is worth knowing


def notices(
    scans: Iterable[Scan],
    observed: Sequence[Observation],
    incidents: Sequence[Incident],
    quoted: Set[tuple[str, int]] = frozenset(),
    known: Mapping[str, Sequence[AttemptFacts]] = MappingProxyType({}),
) -> tuple[Notice, ...]:
    """All notices, at most MAX_MACHINE_NOTICES of the machine. Lines that the evidence of the first cause has `quoted` get
    none, but count for what crashes have in common. `known`: the facts of the attempts by source."""
    found = [n for scan in scans for n in (*_of_machine(scan), *_of_profile(scan))][:MAX_MACHINE_NOTICES]
    kept = (n for n in (*found, *_of_pace(observed)) if (n.source, n.line) not in quoted)
    return (*kept, *_in_common(_ends(incidents, observed, known)))


def _of_machine(scan: Scan) -> Iterator[Notice]:
    """Each thing once: a watcher prints it every second."""
    origin = scan.source.origin or int
    told: set[str] = set()
    for region in scan.regions.get(TRIGGER.kind, ()):
        for read in NOTICE_READERS:
            if (made := read(region)) is not None and made[2] not in told:
                line, text, why = made
                told.add(why)
                yield Notice(scan.source.name, origin(line), text, None, NO_OWNER, why)
                break


def _of_profile(scan: Scan) -> Iterator[Notice]:
    """The line with the largest increment in a table of memory_profiler."""
    origin = scan.source.origin or int
    for region in scan.regions.get(PROFILED.kind, ()):
        if (most := largest_row(region, scan.source.name)) is not None:
            row = next(x for x in region.lines_after() if most.text in x.text and x.text.split()[:1] == [str(most.line)])
            why = f"{most.place} took {format_size(int(most.value or 0))}, more than any other line of this profile"
            yield Notice(scan.source.name, origin(row.number), row.text, None, NO_OWNER, why)


def _free(region: Region) -> Made | None:
    found = SWAP_ROW_PATTERN.search(region.text)
    if found is None:
        return None
    total, _, left = (float(found[i]) * BYTES_PER_FREE_UNIT[found[i + 1]] for i in (1, 3, 5))
    if not total or left > total * FULL:
        return None
    why = "the swap space was full: what does not fit into memory moved at the speed of a disk, and a kill is near"
    return region.number, region.text, why


def _vmstat(region: Region) -> Made | None:
    """The row with the most swapping, if several rows have some. The header names the columns."""
    if "---swap--" not in region.text:
        return None
    rows = region.lines_after()
    names = rows[0].text.split() if rows else []
    if not {"si", "so"} <= set(names):
        return None
    at = names.index("si"), names.index("so")
    cells = [(row, row.text.split()) for row in rows[1:]]
    busy = [
        (row, int(c[at[0]][:18]) + int(c[at[1]][:18]))
        for row, c in cells
        if len(c) >= len(names) and c[at[0]].isdigit() and c[at[1]].isdigit()
    ]
    swapping = [(row, moved) for row, moved in busy if moved]
    if len(swapping) < SWAPPED_ROWS:
        return None
    row, moved = max(swapping, key=lambda r: r[1])
    why = f"the machine swapped: {moved:,} KiB a second moved between memory and disk (columns si and so)"
    return row.number, row.text, why


def _pressure(region: Region) -> Made | None:
    """One line of /proc/pressure/memory or io. Which file it is stands in the line (`grep .`) or in the name of the source."""
    found = PRESSURE.search(region.text)
    if found is None or float(found[1]) < MIN_STALL_PERCENT:
        return None
    file = PRESSURE_FILE_PATTERN.search(region.text) or PRESSURE_FILE_PATTERN.search(region.source)
    waited_for = {"memory": "memory: the machine thrashed", "io": "disks or the network", "cpu": "a processor"}
    what = waited_for[file[1] or file[2]] if file else "one thing, memory or a disk; the line does not say which"
    return region.number, region.text, f"all tasks waited at once for {found[1]} % of the last ten seconds, for {what}"


def _sar(region: Region) -> Made | None:
    """The busiest row of `sar -W`, or one of `sar -S` with the swap space nearly used up."""
    names = region.text.split()
    name = next((n for n in ("pswpin/s", "%swpused") if n in names), None)
    if name is None:
        return None
    at = names.index(name) - len(names)
    cells = [(row, row.text.split()) for row in region.lines_after()]
    readings = [(row, float(c[at])) for row, c in cells if len(c) >= -at and c[at].replace(".", "", 1).isdigit()]
    if not readings:
        return None
    row, most = max(readings, key=lambda r: r[1])
    if name == "pswpin/s":
        return (row.number, row.text, f"the machine swapped: {most:g} pages a second came back from disk") if most > 1 else None
    return (row.number, row.text, f"{most:g} % of the swap space was in use") if most > 100 * (1 - FULL) else None


def _retraced(region: Region) -> Made | None:
    found = RETRACED.search(region.text)
    if found is None:
        return None
    why = f"{found[1]} of {found[2]} calls traced their function anew: each trace takes time, and its graph is kept in memory"
    return region.number, region.text, why


NOTICE_READERS: tuple[Callable[[Region], Made | None], ...] = (_free, _vmstat, _pressure, _sar, _retraced)


def _of_pace(observed: Sequence[Observation]) -> Iterator[Notice]:
    """Growth, slow-downs, uneven epochs and saw-teeth of the series, one of each kind."""
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
    if one.kind == "series/uneven-epochs":
        return (
            f"epochs of the same work took {fields['fastest_s']:g} to {fields['slowest_s']:g} s: "
            "another program on the machine, a disk or network that others use, a GPU that gets hot, "
            "or hardware that begins to fail"
        )
    if one.kind == "series/saw-tooth":
        return "steps are fast and slow in turn, as where a buffer of batches is emptied faster than it is filled"
    return None


Ended = tuple[Observation, str]  # what ended a job or an attempt, and the step that it reached, as it is printed, or empty


def _in_common(ends: Sequence[Ended]) -> Iterator[Notice]:
    """What MIN_SHARED_DEATHS or more crashes have in common: a node, a memory module, a GPU, a step, an hour of the day."""
    if len(ends) < MIN_SHARED_DEATHS:
        return
    traits: dict[tuple[str, str], list[Observation]] = {}
    for one, reached in ends:
        for trait in _traits(one, reached):
            traits.setdefault(trait, []).append(one)
    value_counts = {name: len({value for n, value in traits if n == name}) for name, _ in traits}
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
    for source, attempts in known.items():
        own = [o for o in observed if o.source == source and o.proofs]
        for attempt in attempts:
            inside = [o for o in own if attempt.first_line <= o.proofs[0].line <= attempt.last_line]
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
