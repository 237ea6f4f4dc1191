"""Find the job, container, pod or rank in the name of a source.

slurm-4711.out                                                      -> job 4711
/var/lib/docker/containers/3f2a91c07d55.../3f2a91c07d55...-json.log -> container 3f2a91c07d55...
/var/log/pods/ml_train-0_8a0c2f1e-.../main/0.log                    -> pod train-0, its uid
/var/log/containers/train-0_ml_main-3f2a91c07d55....log             -> pod train-0, its container
logs/train_rank3.log, torchrun's attempt_0/3/stderr.log                -> rank 3

Patterns: sbatch's default, Docker's json-file driver, kubelet. `slurm-123_4.out` names an array: its tasks have job numbers of
their own, which are not in the name.
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
FILE_RANK_NAME_PATTERN = lazy.regex(
    r"(?:^|[/!_.-])rank[_-]?(?P<rank>\d{1,7})(?:[_.-][^/!]*)?$|[/!]attempt_\d{1,6}/(?P<local_rank>\d{1,7})/std(?:err|out)\.log$"
)


class FileNameIds(Struct, frozen=True):
    """The ids in a source's name; empty if there are none. `array`: it is the output of a task of a job array."""

    job: str = ""
    container: str = ""
    pod: str = ""
    pod_uid: str = ""
    array: bool = False


@functools.lru_cache(4096)
def ids_of_file_name(source: str) -> FileNameIds:
    """The ids in the name `source`."""
    output = OUTPUT.search(source)
    if output:
        return FileNameIds(array=True) if output["array"] else FileNameIds(job=output["job"])
    for pattern in (DOCKER, POD_FOLDER_PATTERN, CONTAINER_FILE_PATTERN):
        found = pattern.search(source)
        if found:
            groups = found.groupdict()
            return FileNameIds(
                container=groups.get("container", ""), pod=groups.get("pod", ""), pod_uid=groups.get("pod_uid", "")
            )
    return FileNameIds()


def rank_of_file_name(source: str) -> int | None:
    """The rank whose output a source is, by its name; with torchrun's own logs, the rank on its host."""
    found = FILE_RANK_NAME_PATTERN.search(source)
    return int(found["rank"] or found["local_rank"]) if found else None
