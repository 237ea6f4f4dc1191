"""The name of a source to whom it belongs, where those who wrote it put that into its name.

slurm-4711.out                                                      -> job 4711
/var/lib/docker/containers/3f2a91c07d55.../3f2a91c07d55...-json.log -> container 3f2a91c07d55...
/var/log/pods/ml_train-0_8a0c2f1e-.../main/0.log                    -> pod train-0, its uid
/var/log/containers/train-0_ml_main-3f2a91c07d55....log             -> pod train-0, its container

Names of sbatch's default pattern, Docker's json-file driver and kubelet. `slurm-123_4.out` names an array: its tasks have numbers
of their own, which the name does not tell.
"""

import functools

from msgspec import Struct

from forensics.core import lazy

OUTPUT = lazy.regex(r"(?:^|[/!])slurm-(?P<job>\d{1,12})(?P<array>_\d+)?(?!\d)[^/]*\.(?:out|err|log|txt)\b")
DOCKER = lazy.regex(r"(?P<container>[0-9a-f]{64})-json\.log")
POD_UID_PATTERN = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
POD_FOLDER_PATTERN = lazy.regex(rf"(?:^|[/!])[a-z0-9-]+_(?P<pod>[a-z0-9][a-z0-9.-]*)_(?P<pod_uid>{POD_UID_PATTERN})[/!]")
CONTAINER_FILE_PATTERN = lazy.regex(
    r"(?:^|[/!])(?P<pod>[a-z0-9][a-z0-9.-]*)_[a-z0-9-]+_[a-z0-9-]+-(?P<container>[0-9a-f]{64})\.log"
)


class Named(Struct, frozen=True):
    """What a source's name tells; empty where it does not. `array`: it is the output of a task of a job array."""

    job: str = ""
    container: str = ""
    pod: str = ""
    pod_uid: str = ""
    array: bool = False


@functools.lru_cache(4096)
def of_file(source: str) -> Named:
    """Whose output the source named `source` is."""
    output = OUTPUT.search(source)
    if output:
        return Named(array=True) if output["array"] else Named(job=output["job"])
    for pattern in (DOCKER, POD_FOLDER_PATTERN, CONTAINER_FILE_PATTERN):
        found = pattern.search(source)
        if found:
            groups = found.groupdict()
            return Named(container=groups.get("container", ""), pod=groups.get("pod", ""), pod_uid=groups.get("pod_uid", ""))
    return Named()
