"""The identity and environment of the job: command, host, boot, clocks, limits, container, scheduler, GPUs."""

from __future__ import annotations

import contextlib
import os
import platform
import sys
import time

from forensics.capture import proc
from forensics.capture.times import time_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# Environment variables that identify a job. None of them is a secret.
SLURM_WORDS = (
    "JOB_ID ARRAY_JOB_ID ARRAY_TASK_ID STEP_ID PROCID NODEID NODELIST NTASKS JOB_NAME JOB_PARTITION "
    "MEM_PER_NODE MEM_PER_CPU CPUS_PER_TASK JOB_START_TIME JOB_END_TIME RESTART_COUNT"
)
SLURM = tuple(f"SLURM_{word}" for word in SLURM_WORDS.split())
KUBERNETES = ("KUBERNETES_SERVICE_HOST", "POD_NAME", "POD_NAMESPACE", "POD_UID", "NODE_NAME", "HOSTNAME")
DISTRIBUTED: tuple[str, ...] = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "NODE_RANK", "MASTER_ADDR")
DISTRIBUTED += ("TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "CUDA_VISIBLE_DEVICES")
DISTRIBUTED += ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "JPY_SESSION_NAME")

SYSTEM_FOLDERS = ("/sys/", "/proc/", "/run/")  # whose tmpfs no job fills
MAX_FREE_SHARE_OF_FULL = 0.01  # file systems reserve some blocks, so a full one seldom reports 0 free bytes


def host() -> dict[str, Any]:
    """The machine, its boot and its kernel."""
    facts: dict[str, Any] = {
        "name": platform.node(),
        "system": sys.platform,
        "kernel": platform.release(),
        "boot_id": proc.boot_id(),
    }
    facts |= {"cpus": os.cpu_count(), "memory_bytes": proc.memory().get("MemTotal")}
    return facts


def clock() -> dict[str, Any]:
    """Wall clock, monotonic clock and seconds since boot at one moment, so that each can be converted to the others."""
    now: dict[str, Any] = {"wall": time_text(time.time()), "monotonic_s": time.monotonic(), "timezone": time.strftime("%Z%z")}
    if hasattr(time, "CLOCK_BOOTTIME"):
        now["since_boot_s"] = time.clock_gettime(time.CLOCK_BOOTTIME)
    return now


def identity(env: Mapping[str, str]) -> dict[str, Any]:
    """The names and ids that scheduler, container and launcher gave to the job."""
    facts: dict[str, Any] = {}
    for name, keys in (("slurm", SLURM), ("distributed", DISTRIBUTED)):
        found = {k: env[k] for k in keys if k in env}
        if found:
            facts[name] = found
    if "KUBERNETES_SERVICE_HOST" in env:
        facts["kubernetes"] = {k: env[k] for k in KUBERNETES if k in env}
    if container := _container():
        facts["container"] = container
    return facts


def _container() -> dict[str, str]:
    if os.path.exists("/.dockerenv"):
        return {"runtime": "docker"}
    if os.path.exists("/run/.containerenv"):
        return {"runtime": "podman"}
    with contextlib.suppress(OSError):
        if os.environ.get("APPTAINER_CONTAINER") or os.environ.get("SINGULARITY_CONTAINER"):
            return {"runtime": "apptainer"}
    return {}


def limits(pid: int) -> dict[str, str]:
    """The resource limits of `pid` that are not unlimited, as /proc/PID/limits writes them: soft limit by name."""
    bounds: dict[str, str] = {}
    for line in proc.read(f"/proc/{pid}/limits").splitlines()[1:]:
        name, rest = line[:25].strip(), line[25:].split()
        if rest and rest[0] != "unlimited":
            bounds[name] = rest[0]
    return bounds


def disks(paths: list[str]) -> dict[str, dict[str, int]]:
    """Size and free bytes of the file systems that the job is known to write to."""
    return {path: found for path in paths if (found := _disk(path))}


def mounts_with_room() -> list[str]:
    """Mount points with room that can be written to; none of a network, which may never answer."""
    rows = [row.split() for row in proc.read("/proc/self/mounts").splitlines()]
    writable = [row for row in rows if "rw" in row[3].split(",")]
    local = [
        at
        for device, at, kind, *_ in writable
        if device.startswith("/dev/") or (kind == "tmpfs" and not f"{at}/".startswith(SYSTEM_FOLDERS))
    ]
    return [at for at, found in disks(local).items() if found["free_bytes"] > MAX_FREE_SHARE_OF_FULL * found["size_bytes"]]


def _disk(path: str) -> dict[str, int]:
    try:
        found = os.statvfs(path)
    except (OSError, AttributeError):
        return {}
    return {
        "size_bytes": found.f_blocks * found.f_frsize,
        "free_bytes": found.f_bavail * found.f_frsize,
        "free_inodes": found.f_favail,
    }


def core_dumps() -> dict[str, str]:
    """Where the kernel writes core dumps, and whether the job may write one. Core dumps are never read here."""
    return {"core_pattern": proc.read("/proc/sys/kernel/core_pattern").strip()}


def time_limit(env: Mapping[str, str]) -> float:
    """When the scheduler will end the job, in seconds since 1970; 0 if unknown."""
    with contextlib.suppress(ValueError):
        return float(env.get("SLURM_JOB_END_TIME", "0"))
    return 0.0


def gpus() -> tuple[list[dict[str, Any]], str]:
    """The GPUs with memory and temperature, and the reason if none can be read: a library may be absent."""
    try:
        import pynvml  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        return [], "nvidia-ml-py is not installed"
    try:
        pynvml.nvmlInit()
        rows = []
        for index in range(pynvml.nvmlDeviceGetCount()):
            handle = pynvml.nvmlDeviceGetHandleByIndex(index)
            memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
            one: dict[str, Any] = {"index": index, "used_bytes": int(memory.used), "total_bytes": int(memory.total)}
            with contextlib.suppress(pynvml.NVMLError):
                one["uuid"] = str(pynvml.nvmlDeviceGetUUID(handle))
                one["celsius"] = int(pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU))
                one["busy_percent"] = int(pynvml.nvmlDeviceGetUtilizationRates(handle).gpu)
            rows.append(one)
        pynvml.nvmlShutdown()
        return rows, ""
    except pynvml.NVMLError as error:
        return [], f"NVML: {error}"
