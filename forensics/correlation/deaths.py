"""A kernel log that tells of one death after another to an incident each: they are those of different jobs of one host.

10:00 Killed process 11 ... 10:40 Killed process 22 ... 10:41 python[33]: segfault  ->  [10:00], [10:40, 10:41]

Only where nothing but one log speaks, and that of nothing but deaths until a cut: what a death has for a consequence in the job's
own log may come an hour later, and a disk or a GPU that ails is one story.
"""

from itertools import pairwise

from forensics.model import Observation

ENDINGS = ("host_memory.oom_", "process.")
REPORT = "kernel_oom"
QUIET_S = 600.0


def parted_deaths(group: list[Observation]) -> list[list[Observation]]:
    """`group`, in order, cut where QUIET_S lie between the deaths of a kernel's log; itself where there is more to it."""
    if len({e.source for e in group}) > 1 or any(e.moment is None for e in group):
        return [group]
    parts: list[list[Observation]] = [group[:1]]
    for before, event in pairwise(group):
        if (event.moment or 0.0) - (before.moment or 0.0) > QUIET_S and _only_deaths(parts[-1]):
            parts.append([])
        parts[-1].append(event)
    return parts


def _only_deaths(events: list[Observation]) -> bool:
    loud = [e for e in events if e.cause and e.weight != "hint"]
    return any(e.kind == REPORT for e in loud) and all(str(e.cause).startswith(ENDINGS) for e in loud)
