"""Memory: limits of cgroups, refused allocations, a small /dev/shm."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

from .case import Files, case
from .stage import CGROUPS, MIB, KernelLog, Stage

_KILLED = "Memory cgroup out of memory: Killed process"


@case("host_memory.oom_cgroup", ("dmesg.log", _KILLED), symptoms=("process.worker_died",))
def oom_cgroup_python(stage: Callable[..., Stage]) -> Files:
    """A script loads shard after shard in a memory cgroup of 600 MiB until the kernel's OOM killer ends it."""
    one, kernel = stage(memory_limit=600 * MIB), KernelLog()
    one.prepare("load_shards.py")
    output = one.run('echo "$(date \'+%F %T\') job starts on $(hostname)"\npython load_shards.py\necho "exit status $?"')
    return {"train.log": output, "dmesg.log": kernel.lines()}


@case("host_memory.oom_cgroup", ("dmesg.log", _KILLED), symptoms=("process.worker_died",))
def oom_cgroup_wall_clock(stage: Callable[..., Stage]) -> Files:
    """The same failure as oom_cgroup_python, its kernel log taken with `dmesg -T`."""
    one, kernel = stage(memory_limit=500 * MIB, cgroup="job_4711"), KernelLog()
    one.prepare("load_shards.py")
    return {"train.log": one.run('python load_shards.py\necho "exit status $?"'), "dmesg.log": kernel.lines("-T")}


@case("host_memory.oom_cgroup", ("dmesg.log", _KILLED))
def oom_kernel_log_only(stage: Callable[..., Stage]) -> Files:
    """A process is OOM-killed in its cgroup, and nothing but the kernel's log was kept."""
    one, kernel = stage(memory_limit=400 * MIB, cgroup="batch"), KernelLog()
    one.prepare("load_shards.py")
    one.run("python load_shards.py")
    return {"dmesg.log": kernel.lines("-T")}


@case("host_memory.oom_cgroup", ("dmesg.log", _KILLED), symptoms=("process.worker_died",))
def oom_other_zone(stage: Callable[..., Stage]) -> Files:
    """The same failure, the job's clock being Los Angeles time and the kernel log's UTC; the process id links them."""
    one, kernel = stage(memory_limit=550 * MIB, cgroup="job_4712"), KernelLog()
    script = 'export TZ=America/Los_Angeles\ndate\npython load_shards.py\necho "exit status $?"\ndate'
    return {"train.log": one.output_of(script, "load_shards.py"), "dmesg.log": kernel.lines("-T")}


@case("process.worker_died", ("train.log", "Killed"))
def oom_job_log_only(stage: Callable[..., Stage]) -> Files:
    """A process is OOM-killed in its cgroup, and only the job's own output was kept: the shell's bare `Killed`."""
    one = stage(memory_limit=600 * MIB)
    one.prepare("load_shards.py")
    return {"train.log": one.run('python load_shards.py\necho "exit status $?"')}


@case("host_memory.leak", ("train.log", "rss"), symptoms=("host_memory.oom_cgroup",), series=True)
def oom_leak(stage: Callable[..., Stage]) -> Files:
    """A training loop keeps every step's graph, prints its growing RSS, and is OOM-killed in its cgroup."""
    one, kernel = stage(memory_limit=900 * MIB), KernelLog()
    one.prepare("leak.py")
    return {"train.log": one.run("python leak.py"), "dmesg.log": kernel.lines("-T")}


@case("host_memory.oom_cgroup", ("dmesg.log", _KILLED), symptoms=("distributed.peer_lost",))
def oom_torchrun(stage: Callable[..., Stage]) -> Files:
    """Rank 1 of a torchrun job hoards tensors until the cgroup's OOM killer takes it; rank 0 and torchrun follow."""
    one, kernel = stage(memory_limit=1400 * MIB), KernelLog()
    one.prepare("ddp.py")
    return {
        "train.log": one.run("torchrun --standalone --nproc_per_node=2 ddp.py hoard"),
        "dmesg.log": kernel.lines("-T"),
    }


@case("host_memory.oom_cgroup", ("dmesg.log", _KILLED), symptoms=("process.worker_died",))
def oom_dataloader(stage: Callable[..., Stage]) -> Files:
    """A DataLoader worker caches all it reads until the cgroup's OOM killer takes it; the main process then raises."""
    one, kernel = stage(memory_limit=1200 * MIB), KernelLog()
    output = one.output_of("python caching_loader.py", "caching_loader.py")
    return {"train.log": output, "dmesg.log": kernel.lines("-T")}


@case("host_memory.oom_daemon", ("train.log", "exceeded 95% memory budget"), symptoms=("process.worker_died",))
def dask_nanny(stage: Callable[..., Stage]) -> Files:
    """A Dask worker hoards arrays; its nanny terminates it at 95 % of the worker's memory limit, again and again."""
    return {"train.log": stage().output_of("python dask_hoard.py", "dask_hoard.py")}


@case("host_memory.alloc_refused", ("train.log", "DefaultCPUAllocator: can't allocate memory"))
def alloc_refused_torch(stage: Callable[..., Stage]) -> Files:
    """PyTorch asks for a tensor larger than `ulimit -v` leaves, and its CPU allocator raises."""
    files = {"train.py": _ATTENTION}
    return {"train.log": stage().output_of("ulimit -v 4000000\npython train.py", files=files)}


@case("host_memory.alloc_refused", ("train.log", "MemoryError: Unable to allocate"))
def alloc_refused_numpy(stage: Callable[..., Stage]) -> Files:
    """NumPy cannot allocate a distance matrix under `ulimit -v`."""
    files = {"pairs.py": _PAIRS}
    return {"train.log": stage().output_of("export OPENBLAS_NUM_THREADS=1\nulimit -v 3000000\npython pairs.py", files=files)}


@case("host_memory.shm", ("train.log", "unable to allocate shared memory(shm)"))
def shm_dataloader(stage: Callable[..., Stage]) -> Files:
    """DataLoader workers hand batches over through a /dev/shm of 8 MiB."""
    one, kernel = stage(mounts=["mount -t tmpfs -o size=8m tmpfs /dev/shm"]), KernelLog()
    one.prepare("loader.py")
    files = {"train.log": one.run("python loader.py 32")}
    return files | ({"dmesg.log": text} if (text := kernel.lines()) else {})


_ATTENTION = """import torch

for length in (1024, 4096, 8192, 32768):
    query = torch.randn(8, length, 64)
    scores = torch.empty(8, length, length)
    print(f"sequence length {length}: scores take {scores.nelement() * 4 / 2**20:.0f} MiB")
"""
_PAIRS = """import numpy as np

points = np.random.rand(60_000, 3)
print("computing pairwise distances of", len(points), "points")
distances = np.sqrt(((points[:, None, :] - points[None, :, :]) ** 2).sum(-1))
"""


@case(
    "host_memory.oom_cgroup",
    ("memory.oom_control", "oom_kill 1"),
    symptoms=("process.worker_died",),
)
def oom_counters_only(stage: Callable[..., Stage]) -> Files:
    """A pool worker is OOM-killed; the parent reports a broken pool, and only the counters of the job's cgroup say why."""
    one, counters = stage(memory_limit=400 * MIB, cgroup="job_4715"), {}
    one.prepare("pool_features.py")

    def look(_: subprocess.Popen[bytes]) -> None:
        one.wait_for("ended")
        for name in ("memory.oom_control", "memory.failcnt", "memory.max_usage_in_bytes", "memory.limit_in_bytes"):
            counters[name] = (CGROUPS / one.cgroup / name).read_text()

    output = one.run('python pool_features.py\necho "exit status $?"\necho > ended\nsleep 3', meanwhile=look)
    return {"train.log": output, **counters}
