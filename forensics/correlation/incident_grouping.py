"""Group events into incidents. A long silence separates two incidents, on the wall clock or, if only that is known, since boot.

Deaths that only a kernel's log reports are separated after much shorter pauses, see below. Events without a time stay with the
events of their own source. The last events of a log, by whatever clock, belong to the last incident.

A hardware fault that returns is one incident, however long the pause: earlier reports of the same device and cause belong to the
last incident with such a report.

The report's `causes` are those of the first incident in the result: the last one in time with more than hints.

Split a kernel log with several kills into incidents: one for each job, container, limit or process.

    10:00 oom_memcg=/slurm/job_11 ... Killed process 91    10:07 oom_memcg=/slurm/job_12 ... Killed process 95   -> two incidents
    10:00 limit /job_11: Killed process 91                 10:00 limit /job_11: Killed process 92                -> one

This is done only if one log has all events: in a job's own log, the consequence of a death may follow an hour later. Events
between two kills belong to the first of the two. A single kill among the events of many hours becomes an incident together with
the events close to it; the report would hide it among the others.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from forensics.correlation.entities import IdMappings
from forensics.correlation.links import find_links
from forensics.database import Database
from forensics.line_formats.cgroup_paths import cgroup_owner
from forensics.model import Incident, Observation, Value
from forensics.readers.kernel.process_table import OOM_REPORT_KIND
from forensics.readers.tools.id_tables import IdMapping

MAX_SAME_DEATH_GAP_S = 10.0  # chosen by hand: processes of one program die within seconds of each other
MAX_BURST_SPAN_S = 7200.0  # chosen by hand: events that go on for longer are the normal state of the machine
KILL_OWNER_FIELDS = ("job", "container_id", "pod_uid", "limit_path")


def split_deaths(group: list[Observation]) -> list[list[Observation]]:
    """`group`, in order, split before each kill whose job, limit or process differs from that of the kill before it."""
    kills = [e for e in group if e.kind == OOM_REPORT_KIND and e.cause]
    if len({e.source for e in group}) > 1 or not kills:
        return [group]
    if len(kills) == 1:
        return _split_off_kill(group, kills[0])
    parts: list[list[Observation]] = [[]]
    last: Observation | None = None
    for event in group:
        if event.kind == OOM_REPORT_KIND and event.cause:
            if last is not None and not _belong_together(last, event):
                parts.append([])
            last = event
        parts[-1].append(event)
    return parts


def _split_off_kill(group: list[Observation], kill: Observation) -> list[list[Observation]]:
    """A `group` that covers a long time as two: its only kill with the events close to it, and the rest."""
    moments = [e.moment for e in group if e.moment is not None]
    if kill.moment is None or max(moments) - min(moments) <= MAX_BURST_SPAN_S:
        return [group]
    near = [e for e in group if e.moment is not None and abs(e.moment - kill.moment) <= MAX_SAME_DEATH_GAP_S]
    rest = [e for e in group if e not in near]
    return [rest, near] if rest else [group]


def _belong_together(before: Observation, event: Observation) -> bool:
    """Are both kills of one job or limit, or of processes that died within MAX_SAME_DEATH_GAP_S?"""
    a, b = _owner(before), _owner(event)
    if a and b:
        return a == b
    gap = abs((event.moment or 0.0) - (before.moment or 0.0))
    return before.fields.get("pid") == event.fields.get("pid") or gap <= MAX_SAME_DEATH_GAP_S


def _owner(kill: Observation) -> str:
    """The limit or job of the kill; empty if the whole host ran out of memory."""
    cgroup = cgroup_owner(" ".join(str(kill.fields[n]) for n in ("limit_path", "cgroup") if n in kill.fields))
    if cgroup.job or cgroup.container:
        return cgroup.job or cgroup.container
    return next((str(kill.fields[n]) for n in KILL_OWNER_FIELDS if n in kill.fields), "")


MIN_SILENCE = timedelta(hours=2)  # chosen by hand: longer than a checkpoint or an evaluation takes
MIN_DEVICE_SILENCE_S = 1800.0  # chosen by hand: what a fault of one device does to others shows within minutes
MIN_COMPARABLE_PID = 1000  # a container counts its processes from 1, so a small pid may be the same process under another number
SHARED_DEVICE_KEYS = ("pci", "uuid", "dimm", "disk", "driver")  # of a network card, whose ports fail alike


def group_incidents(events: list[Observation], knowledge: Database, mappings: Iterable[IdMapping] = ()) -> list[Incident]:
    """Incidents, the one that the job died of first; none for no events. `events`: in order, as assign_times gives them.
    `knowledge`: its traits name the hardware faults. `mappings`: lines that name one thing by several ids, for the links."""
    table = IdMappings(mappings)
    timed = [e for e in events if e.time]
    groups: list[list[Observation]] = []
    spans: list[tuple[datetime, datetime]] = []
    at = -1
    for event in timed:
        at = _group_index(spans, at, event.time or datetime.min)
        if at == len(groups):
            groups.append([])
        groups[at].append(event)
    older = _add_untimed([e for e in events if e.time is None], groups)
    parted = [own for group in (*older, *groups) for part in split_deaths(group) for own in _split_devices(part, knowledge)]
    made = [_incident(g, table) for g in _with_recurring(parted, knowledge)]
    made.reverse()
    return sorted(made, key=lambda i: not any(e.weight != "hint" and e.cause for e in i.events))


def _split_devices(group: list[Observation], knowledge: Database) -> list[list[Observation]]:
    """A `group`, in order, split before each fault of a device that stands MIN_DEVICE_SILENCE_S or more behind those of others,
    if no process is named by both: each GPU of a host is repaired by itself."""
    parts: list[list[Observation]] = [[]]
    named: set[str] = set()
    last = 0.0
    for event in group:
        fault = None if event.weight == "hint" or event.moment is None else _fault(event, knowledge)
        if fault and event.moment is not None:
            own = {str(event.fields[n]) for n in (*SHARED_DEVICE_KEYS, "pid") if event.fields.get(n, "<unknown>") != "<unknown>"}
            if named and own.isdisjoint(named) and event.moment - last > MIN_DEVICE_SILENCE_S:
                parts.append([])
                named = set()
            named |= own
            last = event.moment
        parts[-1].append(event)
    return parts


def join_incidents(found: Sequence[Incident]) -> Incident:
    """The incidents as one, in order of time; events without a time come last."""
    every = [e for i in reversed(found) for e in i.events]
    times = [t for i in found for t in (i.start, i.end) if t]
    ordered = sorted(every, key=lambda e: (e.time is None, e.time.timestamp() if e.time else 0.0, e.source, e.line))
    return Incident(tuple(ordered), tuple(k for i in found for k in i.links), min(times, default=None), max(times, default=None))


def _group_index(spans: list[tuple[datetime, datetime]], at: int, time: datetime) -> int:
    """The index of the group for an event at `time`.

    It is `at`, the group of the event before it, or another group less than MIN_SILENCE away, or a new one. A source whose lines
    alternate between two clocks makes two groups, and not a new one at each change.
    """
    tried: list[int] = [at, *range(len(spans) - 1, -1, -1)] if spans else []
    for i in tried:
        first, last = spans[i]
        if first - MIN_SILENCE <= time <= last + MIN_SILENCE:
            spans[i] = min(first, time), max(last, time)
            return i
    spans.append((time, time))
    return len(spans) - 1


def _add_untimed(events: Iterable[Observation], groups: list[list[Observation]]) -> list[list[Observation]]:
    """Add the events without a time to `groups`, those of a source to the latest group with one of its processes, else to the
    last; return groups of those that a silence separates from their source's last ones."""
    of_source: dict[str, list[Observation]] = defaultdict(list)
    for event in events:
        of_source[event.source].append(event)
    timed = {e.source for group in groups for e in group}
    older: list[list[Observation]] = []
    latest: list[Observation] = []
    for source, own in of_source.items():
        if source in timed:
            for event in own:
                _add_to_nearest(groups, event)
            continue
        *before, last = _since_boot(sorted(own, key=lambda e: e.line))
        older += before
        if (at := _group_of_pid(last, groups)) is not None:
            groups[at] += last
        else:
            latest += last
    if latest:
        groups[-1:] = [[*groups[-1], *latest]] if groups else [latest]
    return older


def _group_of_pid(events: Iterable[Observation], groups: Sequence[Sequence[Observation]]) -> int | None:
    """The index of the latest group with an event of a process of `events`; None if none of their processes is in a group."""
    pids = {pid for e in events if (pid := str(e.fields.get("pid", ""))).isdecimal() and int(pid) >= MIN_COMPARABLE_PID}
    found = (i for i in reversed(range(len(groups))) if any(str(e.fields.get("pid", "")) in pids for e in groups[i]))
    return next(found, None) if pids else None


def _add_to_nearest(groups: list[list[Observation]], event: Observation) -> None:
    """Add an event without a time to the group that has the nearest line of its source."""
    nearest = min((abs(o.line - event.line), i) for i, group in enumerate(groups) for o in group if o.source == event.source)
    groups[nearest[1]].append(event)


def _since_boot(events: list[Observation]) -> list[list[Observation]]:
    """The events of one source, in order of line, split where the seconds since boot show a silence; never empty. A boot
    separates groups if it has no event in its first hours. How long the silence before the boot was is unknown."""
    groups: list[list[Observation]] = [[]]
    lane, last = "", 0.0
    for event in events:
        uptime = event.stamp.mono if event.stamp else None
        if uptime is not None:
            if groups[-1] and uptime - (last if event.lane == lane else 0.0) > MIN_SILENCE.total_seconds():
                groups.append([])
            lane, last = event.lane, uptime
        groups[-1].append(event)
    return groups


def _with_recurring(groups: list[list[Observation]], knowledge: Database) -> list[list[Observation]]:
    """`groups`, in order; earlier reports of a hardware fault are moved to the last group with such a report above a hint."""
    last: dict[tuple[str, str, Value], int] = {}
    for i, group in enumerate(groups):
        last |= {fault: i for e in group if e.weight != "hint" and (fault := _fault(e, knowledge))}
    made: list[list[Observation]] = [[] for _ in groups]
    for i, group in enumerate(groups):
        for event in group:
            fault = _fault(event, knowledge)
            made[max(i, last.get(fault, i)) if fault else i].append(event)
    return [group for group in made if group]


def _fault(event: Observation, knowledge: Database) -> tuple[str, str, Value] | None:
    """Cause and device of a hardware fault; None for anything else."""
    if not knowledge.has_trait(event.cause, "device_fault"):
        return None
    return next(((str(event.cause), name, event.fields[name]) for name in SHARED_DEVICE_KEYS if name in event.fields), None)


def _incident(events: list[Observation], table: IdMappings) -> Incident:
    times = [e.time for e in events if e.time]
    ordered = [e for e in events if e.time]
    ordered += sorted((e for e in events if not e.time), key=lambda e: (e.source, e.line))
    return Incident(tuple(ordered), tuple(find_links(ordered, table)), min(times, default=None), max(times, default=None))
