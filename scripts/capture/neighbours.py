"""Logs of a host that more than one job shares: what befell a neighbour, or an earlier attempt, is not why this one failed."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from dataclasses import replace

from .case import Files, case
from .notebook import IMPORTS, TRAIN, serve
from .stage import MIB, KernelLog, Stage

_KILLED = "Memory cgroup out of memory: Killed process"


def _neighbour(stage: Callable[..., Stage], cgroup: str) -> None:
    """Another job of the host fills its cgroup of 300 MiB and is OOM-killed."""
    other = stage(memory_limit=300 * MIB, cgroup=cgroup)
    other.prepare("load_shards.py")
    other.run("python load_shards.py")


@case("code.exception", ("train.log", "KeyError: 'label'"))
def oom_of_another_job(stage: Callable[..., Stage]) -> Files:
    """The kernel's log tells how a neighbour was OOM-killed half a minute before this job began, which stops with KeyError."""
    kernel = KernelLog()
    _neighbour(stage, "job_880")
    time.sleep(30)
    output = stage().output_of('python steps.py 20 keyerror\necho "exit status $?"', "steps.py")
    return {"train.log": output, "dmesg.log": kernel.lines("-T")}


@case("host_memory.oom_cgroup", ("dmesg.log", f"{_KILLED} "), ("dmesg.log", "oom_memcg=/job_882"))
def oom_beside_others(stage: Callable[..., Stage]) -> Files:
    """This job is OOM-killed seconds after a neighbour was; a third job's healthy log is given, too."""
    kernel = KernelLog()
    _neighbour(stage, "job_881")
    healthy = stage().output_of("python steps.py 12", "steps.py")
    one = stage(memory_limit=450 * MIB, cgroup="job_882")
    output = one.output_of('python load_shards.py\necho "exit status $?"', "load_shards.py")
    return {"job882.log": output, "job883.log": healthy, "dmesg.log": kernel.lines("-T")}


@case("storage.full", ("train.log", "requested and"), earlier=("host_memory.oom_cgroup",))
def oom_then_disk_full(stage: Callable[..., Stage]) -> Files:
    """The first attempt is OOM-killed; the wrapper halves the batch, and the second trains until the disk is full."""
    disk = "/home/user/run/checkpoints"
    one = stage(
        memory_limit=500 * MIB,
        cgroup="job_884",
        mounts=[f"mkdir -p {disk}", f"mount -t tmpfs -o size=20m,mode=777 tmpfs {disk}"],
    )
    kernel = KernelLog()
    script = (
        "for batch in 128 16; do\n"
        "  echo \"$(date '+%F %T') attempt with batch size $batch\"\n"
        "  python attempts.py $batch; status=$?; echo \"$(date '+%F %T') the attempt ended with exit status $status\"\n"
        "  [ $status = 137 ] || exit $status\ndone"
    )
    return {"train.log": one.output_of(script, "attempts.py"), "dmesg.log": kernel.lines("-T")}


@case("process.segfault", ("dmesg.log", "segfault at"), symptoms=("notebook.kernel_died",))
def jupyter_segfault_after_oom(stage: Callable[..., Stage]) -> Files:
    """A neighbour was OOM-killed before this Jupyter server started; now a cell reads a null pointer."""
    one, kernel = stage(), KernelLog()
    _neighbour(stage, "jupyter-bob")
    time.sleep(15)
    one.prepare("notebook_driver.py")
    log = serve(one, [IMPORTS, TRAIN, "import ctypes\nctypes.string_at(0)"])
    return {"jupyter.log": log, "dmesg.log": kernel.lines("-T")}


@case("code.import", ("train.log", "No module named 'einops'"))
def exception_behind_a_pipe(stage: Callable[..., Stage]) -> Files:
    """A job whose output goes through tee cannot import a package; the status that its shell then prints is that of tee."""
    files = {"train.py": "import numpy as np\nprint('numpy', np.__version__)\nimport einops\n"}
    return {"train.log": stage().output_of('python train.py 2>&1 | tee train.out\necho "exit status $?"', files=files)}


@case("code.exception", ("train.log", "KeyError: 'label'"))
def keyerror_beside_oom(stage: Callable[..., Stage]) -> Files:
    """A neighbour is OOM-killed while this job trains, which stops seconds later with KeyError."""
    kernel = KernelLog()
    one = stage()
    one.prepare("steps.py")

    def meanwhile(_: subprocess.Popen[bytes]) -> None:
        time.sleep(3)
        other = replace(one, name=f"{one.name}_neighbour", memory_limit=300 * MIB, cgroup="job_885")
        other.prepare("load_shards.py")
        other.run("python load_shards.py")

    output = one.run('python steps.py 240 keyerror\necho "exit status $?"', meanwhile=meanwhile)
    return {"train.log": output, "dmesg.log": kernel.lines("-T")}
