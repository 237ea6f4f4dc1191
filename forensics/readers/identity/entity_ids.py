"""Find the EntityIds of an event: the process, job, container, GPU or rank that its fields, its lines or its file name give.

dmesg.log:82     ...oom_memcg=/slurm/uid_1000/job_4711,...task=python3,pid=812   -> EntityIds(pid=812, job="4711", ...)
slurm-4711.out:5 srun: error: node-1: task 0: Out Of Memory                      -> EntityIds(host="node-1", rank=0, job="4711")

A field has precedence over a line, and a line over the name of the file.

Find the job, container, pod or rank in the name of a source.

slurm-4711.out                                                      -> job 4711
/var/lib/docker/containers/3f2a91c07d55.../3f2a91c07d55...-json.log -> container 3f2a91c07d55...
/var/log/pods/ml_train-0_8a0c2f1e-.../main/0.log                    -> pod train-0, its uid
/var/log/containers/train-0_ml_main-3f2a91c07d55....log             -> pod train-0, its container
logs/train_rank3.log, torchrun's attempt_0/3/stderr.log                -> rank 3

Patterns: sbatch's default, Docker's json-file driver, kubelet. `slurm-123_4.out` names an array: its tasks have job numbers of
their own, which are not in the name.

Normalise PCI addresses, host names and process names, which logs spell in many ways.

65:00.0, 0000:65:00, 00000000:65:00.0, NCCL's 65000   -> 0000:65:00
gpu-7.cluster.example, GPU-7                           -> one host
ray::train_worker                                      -> ray::train_worke, as the kernel stores it
"""

import functools
from collections.abc import Mapping

from msgspec import Struct

from forensics.core import lazy
from forensics.data_files.named_parts import patterns_of
from forensics.line_formats import parse_prefix
from forensics.line_formats.cgroup_paths import cgroup_owner, systemd_unit
from forensics.model import Observation, Prefix

PATTERNS = patterns_of("entity ids")


class FileNameIds(Struct, frozen=True):
    """The ids in a source's name; empty if there are none. `array`: the job array of which it is a task's output."""

    job: str = ""
    container: str = ""
    pod: str = ""
    pod_uid: str = ""
    array: str = ""


@functools.lru_cache(4096)
def ids_of_file_name(source: str) -> FileNameIds:
    """The ids in the name `source`."""
    output = PATTERNS.output.search(source)
    if output:
        return FileNameIds(array=output["job"]) if output["task"] else FileNameIds(job=output["job"])
    for pattern in (PATTERNS.docker, PATTERNS.pod_folder, PATTERNS.container_file):
        found = pattern.search(source)
        if found:
            groups = found.groupdict()
            return FileNameIds(
                container=groups.get("container", ""), pod=groups.get("pod", ""), pod_uid=groups.get("pod_uid", "")
            )
    return FileNameIds()


def rank_of_file_name(source: str) -> int | None:
    """The rank whose output a source is, by its name; with torchrun's own logs, the rank on its host."""
    found = PATTERNS.file_rank_name.search(source)
    return int(found["rank"] or found["local_rank"]) if found else None


MAX_COMM_BYTES = 15  # TASK_COMM_LEN of the kernel is 16 with the terminating zero
HEX_NUMBER_PATTERN = lazy.regex(r"[0-9a-fA-F]{1,16}")
IP = lazy.regex(r"\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{0,4}:[0-9a-f:.]{0,60}")
# Process names that are common on a host: interpreters, shells, launchers, the threads that PyTorch names.
COMMON_HOST_PATTERN = lazy.regex(
    r"(?:python[\d.]*|pypy[\d.]*|pt_\w*|ipython\d?|java|node|perl|ruby|R|(?:ba|da|z|k|tc|c|fi)?sh|sudo|conda|mamba|uv|pip\d?|"
    r"srun|slurmstepd|torchrun|mpirun|mpiexec|orterun|accelerate|deepspeed|launcher|systemd|containerd-shim|tini|main|worker)"
)


def normalise_pci(text: str) -> str:
    """A PCI address as domain:bus:device, without its function; empty for a text that is no address."""
    text = text.strip()
    found = PATTERNS.pci_address.fullmatch(text)
    if found:
        return f"{int(found[1] or '0', 16):04x}:{int(found[2], 16):02x}:{int(found[3], 16):02x}"
    return ""


def bus_id(text: str) -> str:
    """A PCI address from NCCL's busId, which is its digits without colons and point: `65000` -> `0000:65:00`."""
    if not HEX_NUMBER_PATTERN.fullmatch(text):
        return ""
    number = int(text, 16)
    return f"{number >> 20:04x}:{number >> 12 & 0xFF:02x}:{number >> 4 & 0xFF:02x}"


def normalise_host(text: str) -> str:
    """A host's name in lower case; empty for an address or a name that every host has."""
    name = text.strip().rstrip(".").lower()
    return "" if IP.fullmatch(name) or name.isdigit() or name.split(".")[0] in ("localhost", "kernel", "") else name


def same_host(a: str, b: str) -> bool:
    """Do two names mean one host? One of them may lack its domain."""
    return a == b or a.startswith(b + ".") or b.startswith(a + ".")


def kernel_comm(name: str) -> str:
    """The name of a process as the kernel stores it."""
    return name.strip().encode()[:MAX_COMM_BYTES].decode("utf-8", "ignore")


def is_distinctive(name: str) -> bool:
    """Have few processes of a host this name, so that it can link events?"""
    return len(name) > 2 and not COMMON_HOST_PATTERN.fullmatch(name)


MAX_PROOFS_READ = 3  # an event's first lines name its process; the later ones repeat it
MAX_PROOF_CHARS = 2000  # as the report shows of a line; the ids are before that
OWN_PID = {"nccl", "program in brackets", "pid in brackets", "open mpi"}  # their number is that of the line's own process
OF_A_HOST = ("syslog", "journal")
RAY = ("program in brackets", "pid in brackets")
SHARED_CGROUPS = {"/", "/user.slice", "/system.slice", "/machine.slice", "/init.scope", "/docker", "/kubepods", "/kubepods.slice"}
DECIMAL_PATTERN = lazy.regex(r"\d{1,18}")
ARRAY = lazy.regex(r"\d{1,12}_\d{1,12}")


class EntityIds(Struct, frozen=True):
    """The ids of the entity that an event is about. If unknown: an empty text, pid 0, and -1 for numbers that count from 0.

    `prefix_host`: the host in the prefix of a host log's line. `writer_pid`: the process that wrote the line. `task`: the name of
    the process, at most 15 bytes. `container`: hexadecimal digits. `pod`: its name. `cgroup`: the path whose limit was hit.
    `gpu`: as the program or nvidia-smi counts. `boot`: the boot that the line counts seconds from, if the time of that boot is
    unknown.
    """

    source: str
    host: str = ""
    prefix_host: str = ""
    pid: int = 0
    writer_pid: int = 0
    task: str = ""
    job: str = ""
    step: str = ""
    container: str = ""
    pod: str = ""
    pod_uid: str = ""
    unit: str = ""
    cgroup: str = ""
    pci: str = ""
    uuid: str = ""
    gpu: int = -1
    rank: int = -1
    local_rank: int = -1
    kernel_id: str = ""
    boot: str = ""


def entity_ids(event: Observation) -> EntityIds:
    """The ids of the entity that `event` is about."""
    fields = event.fields
    values = {name: str(value) for name, value in fields.items()}
    prefix = parse_prefix(event.proofs[0].text) if event.proofs else Prefix("")
    cgroup = values.get("limit_path") or values.get("cgroup", "")
    texts = [values[n] for n in ("cgroup", "limit_path", "container", "step") if n in values]
    texts += [p.text[:MAX_PROOF_CHARS] for p in event.proofs[:MAX_PROOFS_READ]]
    groups = [*map(cgroup_owner, texts), ids_of_file_name(event.source)]
    job, step = _job(values)

    def first(name: str) -> str:
        return next((value for g in groups if (value := str(getattr(g, name, "")))), "")

    own = bool(OWN_PID & set(prefix.formats))
    ray = prefix.program if prefix.program and set(RAY) & set(prefix.formats) else ""
    return EntityIds(
        source=event.source,
        host=normalise_host(values.get("node", "")) or normalise_host(values.get("host", "")),
        prefix_host=normalise_host(prefix.host or "") if prefix.formats and prefix.formats[0].startswith(OF_A_HOST) else "",
        pid=_number(values, "pid", 2) if fields.get("pid") else 0,
        writer_pid=prefix.pid or 0 if own else 0,
        task=kernel_comm(values.get("task", f"ray::{ray}" if ray else "")),
        job=job or first("job") or (job_of_row(event.proofs[0].text) if event.proofs else ""),
        step=step or first("step"),
        container=values.get("container_id") or first("container"),
        pod=values.get("pod", "").split("/")[-1] or ids_of_file_name(event.source).pod,
        pod_uid=values.get("pod_uid") or first("pod_uid"),
        unit=values.get("unit", "") if "." in values.get("unit", "") else systemd_unit(values.get("cgroup", cgroup)),
        cgroup="" if cgroup.rstrip("/") in SHARED_CGROUPS | {""} else cgroup.rstrip("/"),
        pci=normalise_pci(values.get("pci", "")),
        uuid=values.get("uuid", "").lower(),
        gpu=_number(values, "gpu"),
        rank=_number(values, "rank"),
        local_rank=_number(values, "local_rank"),
        kernel_id=values.get("kernel_id", "").lower(),
        boot=event.lane if event.lane.startswith("boot ") else "",
    )


def _job(values: Mapping[str, str]) -> tuple[str, str]:
    """Number and step of the job, from the fields. The number of a job array is not the number of a job."""
    step = values.get("step", "")
    number, _, rest = step.partition(".")
    job = values.get("job", "")
    if ARRAY.fullmatch(job):
        return "", ""
    return job.partition(".")[0], rest if number.isdigit() and rest and number == job.partition(".")[0] else ""


# One of these states is in each row of sacct's table, as it writes or cuts them.
ROW_STATES: tuple[bytes, ...] = (
    *(b"COMPLETED", b"FAILED", b"CANCELLED", b"TIMEOUT", b"OUT_OF_ME"),
    *(b"NODE_FAIL", b"PREEMPTED", b"DEADLINE", b"BOOT_FAIL"),
)


def job_of_row(text: str) -> str:
    """The number of the job, if `text` is a row of sacct's table; else empty."""
    found = PATTERNS.accounting_row.search(text)
    return str(found["job"]) if found else ""


def _number(values: Mapping[str, str], name: str, least: int = 0) -> int:
    """The number in a field; -1 if there is none, 0 for less than `least`."""
    text = values.get(name, "")
    if not DECIMAL_PATTERN.fullmatch(text):
        return 0 if least else -1
    return int(text) if int(text) >= least else 0
