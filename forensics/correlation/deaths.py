"""A kernel log that tells of one kill after another to an incident each: one for each job, container, limit or process.

    10:00 oom_memcg=/slurm/job_11 ... Killed process 91    10:07 oom_memcg=/slurm/job_12 ... Killed process 95   -> two incidents
    10:00 limit /job_11: Killed process 91                 10:00 limit /job_11: Killed process 92                -> one

Only where nothing but one log speaks: what a death has for a consequence in the job's own log may come an hour later. What stands
between two kills goes with the one in front of it. A single kill among the events of many hours is an incident with what stands
near it: it would be lost among them.
"""

from forensics.line_formats.cgroup_paths import group as cgroup_of
from forensics.model import Observation

OOM_REPORT_KIND = "kernel_oom"
TOGETHER_S = 10.0  # processes of one program die within seconds of each other
LONG_S = 7200.0  # a burst of events is over by then; what goes on for longer is the state of a machine
GROUPS = ("job", "container_id", "pod_uid", "limit_path")


def parted_deaths(group: list[Observation]) -> list[list[Observation]]:
    """`group`, in order, cut in front of each kill that is another job's, limit's or process's than the kill before it."""
    kills = [e for e in group if e.kind == OOM_REPORT_KIND and e.cause]
    if len({e.source for e in group}) > 1 or not kills:
        return [group]
    if len(kills) == 1:
        return _apart(group, kills[0])
    parts: list[list[Observation]] = [[]]
    last: Observation | None = None
    for event in group:
        if event.kind == OOM_REPORT_KIND and event.cause:
            if last is not None and not _together(last, event):
                parts.append([])
            last = event
        parts[-1].append(event)
    return parts


def _apart(group: list[Observation], kill: Observation) -> list[list[Observation]]:
    """`group`, where it lasts long, without its only kill, and that with what stands near it."""
    moments = [e.moment for e in group if e.moment is not None]
    if kill.moment is None or max(moments) - min(moments) <= LONG_S:
        return [group]
    near = [e for e in group if e.moment is not None and abs(e.moment - kill.moment) <= TOGETHER_S]
    rest = [e for e in group if e not in near]
    return [rest, near] if rest else [group]


def _together(before: Observation, event: Observation) -> bool:
    """Are two kills of one job or limit, or of processes that die at one moment?"""
    a, b = _owner(before), _owner(event)
    if a and b:
        return a == b
    gap = abs((event.moment or 0.0) - (before.moment or 0.0))
    return before.fields.get("pid") == event.fields.get("pid") or gap <= TOGETHER_S


def _owner(kill: Observation) -> str:
    """Whose limit or job it was; empty where the whole host ran out."""
    cgroup = cgroup_of(" ".join(str(kill.fields[n]) for n in ("limit_path", "cgroup") if n in kill.fields))
    if cgroup.job or cgroup.container:
        return cgroup.job or cgroup.container
    return next((str(kill.fields[n]) for n in GROUPS if n in kill.fields), "")
