"""Whose a cgroup is, in words: the path alone tells a Slurm step, a pod, a container, a notebook of a user.

/slurm/uid_1000/job_123/step_0 -> "Slurm step 123.0"
"""

from forensics import lazy

RULES = (
    (lazy.regex(r"/(?:slurm\S*/)?uid_\d+/job_(?P<job>\d+)/step_(?P<step>\w+)"), "Slurm step {job}.{step}"),
    (lazy.regex(r"slurmstepd\.scope/job_(?P<job>\d+)/step_(?P<step>\w+)"), "Slurm step {job}.{step}"),
    (lazy.regex(r"/job_(?P<job>\d+)"), "Slurm job {job}"),
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


def owner(path: str) -> str | None:
    """The owner of a cgroup path in words; None for the root cgroup, which belongs to nobody."""
    path = path.strip()
    if path in ("", "/", "/init.scope"):
        return None
    for pattern, words in RULES:
        found = pattern.search(path)
        if found:
            groups = {k.rstrip("2"): v for k, v in found.groupdict().items() if v}
            return words.format(**groups)
    return None
