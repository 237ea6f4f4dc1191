"""The subject is what the user asks about: the job, the notebook, or the machine if only logs of hosts were given.

train.log, dmesg.txt    -> the job that wrote train.log; dmesg.txt is the log of its host
run1.log, run2.log      -> the run that wrote run2.log; the earlier run is an attempt before it (see runs.py)
dmesg.txt               -> the machine
"""

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from types import MappingProxyType

from msgspec import Struct, field
from msgspec.structs import replace

from forensics.correlation.incident_grouping import MAX_SAME_DEATH_GAP_S
from forensics.correlation.runs import Joined, attempts_by_job
from forensics.database import Database
from forensics.line_formats import HOST_FORMATS
from forensics.model import Incident, Observation, SourceSummary
from forensics.model.verdicts import Entity, Lane, LaneKind
from forensics.outcome.lane_columns import kinds_of
from forensics.outcome.own_lanes import OwnLanes
from forensics.readers.capture.captured_end import CapturedRun
from forensics.readers.identity.entity_ids import FileNameIds, entity_ids, ids_of_file_name
from forensics.readers.lanes.lane_rows import is_scheduler_log_name

OWN_KINDS: tuple[LaneKind, ...] = ("job", "notebook")


class Subject(Struct, frozen=True, dict=True):  # a folder of thousands of logs is asked for its times with each event
    """The job, notebook or machine that the verdict is about.

    `own`: names of the sources that it wrote; for a machine all sources. `starts`, `ends`: first and last known time of each of
    these. `pids`: its processes, as far as its logs name them. `machine`: only logs of hosts were given. `lanes`: of all sources,
    by name. `hosts`: those that its own lines name. `earlier`: the runs of the same program before it, in order. `other_runs`:
    names of the sources that other runs wrote. `beside`: the last run of each job that is no attempt of this one, in order, with
    the runs before it. `row`: its number, where nothing but the rows of an accounting tells of it and of other jobs. `captured`:
    what captures say of its runs, one for each node of a job. `crowded`: hosts' logs tell of deaths or full groups in several
    incidents, and its own logs have no time that could tie it to one of them. `written`: when its own logs were written last, by
    their files, where it is crowded.
    """

    own: frozenset[str]
    starts: Mapping[str, datetime | None]
    ends: Mapping[str, datetime | None]
    pids: frozenset[int]
    machine: bool
    lanes: Mapping[str, Sequence[Lane]] = field(default_factory=dict)
    hosts: frozenset[str] = frozenset()
    earlier: tuple["Subject", ...] = ()
    other_runs: frozenset[str] = frozenset()
    row: str = ""
    captured: tuple[CapturedRun, ...] = ()
    beside: tuple["Subject", ...] = ()
    crowded: bool = False
    written: datetime | None = None

    @cached_property
    def named(self) -> list[FileNameIds]:
        """The ids in the names of its own files."""
        return [ids_of_file_name(name) for name in self.own]

    @property
    def jobs(self) -> set[str]:
        """The numbers of the jobs that its files are named after, or that the row tells of."""
        return {n.job for n in self.named if n.job} | ({self.row} if self.row else set())

    @cached_property
    def of_jobs_beside(self) -> frozenset[str]:
        """The names of the sources that jobs beside it wrote."""
        return frozenset(name for job in self.beside for run in (job, *job.earlier) for name in run.own)

    @property
    def has_host_log(self) -> bool:
        """Was a log of a host given in addition to its own?"""
        return len(self.lanes) > len(self.own) + len(self.other_runs)

    @cached_property
    def own_lanes(self) -> OwnLanes:
        """The lanes that the subject wrote: those of jobs and notebooks in its own sources. For a machine the kernel's lanes, or
        the largest lane.

        A host has a hundred services, and one of them always ends with an error.
        """
        every = OwnLanes(self.lanes.get(name, ()) for name in sorted(self.own))
        of_kinds = OwnLanes(every.groups, ("kernel",) if self.machine else OWN_KINDS)
        if of_kinds or not self.machine:
            return of_kinds or every
        return OwnLanes.of([every.largest] if every.largest else [])

    def last_attempt_lines(self) -> dict[str, int]:
        """Of each of its own sources, the first line of the last attempt; if several programs write it, the smallest one."""
        return dict.fromkeys(self.own, 1) | self.own_lanes.last_begun

    @cached_property
    def end(self) -> datetime | None:
        """The latest known time of its own logs."""
        return max((t for t in self.ends.values() if t), default=None)

    @cached_property
    def start(self) -> datetime | None:
        """When its captured commands started, else the earliest known time of its own logs; None if one of them has no time."""
        if self.captured:
            moments = [run.started for run in self.captured if run.started]
            return min(moments) if len(moments) == len(self.captured) else None
        return None if not self.starts or None in self.starts.values() else min(t for t in self.starts.values() if t)

    @cached_property
    def entity(self) -> Entity:
        """Its kind and its name for the reader."""
        if self.machine:
            return Entity("machine", "")
        lane = self.own_lanes.largest
        jobs = sorted(self.jobs)
        if jobs:
            return Entity("job", " and ".join(jobs[:3]))
        if lane and lane.kind == "notebook":
            return Entity("notebook", lane.source)
        return Entity("job", lane.source if lane else "")


MAX_KNOWN_RUNS = 100  # chosen by hand: the last ones; each of thousands would hold the names of all others


def find_subject(
    summaries: Iterable[SourceSummary],
    lanes: Mapping[str, Sequence[Lane]],
    pids: Mapping[str, Iterable[int]],
    head: Callable[[str], Sequence[str]] = lambda _name: (),
    captured: Mapping[str, CapturedRun] = MappingProxyType({}),
    accounts: Container[str] = (),
    joined: Joined = (),
) -> Subject:
    """The subject of these sources. `lanes`, `pids`, `head` (the first lines), `captured`: by source. `accounts`: the names of
    tables with rows of several jobs. `joined`: pairs of sources that name one process or job."""
    every = list(summaries)
    own = [s for s in every if not s.format.startswith(HOST_FORMATS) and not _is_of_scheduler(s.name, lanes.get(s.name, ()))]
    if not own:
        return _subject(every, frozenset(s.name for s in every), lanes, pids, machine=True)
    own = [s for s in own if s.name not in accounts] or own
    jobs = [
        [_subject(own, names, lanes, pids, captured=captured) for names in attempts]
        for attempts in attempts_by_job(own, head, MAX_KNOWN_RUNS, joined)
    ]
    found = [replace(last, earlier=tuple(before)) for *before, last in jobs]
    return replace(found[-1], beside=tuple(found[:-1]))


def among_incidents(
    subject: Subject,
    incidents: Iterable[Incident],
    database: Database,
    written: Mapping[str, datetime | None] = MappingProxyType({}),
) -> Subject:
    """`subject` with what the incidents of hosts around it mean for its evidence. `written`: the times of files, by source."""
    if subject.machine or subject.end is not None:
        return subject
    deaths = ([e for e in i.events if e.source not in subject.own and is_of_one(e, database)] for i in incidents)
    deadly = [of_incident for of_incident in deaths if of_incident]
    moments = (moment for name in subject.own if (moment := written.get(name)))
    return replace(subject, crowded=len(deadly) > 1 or any(map(are_apart, deadly)), written=max(moments, default=None))


def are_apart(deaths: Iterable[Observation]) -> bool:
    """Do those of one log lie further apart than the deaths of one program do?"""
    of_source: dict[str, list[float]] = defaultdict(list)
    for death in deaths:
        if death.moment is not None:
            of_source[death.source].append(death.moment)
    return any(max(moments) - min(moments) > MAX_SAME_DEATH_GAP_S for moments in of_source.values())


def is_of_one(event: Observation, database: Database) -> bool:
    """Does it concern one process or one group of those of a host, and nobody else?"""
    return "cgroup" in event.fields or database.has_trait(event.cause, "process_death")


def _is_of_scheduler(name: str, lanes: Sequence[Lane]) -> bool:
    """Is it the log of a scheduler's daemon? Its own program has the kind of lane then."""
    if is_scheduler_log_name(name):
        return True
    return "scheduler" in kinds_of(lanes) and any(x.kind == "scheduler" and x.entity == Entity("job", name) for x in lanes)


def _subject(
    summaries: Sequence[SourceSummary],
    names: frozenset[str],
    lanes: Mapping[str, Sequence[Lane]],
    pids: Mapping[str, Iterable[int]],
    machine: bool = False,
    captured: Mapping[str, CapturedRun] = MappingProxyType({}),
) -> Subject:
    """The subject that wrote the sources `names`; other runs wrote the others of `summaries`."""
    own = [s for s in summaries if s.name in names]
    return Subject(
        own=names,
        starts={s.name: s.first_time for s in own},
        ends={s.name: s.last_time for s in own},
        pids=frozenset(p for name in names for p in pids.get(name, ())),
        machine=machine,
        lanes=lanes,
        other_runs=frozenset(s.name for s in summaries) - names,
        captured=tuple(captured[name] for name in sorted(names) if name in captured),
    )


def subject_of(incident: Incident, asked: Subject) -> Subject:
    """`asked`, or, if none of its own logs has a line of `incident`, the latest earlier run or job beside it that has one."""
    if asked.row:
        return replace(asked, row=next(_jobs_of(incident), asked.row))
    sources = {o.source for o in incident.events}
    runs = (run for job in (asked, *reversed(asked.beside)) for run in (job, *reversed(job.earlier)))
    return next((run for run in runs if run.own & sources), asked)


def job_of(incident: Incident, asked: Subject) -> str:
    """The name of the job that the incident is about, if jobs stand beside the one that is asked about; else empty."""
    subject = subject_of(incident, asked)
    name = subject.entity.name
    return (f"job {name}" if name in subject.jobs else name.rpartition("/")[2]) if asked.beside or asked.row else ""


def last_that(asked: Subject, failed: Callable[[Subject], bool]) -> Subject:
    """The last in time of the jobs that `failed`, the others beside it; `asked`, which is the last of all, if none did."""
    jobs = (*asked.beside, replace(asked, beside=()))
    told = next((job for job in reversed(jobs) if failed(job)), jobs[-1])
    return replace(told, beside=tuple(job for job in jobs if job is not told))


def rows_of_jobs(every: Incident, asked: Subject, failed: Callable[[Subject], bool]) -> Subject:
    """`asked` as the last job that `failed`, where nothing but the rows of an accounting tells of several jobs."""
    named = [] if asked.machine or asked.beside or asked.jobs else list(dict.fromkeys(_jobs_of(every, "")))
    if len(named) < 2 or "" in named:
        return asked
    jobs = [replace(asked, row=job) for job in named[-MAX_KNOWN_RUNS:]]
    return next((job for job in reversed(jobs) if failed(job)), jobs[-1])


def _jobs_of(incident: Incident, *unnamed: str) -> Iterator[str]:
    """The job that each event of a cause names; `unnamed` for one that names none."""
    for event in incident.events:
        if event.cause:
            job = entity_ids(event).job
            yield from (job,) if job else unnamed


def part_by_row(found: Iterable[Incident], asked: Subject) -> list[Incident]:
    """`found`, each in parts by the job that its rows name: that of `asked` first, then the latest."""
    parted = [(i, job) for i in found for job in dict.fromkeys(_jobs_of(i))]
    own = [(i, job) for i, job in parted if job == asked.row]
    others = [(i, job) for i, job in reversed(parted) if job != asked.row]
    return [_part(i, [e for e in i.events if entity_ids(e).job == job]) for i, job in (*own, *others)]


def part_by_job(found: Iterable[Incident], asked: Subject) -> list[Incident]:
    """`found`, each in parts if several jobs ran at its time: that of the job that is asked about first, then the latest.

    What no log of a job tells is in the part of the job whose lines a number or a name links it to, else in that of `asked`.
    """
    jobs = (asked, *reversed(asked.beside))
    place = {name: i for i, job in enumerate(jobs) for run in (job, *job.earlier) for name in run.own}
    parted: list[tuple[int, Incident]] = []
    for incident in found:
        parts: dict[int, list[Observation]] = defaultdict(list)
        pairs = [(a, b) for k in incident.links if k.kind != "time" for a, b in ((k.first, k.second), (k.second, k.first))]
        linked = {other: place[own[0]] for own, other in pairs if own[0] in place}
        for event in incident.events:
            parts[place.get(event.source, linked.get(event.place, 0))].append(event)
        parted += [(i, _part(incident, parts[i])) for i in parts]
    return [part for _, part in sorted(parted, key=lambda found: found[0])] if asked.beside else [*found]


def _part(incident: Incident, events: Sequence[Observation]) -> Incident:
    """The `events` of an incident, with their links and times."""
    places, times = {e.place for e in events}, [e.time for e in events if e.time]
    links = tuple(k for k in incident.links if {k.first, k.second} <= places)
    return Incident(tuple(events), links, min(times, default=None), max(times, default=None))
