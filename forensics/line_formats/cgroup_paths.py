"""The owner of a cgroup, from its path or a text with it: Slurm job and step, pod, container, systemd unit.

/slurm/uid_1000/job_123/step_0/task_0                     -> CgroupOwner(job="123", step="0"), "Slurm step 123.0"
/kubepods/burstable/pod8a0c2f1e-.../3f2a91c07d55...        -> CgroupOwner(container="3f2a91c07d55...", pod_uid="8a0c2f1e-...")
Container ID: containerd://3f2a91c07d55...                 -> CgroupOwner(container="3f2a91c07d55...")

Paths as Slurm's cgroup v1 and v2 plugins, kubelet's cgroupfs and systemd drivers, Docker, CRI-O, Podman, LXC and systemd make
them.
"""

import re

from msgspec import Struct

from forensics.core import lazy

CONTAINER_ID_PATTERN = r"[0-9a-f]{64}"
CGROUP_POD_UID_PATTERN = r"[0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}"
OWNER_PHRASES = (
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
    (
        lazy.regex(
            r"user-(?P<uid>\d+)\.slice/(?:user@\d+\.service/(?:[^/]+\.slice/)*)?"
            r"(?P<unit>(?!session-|user@)[^/]+\.(?:service|scope))$"
        ),
        "the unit {unit} of user id {uid}",
    ),
    (lazy.regex(r"user@(?P<uid>\d+)\.service|user-(?P<uid2>\d+)\.slice"), "the session of user id {uid}"),
    (lazy.regex(r"/(?P<unit>[^/]+\.(?:service|scope|slice))$"), "the unit {unit}"),
    (lazy.regex(r"^(?P<path>/\S+)$"), "the cgroup {path}"),
)
MAY_NAME_OWNER_PATTERN = lazy.regex(r"(?i)job|step|container|docker|cri-|crio|libpod|kubepods|pod")
OWNER_ID_PATTERNS = (
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


class CgroupOwner(Struct, frozen=True):
    """The owner of the processes in a cgroup; fields are empty if unknown. `container`: 64 hexadecimal digits."""

    job: str = ""
    step: str = ""
    container: str = ""
    pod_uid: str = ""


def cgroup_owner(text: str) -> CgroupOwner:
    """The owner that `text`, a cgroup path or any line, names: of each kind the first one."""
    if not MAY_NAME_OWNER_PATTERN.search(text):
        return CgroupOwner()
    names: dict[str, str] = {}
    for pattern in OWNER_ID_PATTERNS:
        found = pattern.search(text)
        names = {**{k: v for k, v in found.groupdict().items() if v}, **names} if found else names
    if "pod_uid" in names:
        names["pod_uid"] = names["pod_uid"].replace("_", "-")
    return CgroupOwner(**names)


def systemd_unit(path: str) -> str:
    """The innermost systemd unit of a cgroup path; empty if there is none or it is the scope of a container."""
    names = [m["unit"] for m in UNIT_IN_PATH_PATTERN.finditer(path)]
    return names[-1] if names and not re.search(CONTAINER_ID_PATTERN, names[-1]) else ""


def owner_phrase(path: str) -> str | None:
    """The owner of a cgroup path in words, `the container 3f2a91c07d55`; None for the root cgroup, which has no owner."""
    path = path.strip()
    if path in ("", "/", "/init.scope"):
        return None
    for pattern, phrase in OWNER_PHRASES:
        found = pattern.search(path)
        if found:
            groups = {k.rstrip("2"): v for k, v in found.groupdict().items() if v}
            return phrase.format(**groups)
    return None
