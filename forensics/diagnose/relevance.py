"""Does what the host's log tells concern the job whose log lies beside it?

A kernel log tells of every process of the host: a browser that was killed an hour before a training died of its own error is
no cause of it. An event of the host's log counts less when the job's log says otherwise: no pid and no moment links the two,
and the job died of something it names itself, ended well, or simply went on. So it does when the job that failed had not begun
yet, when the process that was killed was an earlier attempt (the job's log goes on for more than NEAR_S and names another end),
when it ran under another job's number or limit, or when both logs agree on another cause.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property

from msgspec import Struct, field
from msgspec.structs import replace

from forensics import lazy
from forensics.database import HEALTHY, Database
from forensics.diagnose.pids import of_another_process
from forensics.diagnose.same import things
from forensics.correlation import Group, Named, group, of_file
from forensics.model import Observation, Incident, Link

UNRELATED = 0.2
DAY = timedelta(days=1)
SLACK_S = 2.0  # the kernel stamps a kill, the job its first line, by clocks that are read at different moments
SOON_S = 10.0  # the moment of a death and the moment it is noticed, by clocks that may be off by seconds
NEAR_S = 60.0  # a killed process is missed by its parent within seconds; a log's last line may be older
SLOW_S = 3600.0  # hardware and the kernel may ail for a while before the job feels it
EXCEPTION = "code.exception"
IGNORED = "traceback/ignored"
MISSES = ("BrokenPipeError", "ConnectionError", "ConnectionRefusedError", "ConnectionResetError", "EOFError", "TimeoutError")
RAISED = lazy.regex(r"\b[A-Z]\w*(?:Error|Exception)\b")
PATHS = ("limit_path", "cgroup")
WHOSE = ("pid", "limit_path", "job")
ENDINGS = ("host_memory.", "process.")  # what ends one process, at once


class Jobs(Struct, frozen=True, dict=True):
    """What is known of the job's own logs: `ends` maps each such source to the time of its last line, `starts` to that of its
    first, None where unknown.

    Empty when only logs of hosts were given: then everything concerns us. `things`: see `same`. `pids`: those by which these
    logs call their programs.
    """

    ends: Mapping[str, datetime | None]
    starts: Mapping[str, datetime | None] = field(default_factory=dict)
    things: Mapping[tuple[str, int], tuple[str, int]] = field(default_factory=dict)
    pids: frozenset[int] = frozenset()

    @cached_property
    def named(self) -> frozenset[Named]:
        """What the names of these logs tell, once for all events that are asked about."""
        return frozenset(map(of_file, self.ends))

    def is_job(self, event: Observation) -> bool:
        """Does the event stand in a log of the job?"""
        return event.source in self.ends

    def knowing(self, links: Iterable[Link]) -> "Jobs":
        """The same with what the links of an incident tell."""
        return replace(self, things=things(links)) if self.ends else self


def relevance(event: Observation, events: Sequence[Observation], jobs: Jobs, database: Database) -> float:
    """1, or UNRELATED for an event of the host's log that does not concern the job. `events`: of the whole incident."""
    if not jobs.ends or event.cause in (None, HEALTHY):
        return 1.0
    if _of_another_job(event, jobs):
        return UNRELATED
    if jobs.is_job(event):
        return 1.0
    own = [e for e in events if jobs.is_job(e)]
    pid = event.fields.get("pid")
    ending = str(event.cause).startswith(ENDINGS)
    if ending and _outlived(event, own, jobs, database):
        return UNRELATED
    if missed(event, own, jobs):
        return 1.0
    hosts = [e for e in events if not jobs.is_job(e) and (pid is None or e.fields.get("pid") != pid)]
    if ending and (_superseded(event, hosts, jobs, database) or of_another_process(event, own)):
        return UNRELATED
    if event.time is None:
        return 1.0
    if _of_another_group(event, own, hosts, jobs) or _told_otherwise(event, own, hosts, database):
        return UNRELATED
    if ending and _before_the_job(event, own, hosts, jobs, database):
        return UNRELATED
    window = NEAR_S if ending else SLOW_S
    moments = [e.time for e in own if e.time and e.cause != HEALTHY] or _ends(event, own, jobs)
    if not moments or any(abs((m - event.time).total_seconds()) <= window for m in moments):
        return 1.0
    return UNRELATED if not own or any(_says_otherwise(e, database) for e in own) else 1.0


def _ends(event: Observation, own: Sequence[Observation], jobs: Jobs) -> list[datetime]:
    """When the job's logs ended: those that tell something, else those of the day of `event`; others are of other runs."""
    speaking = {e.source for e in own}
    ends = [t for s, t in jobs.ends.items() if t and (s in speaking or not own)]
    return [t for t in ends if event.time and (own or abs(t - event.time) <= DAY)]


def concerning(
    found: Sequence[Observation], events: Sequence[Observation], jobs: Jobs, database: Database
) -> tuple[tuple[Observation, ...], float]:
    """Those of `found`, events of one cause, that concern the job, and how much they do: of deaths only those that do most.

    Where the job's log misses a process by its pid, the ends of other processes are left out.
    """
    told = [relevance(e, events, jobs, database) for e in found]
    if not str(found[0].cause).startswith(ENDINGS):
        return tuple(found), max(told)
    told = [min(r, _with_its_report(e, events, jobs, database)) for e, r in zip(found, told, strict=True)]
    kept = [e for e, r in zip(found, told, strict=True) if r == max(told)]
    own = [e for e in events if jobs.is_job(e)]
    if any(not jobs.is_job(e) and missed(e, own, jobs) for e in kept):
        kept = [e for e in kept if jobs.is_job(e) or "pid" not in e.fields or missed(e, own, jobs)]
    return tuple(kept), max(told)


def _with_its_report(event: Observation, events: Sequence[Observation], jobs: Jobs, database: Database) -> float:
    """The least relevance among the pieces of the report that `event` is a piece of; 1 for one of the job's log.

    The kernel tells one death in many lines at one moment, and few of them say whose it is.
    """
    if jobs.is_job(event):
        return 1.0
    pieces = [e for e in events if e.source == event.source and str(e.cause).startswith(ENDINGS) and not _differ(e, event)]
    at_once = [e for e in pieces if e.time and event.time and abs((e.time - event.time).total_seconds()) <= SLACK_S]
    near = at_once or ([] if event.time else sorted(pieces, key=lambda e: abs(e.line - event.line))[:2])
    return min((relevance(e, events, jobs, database) for e in near), default=1.0)


def _differ(a: Observation, b: Observation) -> bool:
    """Do the two name different processes, groups or jobs?"""
    return any(name in a.fields and name in b.fields and a.fields[name] != b.fields[name] for name in WHOSE)


def foreign(incidents: Sequence[Incident], jobs: Jobs, database: Database) -> tuple[Observation, ...]:
    """The deaths in `incidents` that are those of other jobs."""
    found: list[Observation] = []
    for incident in incidents:
        knowing = jobs.knowing(incident.links)
        deaths = (e for e in incident.events if str(e.cause).startswith(ENDINGS))
        found += (e for e in deaths if relevance(e, incident.events, knowing, database) < 1)
    return tuple(found)


def silent(incidents: Sequence[Incident], jobs: Jobs, database: Database) -> tuple[Observation, ...]:
    """The events whose lines alarm nobody: deaths of other jobs in the first of `incidents`, and what is noise in any of them, or
    was told and ignored."""
    return *foreign(incidents[:1], jobs, database), *(
        e for i in incidents for e in i.events if e.cause == HEALTHY or e.kind == IGNORED
    )


def missed(event: Observation, own: Iterable[Observation], jobs: Jobs) -> bool:
    """Does the job's log speak of the process of `event`, by its pid, its container or its job's step?"""
    thing = jobs.things.get(event.place)
    return thing is not None and any(thing == jobs.things.get(e.place) for e in own)


def _of_another_job(event: Observation, jobs: Jobs) -> bool:
    """Is `event` about a Slurm job or a container whose output is not what was given, while that of others was?"""
    told = _group_of(event)
    if told.job and told.job not in _given_jobs(jobs):
        return any(f.job for f in jobs.named) and not any(f.array for f in jobs.named)
    containers = {f.container for f in jobs.named}
    return bool(told.container) and "" not in containers and told.container not in containers


def of_given_job(event: Observation, jobs: Jobs) -> bool:
    """Is `event` about a Slurm job whose output was given?"""
    return _group_of(event).job in _given_jobs(jobs)


def _given_jobs(jobs: Jobs) -> set[str]:
    """The numbers of the Slurm jobs whose output was given."""
    return {f.job for f in jobs.named} - {""}


def _group_of(event: Observation) -> Group:
    """The Slurm job and the container that `event` is about."""
    found = group(" ".join(str(event.fields[name]) for name in PATHS if name in event.fields))
    return replace(found, job=str(event.fields["job"])) if "job" in event.fields else found


def _of_another_group(event: Observation, own: Sequence[Observation], hosts: Sequence[Observation], jobs: Jobs) -> bool:
    """Did the limit of another group end the process, while the job's log misses one of a group that is known?"""
    limit = event.fields.get("limit_path")
    ours = {e.fields["limit_path"] for e in hosts if "limit_path" in e.fields and missed(e, own, jobs)}
    return limit is not None and bool(ours) and limit not in ours


def _told_otherwise(event: Observation, own: Sequence[Observation], hosts: Sequence[Observation], database: Database) -> bool:
    """Do the job's log and the host's agree on a cause that does not follow from `event`, or was it stopped by its scheduler?"""
    if not str(event.cause).startswith((*ENDINGS, "storage.")):
        return False
    named = {str(e.cause) for e in own if _says_otherwise(e, database) and e.cause not in (event.cause, HEALTHY)}
    stopped = {str(e.cause) for e in own if e.weight == "proof" and str(e.cause).startswith("stopped.")}
    agreed = (named & {str(e.cause) for e in hosts}) | stopped
    return any(not database.explains(str(event.cause), cause) for cause in agreed)


def _before_the_job(event: Observation, own: Sequence[Observation], hosts: Sequence[Observation], jobs: Jobs, database: Database) -> bool:
    """Did every log of the job that speaks of trouble, or all that have a clock where those have none, begin after `event`, and
    does that trouble have another reason?

    Another reason: what the job's log tells does not follow from `event`, or comes after a while of work; or the host's log
    tells of another end at that moment.
    """
    loud = [e for e in own if e.weight != "hint" and e.cause is not None]
    starts, ends = [jobs.starts.get(e.source) for e in loud], [e.time for e in loud if e.time]
    if loud and not any(starts):  # what lies beside it, as the notebook beside its runner's log, may tell the time
        starts, ends = [s for s in jobs.starts.values() if s], [t for t in jobs.ends.values() if t]
    over = (event.time or datetime.min) + timedelta(seconds=(event.uncertainty_s or 0.0) + SLACK_S)
    begun = bool(starts) and all(s is not None and s > over for s in starts)
    others = [h.time for h in hosts if h.time and h.time > over and str(h.cause).startswith(ENDINGS)]
    at_once = any(abs((m - t).total_seconds()) <= SOON_S for m in ends for t in others)
    return begun and (at_once or any(is_own(e, event, database) or _worked(e, jobs) for e in loud))


def _superseded(event: Observation, hosts: Sequence[Observation], jobs: Jobs, database: Database) -> bool:
    """Did another process die after that of `event`, where no time in the job's logs tells which of them was missed?

    Who collects logs does so soon after the death that made him: the last one is the likeliest.
    """
    if any(jobs.ends.values()):
        return False
    deaths = [h for h in hosts if h.weight == "proof" and str(h.cause).startswith(ENDINGS) and "pid" in h.fields]
    return any(_after(h, event) > SOON_S and not database.explains(str(event.cause), str(h.cause)) for h in deaths)


def _after(later: Observation, event: Observation) -> float:
    """Seconds from `event` to `later`, by their times or by one kernel's uptime; 0 where neither tells."""
    if later.time and event.time:
        return (later.time - event.time).total_seconds()
    if later.source != event.source or later.moment is None or event.moment is None:
        return 0.0
    return later.moment - event.moment


def _worked(end: Observation, jobs: Jobs) -> bool:
    """Had the job's log gone on for a while before it told `end`?"""
    start, until = jobs.starts.get(end.source), end.time or jobs.ends.get(end.source)
    return start is not None and until is not None and (until - start).total_seconds() > SLACK_S


def is_own(end: Observation, event: Observation, database: Database) -> bool:
    """Is `end` no consequence of the death that `event` tells? An exception is one only where it misses somebody."""
    if end.cause == EXCEPTION:
        name = raised(end)
        return bool(name) and not name.endswith(MISSES)
    return not database.explains(str(event.cause), str(end.cause))


def raised(event: Observation) -> str:
    """The exception that `event` tells, by its record or its lines; empty for none."""
    told = (found[0] for proof in event.proofs for found in RAISED.finditer(proof.text))
    return str(event.fields.get("exc_type") or next(told, ""))


def _outlived(event: Observation, own: Sequence[Observation], jobs: Jobs, database: Database) -> bool:
    """Does a log that misses the process of `event` go on for long and end by something that does not follow from it?

    Where it tells no pid, it misses one that died at the moment at which it tells a consequence; an exception is no end then.
    """
    return any(
        later.source == e.source
        and later.line > e.line
        and later.time is not None
        and event.time is not None
        and (later.time - event.time).total_seconds() > NEAR_S
        and later.cause != event.cause
        and later.weight != "hint"
        and is_own(later, event, database)
        and (missed(event, [e], jobs) or not database.causes[str(later.cause)].fallback)
        for e in own
        if missed(event, [e], jobs) or _felt(event, e, database)
        for later in own
    )


def _felt(event: Observation, e: Observation, database: Database) -> bool:
    """Does `e`, of the job's log, tell at the moment of the death `event` what follows from it?"""
    at_once = event.time and e.time and abs((e.time - event.time).total_seconds()) <= SOON_S
    return bool(at_once) and database.explains(str(event.cause), str(e.cause))


def _says_otherwise(event: Observation, database: Database) -> bool:
    """Does an event of the job's log name a cause of its own, or tell that it ended well?"""
    if event.weight == "hint" or event.cause is None:
        return False
    return event.cause == HEALTHY or not database.causes[event.cause].fallback
