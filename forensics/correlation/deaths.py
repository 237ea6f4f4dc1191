"""Split a kernel log with several kills into incidents: one for each job, container, limit or process.

    10:00 oom_memcg=/slurm/job_11 ... Killed process 91    10:07 oom_memcg=/slurm/job_12 ... Killed process 95   -> two incidents
    10:00 limit /job_11: Killed process 91                 10:00 limit /job_11: Killed process 92                -> one

This is done only if one log has all events: in a job's own log, the consequence of a death may follow an hour later. Events
between two kills belong to the first of the two. A single kill among the events of many hours becomes an incident together with
the events close to it; the report would hide it among the others.
"""

from forensics.line_formats.cgroup_paths import cgroup_owner
from forensics.model import Observation
from forensics.readers.kernel.process_table import OOM_REPORT_KIND

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
