"""What tables, stacks and shells of the logs tell of the first cause, as facts for its texts and remedies.

FailedActivation("job.err", 1, ..., "line 15: venv/bin/activate: No such file or directory"), an error on job.err:7
    -> activation "line 15: venv/bin/activate: No such file or directory"
path /data/c/9.npy, df -i: 100 % of /data         -> inode_mount /data, inodes_total 61054976, inode_place df.txt:2
path /data/c/9.npy, df -h: 41 % of /data          -> roomy_mount /data, roomy_percent 41, roomy_place df.txt:5
no path, df -h: 100 % of /data alone              -> full_mount /data, full_place df.txt:5
MainThread in save_checkpoint (train.py:6), prefetch in prefetch (train.py:10)
    -> python_file train.py, python_line 6, standing_threads "save_checkpoint at train.py:6 and prefetch at train.py:10"
NET/IB : Got completion from peer 10.1.4.9<41522> with error 12
    -> status_text "12 (IBV_WC_RETRY_EXC_ERR)", status_meaning, status_kind "path"
"""

from collections.abc import Collection, Iterable, Sequence
from pathlib import PurePath

from forensics.database import read_table
from forensics.model import DiskUse, FailedActivation, Fields, PrintedStack, Proof, Value
from forensics.model.stacks import ThreadPlace
from forensics.model.verdicts import Candidate

ACTIVATION_FACTS = ("activation",)


def activation_facts(candidate: Candidate, proofs: Sequence[Proof], failed: Sequence[FailedActivation]) -> dict[str, Value]:
    """What the shell said of the last of `failed` before the first of `proofs`, in the same attempt; empty if it said nothing."""
    if not proofs or not failed:
        return {}
    first = proofs[0]
    lane = next((o.lane for o in candidate.owned if o.lane and o.observation.source == first.source), None)
    starts = [a.first_line for a in lane.attempts[1:]] if lane else []
    since = max((n for n in starts if n <= first.line), default=1)
    return next(
        ({"activation": f.said} for f in reversed(failed) if f.source == first.source and since <= f.line < first.line), {}
    )


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


STACK_FACTS = STACK_LIBRARY, STACK_FUNCTION, STACK_MODULE = "stack_library", "stack_function", "stack_module"
MAX_STACK_GAP_LINES = 80  # between a message and its stack: registers, a Python stack and the list of modules may stand between
NATIVE_FAMILIES = ("process.", "host_os.")


def stack_facts(cause: str, proofs: Sequence[Proof], stacks: Iterable[PrintedStack]) -> dict[str, Value]:
    """The facts of the stack nearest to the first line of evidence of a death in native code or in the kernel; else none."""
    if not proofs or not cause.startswith(NATIVE_FAMILIES):
        return {}
    first, kernel = proofs[0], cause.startswith("host_os.")
    near = [s for s in stacks if s.source == first.source and s.kernel is kernel and _belongs(s, first.line)]
    if not near:
        return {}
    stack = min(near, key=lambda s: abs(s.line - first.line))
    facts: dict[str, Value] = {STACK_MODULE if kernel else STACK_LIBRARY: stack.library}
    return facts | ({STACK_FUNCTION: stack.function} if stack.function else {})


def _belongs(stack: PrintedStack, line: int) -> bool:
    """Is the stack near the message? The kernel prints it below the message that it belongs to."""
    return (0 if stack.kernel else -MAX_STACK_GAP_LINES) <= stack.line - line <= MAX_STACK_GAP_LINES


STANDING_FACTS = (STANDING_THREADS,) = ("standing_threads",)
STALLS = "stalls"  # the trait of a cause that means no progress
MAX_TOLD_THREADS = 4  # chosen by hand: of one sentence


def standing_facts(facts: Fields, threads: Sequence[ThreadPlace]) -> dict[str, Value]:
    """The place of the first thread, which is the main one, of the process that `facts` name, or of the only one; and of several
    threads all their places, as one may wait for another."""
    own = [t for t in threads if t.pid == facts.get("pid")]
    if not own and "pid" not in facts and len({t.pid for t in threads}) == 1:
        own = [*threads]
    if not own:
        return {}
    places = [f"{t.frame.function} at {t.frame.file}:{t.frame.line}" for t in own[:MAX_TOLD_THREADS]]
    several = {STANDING_THREADS: f"{', '.join(places[:-1])} and {places[-1]}"} if len(places) > 1 else {}
    return {"python_file": own[0].frame.file, "python_line": own[0].frame.line, **several}


STATUS_FACTS = STATUS_TEXT, STATUS_MEANING, STATUS_KIND = "status_text", "status_meaning", "status_kind"
SIGNATURES = ("distributed.network/ib_completion", "distributed.network/perftest")  # whose `status` is such a number or name


def status_facts(facts: Fields, proofs: Sequence[Proof]) -> dict[str, Value]:
    """The name, the meaning and the kind of the status; nothing for other messages and for a status that the table lacks."""
    status = str(facts.get("status", ""))
    if not status or not any(p.signature in SIGNATURES for p in proofs):
        return {}
    row = next((r for r in read_table("ib_status").values() if status in (r["code"], r["name"])), None)
    if row is None:
        return {}
    return {STATUS_TEXT: f"{row['code']} ({row['name']})", STATUS_MEANING: row["meaning"], STATUS_KIND: row["kind"]}
