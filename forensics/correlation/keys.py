"""Keys of EntityIds, the most reliable first: the ids by which two events can be linked, and their wording in a report.

EntityIds(pid=812, job="4711", step="0") -> ("pid", "812"), ("step", "4711.0"), ("job", "4711")
"""

from forensics.readers.identity.entity_ids import EntityIds
from forensics.readers.identity.normalise import same_host

Key = tuple[str, str]
KEY_PHRASES = {
    "pid": "pid {}",
    "kernel": "notebook kernel {}",
    "uuid": "GPU {}",
    "pci": "PCI address {}",
    "step": "job step {}",
    "container": "container {}",
    "pod_uid": "pod uid {}",
    "pod": "pod {}",
    "unit": "unit {}",
    "job": "job {}",
    "cgroup": "cgroup {}",
    "rank": "rank {}",
    "local_rank": "local rank {}",
    "gpu": "GPU {}",
}
LOCAL = {"pid", "pci", "unit", "cgroup", "local_rank", "gpu", "rank"}  # valid on one host only
REUSED_DEVICE_KEYS = {"pci", "uuid", "gpu"}  # jobs use them one after the other
SHORT_ID_CHARS = 12  # digits that Docker prints of a container's id


def entity_keys(subject: EntityIds) -> list[Key]:
    """Kind and value, in the order of KEY_PHRASES."""
    s = subject
    values = {
        "pid": str(s.pid or s.writer_pid or ""),
        "kernel": s.kernel_id,
        "uuid": s.uuid,
        "pci": s.pci,
        "step": f"{s.job}.{s.step}" if s.job and s.step else "",
        "container": s.container[:SHORT_ID_CHARS],
        "pod_uid": s.pod_uid,
        "pod": s.pod,
        "unit": s.unit,
        "job": s.job,
        "cgroup": s.cgroup,
        "rank": str(s.rank) if s.rank >= 0 else "",
        "local_rank": str(s.local_rank) if s.local_rank >= 0 else "",
        "gpu": str(s.gpu) if s.gpu >= 0 else "",
    }
    return [(kind, value) for kind, value in values.items() if value]


def key_text(key: Key) -> str:
    """`pid 812`."""
    return KEY_PHRASES[key[0]].format(key[1])


def hosts_differ(a: EntityIds, b: EntityIds) -> bool:
    """Are both hosts known and different?"""
    return bool(a.host and b.host) and not same_host(a.host, b.host)


def different_owners(a: EntityIds, b: EntityIds) -> bool:
    """Do the two belong to different jobs, containers or pods?"""
    short = a.container[:SHORT_ID_CHARS], b.container[:SHORT_ID_CHARS]
    pairs = ((a.job, b.job), short, (a.pod_uid, b.pod_uid), (a.kernel_id, b.kernel_id))
    return any(x and y and x != y for x, y in pairs)
