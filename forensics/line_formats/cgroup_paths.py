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
from forensics.data_files.named_parts import first_row, part_rows, patterns_of

CONTAINER_ID_PATTERN = r"[0-9a-f]{64}"
MAY_NAME_OWNER_PATTERN = lazy.regex(r"(?i)job|step|container|docker|cri-|crio|libpod|kubepods|pod")
PATTERNS = patterns_of("cgroup paths")


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
    for row in part_rows("cgroup ids"):
        names = row.parts(text) | names
    if "pod_uid" in names:
        names["pod_uid"] = names["pod_uid"].replace("_", "-")
    return CgroupOwner(**names)


def systemd_unit(path: str) -> str:
    """The innermost systemd unit of a cgroup path; empty if there is none or it is the scope of a container."""
    names = [m["unit"] for m in PATTERNS.unit_in_path.finditer(path)]
    return names[-1] if names and not re.search(CONTAINER_ID_PATTERN, names[-1]) else ""


def owner_phrase(path: str) -> str | None:
    """The owner of a cgroup path in words, `the container 3f2a91c07d55`; None for the root cgroup, which has no owner."""
    path = path.strip()
    if path in ("", "/", "/init.scope"):
        return None
    row = first_row("cgroup owners", path)
    return row.name.format(**row.parts(path)) if row else None
