"""What the path of a cgroup tells, or a text that holds one: Slurm job and step, pod, container, unit; and whose it is, in words.

/slurm/uid_1000/job_123/step_0/task_0                     -> Group(job="123", step="0"), "Slurm step 123.0"
/kubepods/burstable/pod8a0c2f1e-.../3f2a91c07d55...        -> Group(container="3f2a91c07d55...", pod_uid="8a0c2f1e-...")
Container ID: containerd://3f2a91c07d55...                 -> Group(container="3f2a91c07d55...")

Layouts of Slurm's cgroup v1 and v2 plugins, of kubelet's cgroupfs and systemd drivers, Docker, CRI-O, Podman, LXC and systemd.
"""

import re

from msgspec import Struct

from forensics.core import lazy

CONTAINER_ID_PATTERN = r"[0-9a-f]{64}"
CGROUP_POD_UID_PATTERN = r"[0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}"
OWNERS = (
    (lazy.regex(r"/(?:slurm\S*/)?uid_\d+/job_(?P<job>\d+)/step_(?P<step>\w+)"), "Slurm step {job}.{step}"),
    (lazy.regex(r"slurmstepd\.scope/job_(?P<job>\d+)/step_(?P<step>\w+)"), "Slurm step {job}.{step}"),
    (lazy.regex(r"(?:slurm\S*|/uid_\d+)/job_(?P<job>\d+)"), "Slurm job {job}"),
    (lazy.regex(r"jupyter-(?P<user>[\w-]+?)(?:-[0-9a-f]{8})?\.(?:service|scope)"), "the notebook of {user}"),
    (lazy.regex(r"kubepods.*?pod(?P<uid>[0-9a-f]{8})[0-9a-f_-]*"), "the pod with uid {uid}…"),
    (
        lazy.regex(r"(?:docker[-/]|containers?/|cri-containerd-|crio-|libpod-)(?P<id>[0-9a-f]{12})[0-9a-f]{52}"),
        "the container {id}",
    ),
    (lazy.regex(r"/lxc(?:\.payload)?[./](?P<id>[\w-]+)"), "the container {id}"),
    (lazy.regex(r"user@(?P<uid>\d+)\.service|user-(?P<uid2>\d+)\.slice"), "the session of user id {uid}"),
    (lazy.regex(r"/(?P<unit>[^/]+\.(?:service|scope|slice))$"), "the unit {unit}"),
    (lazy.regex(r"^(?P<path>/\S+)$"), "the cgroup {path}"),
)
CLUE = lazy.regex(r"(?i)job|step|container|docker|cri-|crio|libpod|kubepods|pod")
TELLING = (
    lazy.regex(r"/job_(?P<job>\d{1,12})(?:/step_(?P<step>\w{1,20}))?"),
    lazy.regex(r"\b(?:StepId=|[Ss]tep )(?P<job>\d{1,12})\.(?P<step>\w{1,20})"),
    lazy.regex(r"\b(?:JobId=|JOB )(?P<job>\d{1,12})(?![\d_])"),
    lazy.regex(
        rf"kubepods[^\s,]{{0,300}}?pod(?P<pod_uid>{CGROUP_POD_UID_PATTERN})(?:\.slice)?(?:/(?P<container>{CONTAINER_ID_PATTERN}))?"
    ),
    lazy.regex(rf"\bin pod \S{{1,400}}?\((?P<pod_uid>{CGROUP_POD_UID_PATTERN})\)"),
    lazy.regex(rf"(?i)\bpod[ _-]?uid[\"']?[ :=]+[\"']?(?P<pod_uid>{CGROUP_POD_UID_PATTERN})"),
    lazy.regex(rf"\b(?:docker|containerd|cri-o|podman)://(?P<container>{CONTAINER_ID_PATTERN})"),
    lazy.regex(
        rf"\b(?:docker[-/]|containers/|cri-containerd-|crio-|libpod-|container (?:\w+ )?)(?P<container>{CONTAINER_ID_PATTERN})"
    ),
)
UNIT_IN_PATH_PATTERN = lazy.regex(r"(?:^|/)(?P<unit>[\w@.:\\-]+\.(?:service|scope))(?=/|$)")


class Group(Struct, frozen=True):
    """The owner of a cgroup's processes; empty where unknown. `container`: 64 hexadecimal digits."""

    job: str = ""
    step: str = ""
    container: str = ""
    pod_uid: str = ""


def group(text: str) -> Group:
    """What the first word of each kind in `text` tells; a path or any line."""
    if not CLUE.search(text):
        return Group()
    names: dict[str, str] = {}
    for pattern in TELLING:
        found = pattern.search(text)
        names = {**{k: v for k, v in found.groupdict().items() if v}, **names} if found else names
    if "pod_uid" in names:
        names["pod_uid"] = names["pod_uid"].replace("_", "-")
    return Group(**names)


def unit(path: str) -> str:
    """The innermost systemd unit of a cgroup's path, none for a container's scope."""
    names = [m["unit"] for m in UNIT_IN_PATH_PATTERN.finditer(path)]
    return names[-1] if names and not re.search(CONTAINER_ID_PATTERN, names[-1]) else ""


def owner(path: str) -> str | None:
    """The owner of a cgroup path in words; None for the root cgroup, which belongs to nobody."""
    path = path.strip()
    if path in ("", "/", "/init.scope"):
        return None
    for pattern, words in OWNERS:
        found = pattern.search(path)
        if found:
            groups = {k.rstrip("2"): v for k, v in found.groupdict().items() if v}
            return words.format(**groups)
    return None
