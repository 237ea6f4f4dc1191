"""What tables of df tell about a write that found no room: the inodes were used up, or df shows room where it wrote.

path /data/c/9.npy, df -i: 100 % of /data         -> inode_mount /data, inodes_total 61054976, inode_place df.txt:2
path /data/c/9.npy, df -h: 41 % of /data          -> roomy_mount /data, roomy_percent 41, roomy_place df.txt:5
no path, df -h: 100 % of /data alone              -> full_mount /data, full_place df.txt:5
"""

from collections.abc import Collection, Sequence
from pathlib import PurePath

from forensics.model import DiskUse, Fields, Value

DISK_FACTS = INODE_MOUNT, INODES_TOTAL, INODE_PLACE, ROOMY_MOUNT, ROOMY_PERCENT, ROOMY_PLACE, FULL_MOUNT, FULL_PLACE = (
    "inode_mount",
    "inodes_total",
    "inode_place",
    "roomy_mount",
    "roomy_percent",
    "roomy_place",
    "full_mount",
    "full_place",
)
FULL_PERCENT = 100  # df rounds up: 100 is shown where less than one per cent is left
MAX_ROOMY_PERCENT = 90  # above it, one file may well have been too large for the rest; 5 per cent are often kept for root


def disk_facts(traits: Collection[str], facts: Fields, disks: Sequence[DiskUse]) -> dict[str, Value]:
    """The facts of the file system that a cause with the trait `disk_space` wrote to; of any, if its path is unknown."""
    if "disk_space" not in traits or not disks:
        return {}
    path = str(facts.get("path", ""))
    rows = _of_path(path, disks) if path.startswith("/") else disks
    used_up = [d for d in rows if d.inodes and d.percent >= FULL_PERCENT]
    if used_up:
        row = used_up[-1]
        return {INODE_MOUNT: row.mount, INODES_TOTAL: row.total, INODE_PLACE: _place(row)}
    space = [d for d in rows if not d.inodes]
    full = {d.total: d for d in sorted(space, key=lambda d: -len(d.mount)) if d.percent >= FULL_PERCENT and d.mount != "/dev/shm"}
    if len(full) == 1:  # folders of one file system have one size; the shortest name is told
        row = full.popitem()[1]
        return {FULL_MOUNT: row.mount, FULL_PLACE: _place(row)}
    if not path.startswith("/") or not space or space[-1].percent > MAX_ROOMY_PERCENT:
        return {}
    return {ROOMY_MOUNT: space[-1].mount, ROOMY_PERCENT: space[-1].percent, ROOMY_PLACE: _place(space[-1])}


def _of_path(path: str, disks: Sequence[DiskUse]) -> list[DiskUse]:
    """The rows of the file system that `path` lies on: that with the longest mount point above it."""
    above = [d for d in disks if f"{path}/".startswith(f"{d.mount.rstrip('/')}/")]
    longest = max((len(d.mount) for d in above), default=0)
    return [d for d in above if len(d.mount) == longest]


def _place(row: DiskUse) -> str:
    return f"{PurePath(row.source).name}:{row.line}"
