"""Find the owner of each observation of an incident, the link that shows it, and what follows the observation.

dmesg:   Killed process 15372 (python)      train.log: ... (pid: 15372) Killed       -> mine, "pid 15372"
dmesg:   Killed process 900 (chrome)        train.log: pids of its own, none near    -> others, "pid 900 is none that ..."
dmesg:   Xid 79, 3 s before train.log ends                                           -> unknown, "time, 3.0 s earlier"
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import timedelta

from msgspec.structs import replace

from forensics.core.text import two_unit_duration
from forensics.correlation.asked_subject import OWN_KINDS, Subject, is_of_one
from forensics.correlation.incident_grouping import MAX_SAME_DEATH_GAP_S, MIN_COMPARABLE_PID, MIN_SILENCE
from forensics.correlation.nearest_death import (
    MAX_PAUSE_BEFORE_END_S,
    MAX_STAMP_DELAY_S,
    link_to_file,
    only_nearest,
    seconds_to,
)
from forensics.database import HEALTHY, Database
from forensics.line_formats.cgroup_paths import CgroupOwner, cgroup_owner
from forensics.model import Incident, Link, Observation
from forensics.model.verdicts import ONE_OF_SEVERAL, Aftermath, Fact, Lane, OwnedObservation, Owner
from forensics.outcome.tiers import what_ended
from forensics.readers.identity.entity_ids import entity_ids, ids_of_file_name, job_of_row, normalise_host, same_host
from forensics.readers.stamps.clock_samples import MAX_UTC_OFFSET, SMALLEST_ZONE_STEP_S

POD_OF_EVENTS = "pod/"  # how kubectl's table of events begins the name of a pod
NAMED_LINKS = {"pid", "step", "container", "pod_uid", "pod", "kernel", "uuid", "pci", "unit", "job", "cgroup"}
MAX_THREAD_ID_DISTANCE = 500  # the kernel reports a crash by the thread's id, which is a little greater than the pid
GROUP_FIELDS = ("cgroup", "limit_path", "container", "step", "container_id")
Place = tuple[str, int]


def assign_owners(incident: Incident, subject: Subject, database: Database) -> tuple[OwnedObservation, ...]:
    """Every observation of `incident` that names a cause, in order, with its owner; without those in the logs of other runs."""
    observations = [o for o in incident.events if o.cause in database.causes and o.source not in subject.other_runs]
    subject = replace(subject, hosts=_hosts(observations, subject))
    linked = _named_links(incident.links, observations, subject)
    ends = [o for o in observations if o.source in subject.own and o.weight != "hint" and what_ended(o, database) != "nothing"]
    subject = replace(subject, crowded=subject.crowded and not ends)
    untimed = _untimed(ends, subject)
    first = [_owned(o, linked, subject, database, bool(ends), _may_explain(o, untimed, database)) for o in observations]
    effects = _own_effects(first, subject, database)
    first = [_with_own_aftermath(o, effects, subject, database) for o in _without_other_pods(first)]
    mine = {pid for o in first if o.owner == "mine" and o.observation.source not in subject.own and (pid := _pid(o.observation))}
    named = subject.pids | {_pid(o.observation) for o in first if o.observation.source in subject.own}
    left = only_nearest([_excluded_by_pid(o, mine, database) for o in first], ends, subject, database)
    return tuple(_with_name(o, named - {0}, subject) for o in left)


def _untimed(ends: Sequence[Observation], subject: Subject) -> list[Observation]:
    """Those of `ends` whose lines have no time and stand behind the last line with one: they were printed then or later."""
    last = [o for o in ends if o.time is None or subject.end is None or o.time >= subject.end]
    return [] if any(p.stamped for o in last for p in o.proofs) else last


def _may_explain(o: Observation, ends: Iterable[Observation], database: Database) -> bool:
    """May a fault explain one of `ends`? A killed process prints no error of its own: its death explains none."""
    cause = str(o.cause)
    return not database.has_trait(cause, "process_death") and any(
        cause == end.cause or database.explains(cause, str(end.cause)) for end in ends
    )


def _owned(
    o: Observation,
    linked: Mapping[Place, str],
    subject: Subject,
    database: Database,
    ends_in_own_logs: bool,
    may_be_late: bool = False,
) -> OwnedObservation:
    """`ends_in_own_logs`: do the subject's own logs show how they ended?

    `may_be_late`: has an end that `o` may explain no time of its own?
    """
    lane = next((lane for lane in subject.lanes.get(o.source, ()) if (o.line, o.kind) in lane.aftermath), None)
    aftermath = lane.aftermath[(o.line, o.kind)] if lane else Aftermath(lines_after=0)
    before = _seconds_before(o, subject)
    if may_be_late and before is not None and -MAX_PAUSE_BEFORE_END_S <= before < 0:
        before = 0.0
    owner, link = _owner(o, lane, linked, subject, database, before if ends_in_own_logs else None)
    return OwnedObservation(o, owner, link, lane, aftermath, before, _facts(o, owner, aftermath, before))


def _without_other_pods(found: Sequence[OwnedObservation]) -> list[OwnedObservation]:
    """`found`, where rows of a table of events on other pods than those that the other lines name are those of others."""
    rows = {id(o): o.lane.entity.name for o in found if o.lane and o.lane.entity.name.startswith(POD_OF_EVENTS)}
    asked = {str(o.observation.fields["pod"]) for o in found if id(o) not in rows and "pod" in o.observation.fields}
    names = {POD_OF_EVENTS + pod.rpartition("/")[2] for pod in asked}
    if not names or not rows:
        return [*found]
    other = {key for key, row in rows.items() if row not in names}
    return [replace(o, owner="others", link="another pod") if id(o) in other else o for o in found]


def _owner(
    o: Observation, lane: Lane | None, linked: Mapping[Place, str], subject: Subject, database: Database, before: float | None
) -> tuple[Owner, str]:
    if subject.machine:
        return "mine", "the machine's own log"
    if o.source in subject.own:
        if (job := _job_of_row(o)) and subject.jobs and job not in subject.jobs and not any(n.array for n in subject.named):
            return "others", f"job {job} is another one"
        if lane is None or lane.kind in OWN_KINDS or not any(x.kind in OWN_KINDS for x in subject.lanes.get(o.source, ())):
            return "mine", "its own log"
        return "unknown", "another program's line in its log"
    group_of_it = _group(o)
    jobs, containers = subject.jobs, {n.container for n in subject.named} - {""}
    if group_of_it.job and jobs and not any(n.array for n in subject.named):
        return (
            ("mine", f"job {group_of_it.job}") if group_of_it.job in jobs else ("others", f"job {group_of_it.job} is another one")
        )
    if group_of_it.container and containers:
        return (
            ("mine", f"container {group_of_it.container[:12]}")
            if group_of_it.container in containers
            else ("others", "another container")
        )
    if o.place in linked:
        return "mine", linked[o.place]
    pid, death = _pid(o), database.has_trait(o.cause, "process_death")
    if pid and pid in subject.pids and not _on_another_host(o, subject):
        return "mine", f"pid {pid}"
    if pid and death and _is_none_of(pid, subject.pids, MAX_THREAD_ID_DISTANCE if o.fields.get("signal") else 0):
        return "others", f"pid {pid} is not named in the job's log"
    group = str(o.fields.get("cgroup", ""))
    if subject.captured and all(run.is_elsewhere(group) for run in subject.captured):
        return "others", f"no process of the job was in the memory group {group}"
    if subject.crowded and is_of_one(o, database):
        return _by_file(o, subject)
    return _by_time(o, subject, before)


def _own_effects(found: Iterable[OwnedObservation], subject: Subject, database: Database) -> dict[str, tuple[int, Aftermath]]:
    """Of each cause that is no error of the program and that the subject's own logs show: the place among `found` and the
    aftermath of its telling with the fewest lines behind it."""
    effects: dict[str, tuple[int, Aftermath]] = {}
    for place, o in enumerate(found):
        cause = str(o.observation.cause)
        if o.owner != "mine" or o.observation.source not in subject.own or database.has_trait(cause, "program_error"):
            continue
        if cause not in effects or o.aftermath.lines_after < effects[cause][1].lines_after:
            effects[cause] = place, o.aftermath
    return effects


def _with_own_aftermath(
    o: OwnedObservation, effects: Mapping[str, tuple[int, Aftermath]], subject: Subject, database: Database
) -> OwnedObservation:
    """A host's observation with the aftermath of its effect in the subject's own log. `effects`: see _own_effects().

    The host's log does not show whether the subject continued.
    """
    if subject.machine or o.observation.source in subject.own or o.owner == "others":
        return o
    own = [found for cause, found in effects.items() if database.explains(str(o.observation.cause), cause)]
    return replace(o, aftermath=min(own, key=lambda f: (f[1].lines_after, f[0]))[1]) if own else o


def _hosts(observations: Iterable[Observation], subject: Subject) -> frozenset[str]:
    names = (o.fields.get(name, "") for o in observations if o.source in subject.own for name in ("host", "node"))
    return frozenset(normalise_host(str(name)) for name in names) - {""}


def _on_another_host(o: Observation, subject: Subject) -> bool:
    """Do `o` and the subject name different hosts? A pid is valid on one host only."""
    named = normalise_host(str(o.fields.get("host", "")))
    return bool(named) and bool(subject.hosts) and not any(same_host(named, h) for h in subject.hosts)


def _by_time(o: Observation, subject: Subject, before: float | None) -> tuple[Owner, str]:
    tolerance_s = MAX_STAMP_DELAY_S + (o.uncertainty_s or 0.0)
    start = subject.start
    gap = _seconds_before(o, subject)
    if before is not None and before < -tolerance_s:
        return "others", f"{two_unit_duration(-before)} after the last line of the job's log"
    if gap is not None and -gap > MIN_SILENCE.total_seconds() + tolerance_s and not _may_be_zone(-gap):
        return "others", f"{two_unit_duration(-gap)} after the last line of the job's log"
    if o.time and start and o.time < start - timedelta(seconds=tolerance_s):
        early = (start - o.time).total_seconds()
        since = "start of the job" if subject.captured else "first line of the job's log"
        return "others", f"{two_unit_duration(early)} before the {since}"
    if gap is None:
        return "unknown", "given beside it"
    return "unknown", f"time, {gap:.1f} s before its last line" if gap >= 0 else f"time, {-gap:.1f} s after its last line"


def _by_file(o: Observation, subject: Subject) -> tuple[Owner, str]:
    """By the time at which the file of the subject's log was written last: a copy's is another one, but never by chance this."""
    gap = seconds_to(subject.written, o) if subject.written else None
    if gap is not None and abs(gap) <= MAX_STAMP_DELAY_S + (o.uncertainty_s or 0.0):
        return "unknown", link_to_file(o, subject)
    return "others", ONE_OF_SEVERAL


def _may_be_zone(gap: float) -> bool:
    """May two clocks show the same minute, one of them in UTC, as in a container, and one in local time, as `dmesg -T`?"""
    return gap <= MAX_UTC_OFFSET.total_seconds() and gap % SMALLEST_ZONE_STEP_S <= MAX_PAUSE_BEFORE_END_S


def _seconds_before(o: Observation, subject: Subject) -> float | None:
    """Seconds from `o` to the end of the subject's logs; None if a time is unknown."""
    end = subject.end
    return (end - o.time).total_seconds() if o.time and end else None


def _named_links(links: Iterable[Link], observations: Sequence[Observation], subject: Subject) -> dict[Place, str]:
    """Each place in a host's log that a number or a name links to a line of the subject's own, with that link.

    Links are followed from place to place: a union-find.
    """
    parent: dict[Place, Place] = {}

    def root(place: Place) -> Place:
        while parent.setdefault(place, place) != place:
            parent[place] = place = parent[parent[place]]
        return place

    moments = {o.place: o.moment for o in observations if o.source not in subject.own}
    named = [k for k in links if k.kind in NAMED_LINKS and not _joins_two_deaths(k, moments)]
    for link in named:
        parent[root(link.second)] = root(link.first)
    own = {root(o.place) for o in observations if o.source in subject.own and o.cause != HEALTHY}
    by = {place: link.by for link in reversed(named) for place in (link.first, link.second)}  # the surest link of each
    return {place: by[place] for place in list(parent) if place[0] not in subject.own and root(place) in own and place in by}


def _joins_two_deaths(link: Link, moments: Mapping[Place, float | None]) -> bool:
    """Do two lines of hosts share but a memory group, at different times? It outlives a job, and many run in it."""
    first, second = moments.get(link.first), moments.get(link.second)
    return link.kind == "cgroup" and first is not None and second is not None and abs(first - second) > MAX_SAME_DEATH_GAP_S


def _excluded_by_pid(o: OwnedObservation, mine: set[int], database: Database) -> OwnedObservation:
    """A death without a link to the subject is another's if a pid links a different death to the subject."""
    pid = _pid(o.observation)
    if o.owner != "unknown" or not mine or not pid or pid in mine or not database.has_trait(o.observation.cause, "process_death"):
        return o
    return replace(o, owner="others", link=f"its pid is {pid}, and pid {min(mine)} is tied to the job")


def _with_name(o: OwnedObservation, pids: Set[int], subject: Subject) -> OwnedObservation:
    """With `named` if its pid is one of `pids`, those that the subject's own logs name. A machine's log names those of all."""
    return replace(o, named=not subject.machine and o.owner == "mine" and _pid(o.observation) in pids)


def _job_of_row(o: Observation) -> str:
    """The job that a line of a log names that is named after none; a job's own log may tell of the steps of others."""
    return "" if ids_of_file_name(o.source).job else entity_ids(o).job


def _group(o: Observation) -> CgroupOwner:
    named_group = cgroup_owner(" ".join(str(o.fields[name]) for name in GROUP_FIELDS if name in o.fields))
    if named_group.job:
        return named_group
    job = str(o.fields.get("job", "")).partition(".")[0] or (job_of_row(o.proofs[0].text) if o.proofs else "")
    return replace(named_group, job=job)


def _pid(o: Observation) -> int:
    pid = o.fields.get("pid", 0)
    return int(pid) if isinstance(pid, int) or (isinstance(pid, str) and pid.isdecimal() and len(pid) < 10) else 0


def _is_none_of(victim: int, pids: Iterable[int], threads: int) -> bool:
    """Is `victim` none of `pids` and none of the `threads` numbers above each? Known only if some pids are of a similar size."""
    near = [p for p in pids if victim / 2 < p < victim * 2]
    return victim >= MIN_COMPARABLE_PID and bool(near) and not any(p <= victim <= p + threads for p in near)


def _facts(o: Observation, owner: Owner, after: Aftermath, before: float | None) -> tuple[Fact, ...]:
    mine = {"mine": True, "others": False, "unknown": None}[owner]
    found = [Fact("mine", mine, o.source, o.line)]
    if after.repeated or after.progress:
        found.append(Fact("continued", True, o.source, after.repeated_line))
    if after.handled:
        found.append(Fact("handled", True, o.source, after.handled_line))
    if before is not None and before < -MAX_STAMP_DELAY_S:
        found.append(Fact("after_end", True, o.source, o.line))
    return tuple(found)
