"""The memory groups of a process, from its own up to the root, with their limits and what they counted.

    /proc/4711/cgroup   4:memory:/slurm/job_88/step_0      -> [Group(/slurm/job_88/step_0), Group(/slurm/job_88), Group(/slurm)]
    memory.oom_control  oom_kill 1                          -> kills 1          (version 1, world-readable)
    memory.events       max 12 / oom 1 / oom_kill 1         -> refused 12, kills 1   (version 2)

In a container the path reads `/` and the files lie directly below the mount. Version 1 counts a kill in the victim's own group
alone, version 2 in every group above it as well (kernel: Documentation/admin-guide/cgroup-v1/memory.rst, cgroup-v2.rst).
"""

from __future__ import annotations

import os

from forensics.capture import proc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

UNLIMITED_BYTES = 1 << 60  # cgroup v1 writes 2**63 less a page for "no limit"; no machine has as much memory as this
OOMD_ATTRIBUTES = ("user.oomd_kill", "trusted.oomd_kill")  # systemd-oomd sets one on a group that it killed (oomd-util.c)
PIDS_REFUSAL = "cgroup: fork rejected by pids controller in "  # kernel/cgroup/pids.c
OOM_HEAD, OOM_GROUP, OOM_KILL = " invoked oom-killer: ", ",oom_memcg=", "illed process "  # the same: mm/oom_kill.c
MAX_OOM_REPORT_LINES = 3000  # with a table of 2,000 processes
HOST_NAMESPACE = "cgroup:[4026531835]"  # include/linux/proc_ns.h: PROC_CGROUP_INIT_INO


class Mount:
    """Where groups of one version are mounted: files below `point` are about groups below `root`."""

    def __init__(self, version: int, point: str, root: str) -> None:
        self.version, self.point, self.root = version, point, root

    def folder(self, path: str) -> str:
        """The folder of group `path`; the mount itself if the folder is not visible, as in a container."""
        inside = path[len(self.root) :] if self.root != "/" and path.startswith(self.root) else path
        found = os.path.normpath(self.point + "/" + inside)
        return found if found.startswith(self.point) and os.path.isdir(found) else self.point


def mounts(controller: str = "memory") -> list[Mount]:
    """Where groups with a controller are mounted: version 1, version 2 or both."""
    found = []
    for line in proc.read("/proc/self/mountinfo", 1 << 20).splitlines():
        front, _, back = line.partition(" - ")
        fields, kind = front.split(), back.split()
        if len(fields) < 5 or len(kind) < 3:
            continue
        if kind[0] == "cgroup2":
            found.append(Mount(2, fields[4], fields[3]))
        elif kind[0] == "cgroup" and controller in kind[2].split(","):
            found.append(Mount(1, fields[4], fields[3]))
    return found


def frozen(pids: Iterable[int]) -> set[int]:
    """Those of the processes that are in a group that is frozen, as by `docker pause`."""
    found, points = set(), mounts("freezer")
    for pid in pids:
        text = proc.read(f"/proc/{pid}/cgroup")
        for mount in points:
            if (path := _path(text, mount.version, "freezer")) is not None:
                state = proc.read(f"{mount.folder(path)}/{'cgroup.events' if mount.version == 2 else 'freezer.state'}")
                found |= {pid} if "frozen 1" in state or state.startswith("FR") else set()  # FROZEN, FREEZING
    return found


class Group:
    """One group: its counters when it was first seen (`before`) and now (`after`)."""

    def __init__(self, version: int, folder: str, path: str, own: bool, fresh: bool) -> None:
        self.version, self.folder, self.path, self.own = version, folder, path, own
        self.after: dict[str, Any] = read_counters(version, folder)
        self.before = {name: 0 if fresh and name in COUNTS else value for name, value in self.after.items()}
        self.most_bytes = int(self.after.get("usage_bytes", 0))

    def update(self) -> None:
        """Read the counters again; if the group is gone, the last values are kept."""
        now = read_counters(self.version, self.folder)
        if now:
            self.after = now
            self.most_bytes = max(self.most_bytes, int(now.get("usage_bytes", 0)))

    @property
    def limit_bytes(self) -> int | None:
        """Its limit; None if it has none."""
        limit = self.after.get("limit_bytes")
        return int(limit) if limit is not None and limit < UNLIMITED_BYTES else None

    def rise(self, name: str) -> int:
        """By how much a counter rose since the group was first seen."""
        return max(0, int(self.after.get(name, 0)) - int(self.before.get(name, 0)))

    def as_record(self) -> dict[str, Any]:
        """The group as in run.json."""
        return {
            "version": self.version,
            "path": self.path,
            "own": self.own,
            "limit_bytes": self.limit_bytes,
            "peak_bytes": max(self.most_bytes, int(self.after.get("peak_bytes", 0))) or None,
            "kills": self.rise("kills"),
            "refused": self.rise("refused"),
            "before": self.before,
            "after": self.after,
        }


MAX_STAT_BYTES = 16 << 10  # memory.stat has some 60 lines
COUNTS = ("kills", "refused", "ooms")
FILES_V1 = {"usage_bytes": "memory.usage_in_bytes", "limit_bytes": "memory.limit_in_bytes", "refused": "memory.failcnt"}
FILES_V1 |= {"peak_bytes": "memory.max_usage_in_bytes"}
FILES_V2 = {"usage_bytes": "memory.current", "limit_bytes": "memory.max", "peak_bytes": "memory.peak"}
FILES_V2 |= {"high_bytes": "memory.high", "swap_limit_bytes": "memory.swap.max", "swap_bytes": "memory.swap.current"}


def read_counters(version: int, folder: str) -> dict[str, Any]:
    """The counters of the group now; empty if it is gone or has no memory controller."""
    found: dict[str, Any] = {}
    for name, file in (FILES_V1 if version == 1 else FILES_V2).items():
        text = proc.read(f"{folder}/{file}", 100).strip()
        if text.isdigit():
            found[name] = int(text)
    if version == 1:
        counted = proc.parse_counters(proc.read(f"{folder}/memory.oom_control", 400))
        if "oom_kill" in counted:
            found["kills"] = counted["oom_kill"]
        return found | _cache(folder, "total_inactive_file", "total_active_file")
    found |= _cache(folder, "inactive_file", "active_file")
    counted = proc.parse_counters(proc.read(f"{folder}/memory.events", 400))
    for name, label in (("kills", "oom_kill"), ("refused", "max"), ("ooms", "oom")):
        if label in counted:
            found[name] = counted[label]
    for mark in OOMD_ATTRIBUTES:
        try:
            found["oomd_kills"] = os.getxattr(folder, mark).decode("ascii", "replace")
        except OSError:
            continue
    return found


def _cache(folder: str, *names: str) -> dict[str, int]:
    """The pages of files in the group, which the kernel drops before it kills."""
    counted = proc.parse_counters(proc.read(f"{folder}/memory.stat", MAX_STAT_BYTES))
    return {"cache_bytes": sum(counted.get(name, 0) for name in names)} if counted else {}


class Groups:
    """The memory groups in which the job's processes are or were."""

    def __init__(self) -> None:
        self.mounts = mounts()
        self.seen: dict[str, Group] = {}
        self.of_process: dict[str, str] = {}  # the text of /proc/PID/cgroup -> path of its own group

    def follow(self, pid: int, started: float) -> str:
        """Follow the groups of `pid` from now on; the path of its own group, empty if unknown. `started`: when the job began."""
        text = proc.read(f"/proc/{pid}/cgroup")
        if text not in self.of_process:
            self.of_process[text] = self._add_groups(text, started)
        return self.of_process[text]

    def _add_groups(self, text: str, started: float) -> str:
        name, counts = "", set()  # type: str, set[tuple[int, str]]
        for mount in self.mounts:  # one hierarchy may be mounted at several places
            path = _path(text, mount.version)
            if path is None or (mount.version, mount.root) in counts:
                continue
            counts.add((mount.version, mount.root))
            folder, own = mount.folder(path), True
            while folder.startswith(mount.point):
                if folder not in self.seen and read_counters(mount.version, folder):
                    fresh = _made_after(folder, started)
                    self.seen[folder] = Group(
                        mount.version, folder, path if own else folder[len(mount.point) :] or "/", own, fresh
                    )
                elif folder in self.seen and own:
                    self.seen[folder].own = True
                if folder == mount.point:
                    break
                folder, own = os.path.dirname(folder), False
            name = path if read_counters(mount.version, mount.folder(path)) or not name else name
        return name

    def update(self) -> None:
        """Read all counters again."""
        for group in self.seen.values():
            group.update()

    def without_others(self, lines: Iterable[str]) -> list[str]:
        """`lines` of the kernel's log without what concerns groups in which no process of the job was: a limit of processes that
        one reached, a report of a kill for memory in one.

        All stay inside a container, whose paths are not those that the kernel names.
        """
        if _namespace() != HOST_NAMESPACE:
            return [*lines]
        kept: list[str] = []
        report: list[str] = []
        reaped = "nothing"
        for line in lines:
            if OOM_HEAD in line or len(report) == MAX_OOM_REPORT_LINES:
                kept, report = kept + report, []
            if report or OOM_HEAD in line:
                report.append(line)
            elif reaped not in line and not self._is_of_others(line.partition(PIDS_REFUSAL)[2].strip(), "pids"):
                kept.append(line)
            if report and OOM_KILL in line:
                group = next((x.partition(OOM_GROUP)[2].partition(",")[0] for x in report if OOM_GROUP in x), "")
                if self._is_of_others(group, "memory"):
                    reaped = f"oom_reaper: reaped process {line.partition(OOM_KILL)[2].partition(' ')[0]} "
                else:
                    kept, reaped = kept + report, "nothing"
                report = []
        return kept + report

    def _is_of_others(self, group: str, controller: str) -> bool:
        """Is it known that no process of the job was in `group`, above it or below it?"""
        own = {path for text in self.of_process if (path := _path(text, 1, controller) or _path(text, 2))}
        near = (_is_below(path, group) or (path != "/" and _is_below(group, path)) for path in own)
        return bool(group and own) and not any(near)

    def fullest(self) -> tuple[int, int, int] | None:
        """Usage, limit and pages of files, in bytes, of the group that is nearest to its limit; None if no group has a limit."""
        limited = [
            (int(g.after["usage_bytes"]), g.limit_bytes, int(g.after.get("cache_bytes", 0)))
            for g in self.seen.values()
            if g.limit_bytes and "usage_bytes" in g.after
        ]
        return max(limited, key=lambda x: x[0] / max(1, x[1] or 1), default=None)

    def as_record(self) -> list[dict[str, Any]]:
        """The groups as in run.json, the job's own first."""
        return [g.as_record() for g in sorted(self.seen.values(), key=lambda g: (not g.own, -len(g.path)))]


def _is_below(path: str, group: str) -> bool:
    """Is `path` that of `group` or of a group in it?"""
    return path == group or path.startswith(group.rstrip("/") + "/")


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/cgroup")
    except OSError:
        return ""


def _path(text: str, version: int, controller: str = "memory") -> str | None:
    for line in text.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if (version == 2 and number == "0" and not controllers) or (version == 1 and controller in controllers.split(",")):
            return path
    return None


def _made_after(folder: str, moment: float) -> bool:
    """Was the group made after the job had begun, so that its counters are the job's alone?"""
    try:
        return os.stat(folder).st_ctime > moment
    except OSError:
        return False
