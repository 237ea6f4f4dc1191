"""Align the clocks of several sources: shared events show zones and boot times. A Warning names clocks that cannot be aligned.

dmesg.log   [Fri May  2 10:15:03 2025] ... Killed process 4242      (no zone)
train.log   2025-05-02T17:15:04Z rank 3 (pid 4242) died             -> dmesg.log is seven hours behind UTC, one Warning

Give each event its time and lane, and sort the events. The lines of one source keep their order, whatever its clock does.

Aug 22 03:00:07 (no year, no zone), file written 2025-08-22 -> 2025-08-22T03:00:07+00:00, lane `wall`
[11686.888109] (seconds since boot, no anchor)              -> no time, lane `boot of dmesg.txt`
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta, timezone
from itertools import product

from msgspec.structs import replace

from forensics.correlation.links import seconds_apart
from forensics.correlation.timestamp_resolver import UPTIME_ERROR_S, Anchor, Clock, ResolvedTime, TimestampResolver, span
from forensics.database import Database
from forensics.line_formats import parse_prefix
from forensics.model import Observation, Proof, Warn, Warning
from forensics.readers.identity import entity_ids
from forensics.readers.stamps.clock_samples import MAX_UTC_OFFSET, MIN_DAY_CHANGE, BootCounter, ClockSample

SAME_EVENT_FACTS = ("pid", "pci", "uuid", "kernel_id", "container", "job")  # two sources that share one may report one event
ZONE_STEP_S = 1800  # nearly all zones differ by whole half hours; only Nepal, Eucla and Chatham by a quarter
MAX_SHARED_ID_GAP_S = 30.0  # chosen by hand: a program may report the death of a child late
MAX_NOTICE_OF_DEATH_S = 5.0  # chosen by hand: a supervisor notices at once that its process is gone
KILL_TRAIT, DEATH_TRAIT = "memory_kill", "child_death"  # traits of causes
JOIN_ADVICE = "to join them, add the kernel's log with times: `dmesg -T` or `journalctl -k -o short-iso`"
MAX_COMPARED_EVENTS = 200  # per source: each is compared with each of another source, so the time grows with the square
MAX_PAUSE_S = 60.0  # between two stamped lines; lines between them get the time of the first, with the pause as uncertainty
MAX_COMPARED_SOURCES = 64  # each with each, as above; the logs of eight nodes with eight ranks


def events_in_order(events: Iterable[Observation], clock: Clock, source: str) -> Iterator[tuple[Observation, ResolvedTime]]:
    """The events of one source with their times, in order of line. An event without a stamp is between two stamped lines; if
    these are close together, it gets the time of the first."""
    resolver = TimestampResolver(clock, source)
    rows: list[tuple[int, int, ClockSample, Observation | None]] = [(m.line, 0, m, None) for m in clock.samples]
    rows += [(e.line, 1, ClockSample(e.line, e.stamp), e) for e in events]
    order = -1 if clock.backwards else 1
    before: ResolvedTime | None = None
    waiting: list[Observation] = []
    for _, _, sample, event in sorted(rows, key=lambda r: (order * r[0], r[1])):
        placed = resolver.place(sample)
        if event is not None and sample.stamp is None:
            waiting.append(event)
            continue
        if placed.time:
            yield from ((e, _between(before, placed, source)) for e in waiting)
            waiting, before = [], placed
        elif event is not None:
            yield from ((e, ResolvedTime(None, None, source)) for e in waiting)
            waiting = []
        if event is not None:
            yield event, placed
    yield from ((e, ResolvedTime(None, None, source)) for e in waiting)


def _between(before: ResolvedTime | None, after: ResolvedTime, source: str) -> ResolvedTime:
    if before is None or before.time is None or after.time is None or after.lane != before.lane:
        return ResolvedTime(None, None, source)
    pause = (after.time - before.time).total_seconds()
    if not 0 <= pause <= MAX_PAUSE_S:
        return ResolvedTime(None, None, source)
    return ResolvedTime(before.time, round(pause + (before.uncertainty_s or 0), 6), before.lane)


def align_clocks(events: Sequence[Observation], clocks: dict[str, Clock], knowledge: Database, warn: Warn) -> dict[str, Clock]:
    """`clocks` with the zones and anchors that shared events show. A Warning names each, and each clock that cannot be aligned.
    `knowledge`: its traits name the causes that are kills, and those that are the death of a child as its parent reports it."""
    by_source: dict[str, list[Observation]] = {name: [] for name in clocks}
    for event in events:
        held = by_source.get(event.source)
        if event.cause and held is not None and len(held) < MAX_COMPARED_EVENTS:
            held.append(event)
    made = dict(clocks)
    # Only sources with events can share one. The number of pairs grows with the square, so only the first sources are compared.
    telling = [name for name in sorted(clocks) if by_source[name]][:MAX_COMPARED_SOURCES]
    timed = {name: _timed(by_source[name], made[name], name) for name in telling}
    for a, b in product(telling, repeat=2):
        if a != b and made[b].floating:
            shift = _shift((timed[a], made[a]), timed[b], knowledge)
            if shift:
                made[b] = _moved(made[b], shift[0])
                timed[b] = _timed(by_source[b], made[b], b)
                zone_name = timezone(-shift[0]).tzname(None).removeprefix("UTC")
                warn(Warning("zone", f"its clock is assumed to be UTC{zone_name}: {shift[1]}", b))
    for a, b in product(telling, repeat=2):
        if a != b and made[b].unanchored():
            made[b] = _anchored(by_source[a], made[a], by_source[b], made[b], warn)
    made = {name: _measured(clock, name) if clock != clocks[name] else clock for name, clock in made.items()}
    _warn_unaligned(made, warn)
    return made


def _measured(clock: Clock, name: str) -> Clock:
    first, last = span(clock, name)
    return replace(clock, first=first, last=last)


def _timed(events: list[Observation], clock: Clock, source: str) -> list[Observation]:
    placed = ((e, p) for e, p in events_in_order(events, clock, source) if p.time)
    return [replace(e, time=p.time, uncertainty_s=p.uncertainty_s) for e, p in placed]


def _shift(timed: tuple[list[Observation], Clock], other: list[Observation], knowledge: Database) -> tuple[timedelta, str] | None:
    """What to add to the times of `other`, and the event that shows it; None if they agree or share no event. `timed`: the events
    of a source and its clock. Of two clocks without a zone, the kernel's is kept."""
    one, clock = timed
    if any(seconds_apart(a, b) is not None for a, b in product(one, other)):
        return None
    if clock.floating and not any(knowledge.has_trait(a.cause, KILL_TRAIT) for a in one):
        return None
    for a, b in product(reversed(one), reversed(other)):
        shared = next((f"{n} {a.fields[n]}" for n in SAME_EVENT_FACTS if n in a.fields and a.fields[n] == b.fields.get(n)), "")
        killed = any(
            knowledge.has_trait(x.cause, KILL_TRAIT) and knowledge.has_trait(y.cause, DEATH_TRAIT) for x, y in ((a, b), (b, a))
        )
        if a.time is None or b.time is None or not (shared or killed) or _on_other_host(a, b):
            continue
        gap = (a.time - b.time).total_seconds()
        steps = round(gap / ZONE_STEP_S)
        rest = abs(gap - steps * ZONE_STEP_S)
        if (
            steps
            and abs(gap) <= MAX_UTC_OFFSET.total_seconds()
            and rest <= (MAX_SHARED_ID_GAP_S if shared else MAX_NOTICE_OF_DEATH_S)
        ):
            what = f"share {shared}" if shared else "report the same death"
            where = f"its line {b.line} and {a.source}:{a.line} {what}"
            return timedelta(seconds=steps * ZONE_STEP_S), where
    return None


def _on_other_host(a: Observation, b: Observation) -> bool:
    """Do the two name different hosts? Each host has processes and a clock of its own."""
    one, other = (entity_ids.normalise_host(str(e.fields.get("host", ""))) for e in (a, b))
    return bool(one and other) and not entity_ids.same_host(one, other)


def _moved(clock: Clock, shift: timedelta) -> Clock:
    """`clock` in the zone that puts its times `shift` later."""
    boots = tuple(tuple(replace(a, zero=a.zero + shift) for a in anchors) for anchors in clock.boots)
    return replace(clock, zone=timezone(-shift), floating=False, boots=boots)


def _anchored(timed: list[Observation], clock: Clock, bare: list[Observation], unanchored: Clock, warn: Warn) -> Clock:
    """`unanchored` with an anchor for a boot whose kernel message also occurs in another source, with a time."""
    known = {_unique_message(e): e for e in _timed(timed, clock, timed[0].source)} if timed else {}
    counter, made = BootCounter(), unanchored
    boots = {m.line: counter.feed(m) for m in unanchored.samples}
    for event in bare:
        same = known.get(_unique_message(event))
        boot = boots.get(event.line, 0)
        if not same or not same.time or not event.stamp or event.stamp.mono is None or not _unique_message(event):
            continue
        if boot < len(made.boots) and made.boots[boot]:
            continue
        zero = same.time - timedelta(seconds=event.stamp.mono)
        off = (same.uncertainty_s or 0) + UPTIME_ERROR_S
        made = replace(made.anchored(boot, Anchor(event.line, event.stamp.mono, zero, off)), kind="wall+mono")
        where = f"{same.source}:{same.line}"
        warn(
            Warning(
                "clock",
                f"its seconds since boot were converted to times by the same message in {where}",
                event.source,
                event.line,
            )
        )
    return made


def _unique_message(event: Observation) -> str:
    """The message of an event that names a process, and so was printed once; else empty."""
    return parse_prefix(event.proofs[0].text).message.strip() if event.proofs and "pid" in event.fields else ""


def _warn_unaligned(clocks: dict[str, Clock], warn: Warn) -> None:
    """Warn of each source whose times are unknown while those of another source are known."""
    dated = [name for name, c in sorted(clocks.items()) if c.first]
    for name, clock in sorted(clocks.items()):
        others = [d for d in dated if d != name] if clock.unanchored() else []
        if others:
            why = "it counts seconds since boot, and nothing says when the boot was"
            if any(clock.boots):
                why = "it counts seconds since boot, and nothing says when some of its boots were"
            warn(Warning("clock", f"{why}; its times could not be joined with those of {_listed(others)}; {JOIN_ADVICE}", name))


def _listed(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


EARLIEST_TIME = datetime.min.replace(tzinfo=UTC)
MAX_EVENT_SPAN = timedelta(days=300)  # if two lines of one event are further apart, one of their years was guessed wrong


def assign_times(events: list[Observation], clocks: dict[str, Clock]) -> list[Observation]:
    """`events` with time, uncertainty in seconds and lane; those with a time in order of time, others by source and line. Lines
    of one source keep their order, even if its clock was set back."""
    by_source: dict[str, list[Observation]] = defaultdict(list)
    for event in events:
        by_source[event.source].append(event)
    rows: list[tuple[tuple[str, datetime, str, int], Observation]] = []
    for source in sorted(clocks.keys() & by_source):
        rows += _of_source(by_source[source], clocks[source], source)
    return [event for _, event in sorted(rows, key=lambda row: row[0])]


def _of_source(
    events: Iterable[Observation], clock: Clock, source: str
) -> Iterable[tuple[tuple[str, datetime, str, int], Observation]]:
    latest = EARLIEST_TIME
    for order, (event, placed) in enumerate(events_in_order(events, clock, source)):
        latest = max(latest, placed.time or EARLIEST_TIME)
        made = _with(event, placed)
        yield (made.lane, latest if placed.time else EARLIEST_TIME, source, order), made


def _with(event: Observation, placed: ResolvedTime) -> Observation:
    if placed.time is None:
        return replace(event, lane=placed.lane)
    off = placed.uncertainty_s
    times = [(p, _own_time(p, event, placed.time)) for p in event.proofs]
    stamped = any(parse_prefix(p.text).stamp for p in event.proofs)
    proofs = tuple(replace(p, time=t, time_uncertainty_s=off if t else None, stamped=stamped or t is None) for p, t in times)
    return replace(event, time=placed.time, uncertainty_s=off, lane=placed.lane, proofs=proofs)


def _own_time(proof: Proof, event: Observation, time: datetime) -> datetime | None:
    """The time of one line of `event`: the event's `time` plus the difference between the two lines' stamps. None for a later
    line without a stamp of a message that was repeated: nothing tells when it was printed again."""
    if event.stamp is None or len(event.proofs) == 1:
        return time
    own, of_event = parse_prefix(proof.text).stamp, event.stamp
    if own is None and event.count > 1 and proof.line > event.line:
        return None
    gap = own.seconds_after(of_event) if own else None
    if own is None or gap is None:
        return time
    apart = timedelta(seconds=gap)
    past_midnight = own.lacks == "date" and abs(apart) > MIN_DAY_CHANGE
    return time if past_midnight or abs(apart) >= MAX_EVENT_SPAN else time + apart
