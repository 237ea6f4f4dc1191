"""The memory counters of a cgroup: a count of kills shows that its memory limit was the reason.

    low 0                     oom_kill_disable 0
    high 0                    under_oom 0
    max 5127                  oom_kill 1          (memory.oom_control of a cgroup v1)
    oom 1
    oom_kill 1                (memory.events of a cgroup v2)

The counters are documented in the kernel's Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst. /proc/vmstat also
has a row `oom_kill`, between other rows. There it counts every kill since the host booted and says nothing about one cgroup.
"""

from forensics.data_files.named_parts import patterns_of
from forensics.model import Region, Trigger, Value
from forensics.readers.base import Record

TRIGGER = Trigger("cgroup_counts", ("oom_kill ",), before=6, after=0)
PATTERNS = patterns_of("cgroup counts")

MEMORY_LIMIT = "memory_limit"
OUTCOMES = (MEMORY_LIMIT,)


def read(region: Region) -> Record | None:
    """The count of kills of one cgroup; None if it is 0, or if it is not the count of a cgroup."""
    found = PATTERNS.oom_kill_count.search(region.text)
    if not found:
        return None
    before = region.lines_before()
    rows = (PATTERNS.kill_disable, PATTERNS.oom_count, PATTERNS.max_count)
    beside = [next((x for x in reversed(before) if row.search(x.text)), None) for row in rows]
    named = found["path"] or PATTERNS.cgroup_file_name.search(region.source)
    if not named and beside[0] is None and (beside[1] is None or beside[2] is None):
        return None
    limit = tuple(line for line in beside[2:] if line is not None)
    fields: dict[str, Value] = {"oom_kills": int(found["oom_kills"])}
    return Record("cgroup_counts", region.number, region.number, MEMORY_LIMIT, "strong", (region.line, *limit), fields)
