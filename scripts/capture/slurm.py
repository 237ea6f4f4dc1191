"""Jobs of a real Slurm on one node: controller, node daemon and munge run in the stage's namespaces."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

from .case import Files, case
from .stage import KernelLog, Stage
from .tools import tools

LOGS = ("slurmctld.log", "slurmd.log")
_CONF = """ClusterName=lab
SlurmctldHost=node-1
SlurmUser=root
AuthType=auth/munge
StateSaveLocation=/home/slurm/state
SlurmdSpoolDir=/home/slurm/spool
SlurmctldPidFile=/home/slurm/slurmctld.pid
SlurmdPidFile=/home/slurm/slurmd.pid
SlurmctldLogFile=/home/slurm/slurmctld.log
SlurmdLogFile=/home/slurm/slurmd.log
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
MpiDefault=none
KillWait=3
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
NodeName=node-1 CPUs=2 RealMemory=4000
PartitionName=batch Nodes=ALL Default=YES PriorityTier=1 State=UP
PartitionName=urgent Nodes=ALL PriorityTier=9 State=UP
"""
_CGROUP = "CgroupAutomount=no\nCgroupMountpoint=/sys/fs/cgroup\nCgroupPlugin=cgroup/v1\nConstrainRAMSpace=yes\n"
# Run as root before the job: a network on which the node has a name, and the three daemons with their folders.
_DAEMONS = (
    "hostname node-1",
    "ip link set lo up",
    "ip addr add 10.77.0.1/24 dev lo",
    "mkdir -p /home/slurm/state /home/slurm/spool /etc/slurm /etc/munge /var/lib/munge",
    "for d in /var/log /run /etc/munge /etc/slurm /var/lib/munge; do mount -t tmpfs tmpfs $d; done",
    "mkdir -p /var/log/munge /run/munge",
    "cp /home/slurm/*.conf /etc/slurm/",
    "chown -R root:root /home/slurm",
    "chmod 700 /etc/munge /var/lib/munge /var/log/munge",
    "head -c 128 /dev/urandom > /etc/munge/munge.key",
    "chmod 400 /etc/munge/munge.key",
    "munged --foreground --force >/home/slurm/munged.out 2>&1 &",
    "sleep 1",
    "chmod 755 /run/munge",
    "slurmctld -D -c >/home/slurm/slurmctld.out 2>&1 &",
    "slurmd -D -N node-1 >/home/slurm/slurmd.out 2>&1 &",
)
_ENVIRONMENT = (
    "export PATH=/home/user/venv/bin:/usr/bin:/bin LD_LIBRARY_PATH=/home/user/python/lib PYTHONUNBUFFERED=1\ncd /home/user/run\n"
)
_READY = "for _ in $(seq 40); do sinfo -h -o %T | grep -q idle && break; sleep 0.5; done\n"


def _run(one: Stage, submit: str, **scripts: str) -> Files:
    """The outputs of the jobs that `submit` submits and the logs of the daemons; `scripts`: name -> options and commands."""
    one.prepare("load_shards.py", "steps.py")
    one.write("../../slurm/slurm.conf", _CONF)
    one.write("../../slurm/cgroup.conf", _CGROUP)
    for name, text in scripts.items():
        options, _, commands = text.rpartition("#SBATCH ")
        first, _, rest = commands.partition("\n")
        head = f"#!/bin/bash\n#SBATCH -o /home/user/run/slurm-%j.out\n{options}#SBATCH {first}\n"
        one.write(f"{name}.sbatch", head + _ENVIRONMENT + rest)
    one.mounts = [*tools(one.work), *_DAEMONS]
    try:
        one.run(f"{_READY}{submit}\nsleep 2")
    finally:
        _forget_groups()
    outputs = {path.name: path.read_text() for path in sorted(one.run_dir.glob("slurm-*.out"))}
    return outputs | {name: (one.home.parent / "slurm" / name).read_text() for name in LOGS}


def _forget_groups() -> None:
    """Remove the control groups that Slurm leaves behind."""
    time.sleep(1)
    for top in Path("/sys/fs/cgroup").glob("*/slurm_node-1"):
        for folder in sorted((p for p in [top, *top.rglob("*")] if p.is_dir()), key=lambda p: -len(p.parts)):
            with contextlib.suppress(OSError):
                folder.rmdir()


_KILLED = ("dmesg.log", "Memory cgroup out of memory: Killed process")


@case("host_memory.oom_cgroup", _KILLED, ("slurm-1.out", "oom-kill event(s) in StepId=1.0"))
def slurm_oom(stage: Callable[..., Stage]) -> Files:
    """A step of a Slurm job runs into the 300 MiB that the job asked for; logs of the job, both daemons and the kernel."""
    one, kernel = stage(), KernelLog()
    files = _run(one, "sbatch --wait train.sbatch", train="#SBATCH --mem=300M\nsrun python load_shards.py\n")
    return {**files, "dmesg.log": kernel.lines("-T")}


@case("stopped.time_limit", ("slurm-1.out", "DUE TO TIME LIMIT"))
def slurm_time_limit(stage: Callable[..., Stage]) -> Files:
    """A Slurm job reaches its time limit of one minute."""
    return dict(_run(stage(), "sbatch --wait train.sbatch", train="#SBATCH --time=1\npython steps.py 300\n"))


@case("stopped.preempted", ("slurm-1.out", "DUE TO PREEMPTION"))
def slurm_preempted(stage: Callable[..., Stage]) -> Files:
    """A job in a partition of higher priority takes the node from a Slurm job."""
    files = _run(
        stage(),
        "sbatch train.sbatch\nsleep 6\nsbatch --wait urgent.sbatch",
        train="#SBATCH --exclusive --no-requeue\npython steps.py 300\n",
        urgent="#SBATCH -p urgent --exclusive\necho evaluation done\n",
    )
    return {name: text for name, text in files.items() if name != "slurm-2.out"}


@case("stopped.user", ("slurm-1.out", "CANCELLED"))
def slurm_cancelled(stage: Callable[..., Stage]) -> Files:
    """A user cancels a running Slurm job."""
    return dict(
        _run(stage(), "sbatch train.sbatch\nsleep 6\nscancel 1\nsleep 3", train="#SBATCH -n 1\nsrun python steps.py 300\n")
    )


@case("process.segfault", ("dmesg.log", "segfault at"))
def slurm_segfault(stage: Callable[..., Stage]) -> Files:
    """One task of srun reads a null pointer; Slurm ends the step."""
    one, kernel = stage(), KernelLog()
    files = _run(one, "sbatch --wait train.sbatch", train="#SBATCH -n 2\nsrun --kill-on-bad-exit=1 python steps.py 40 segfault\n")
    return {**files, "dmesg.log": kernel.lines("-T")}


@case("code.exception", ("slurm-2.out", "KeyError: 'label'"))
def slurm_oom_of_another_job(stage: Callable[..., Stage]) -> Files:
    """Job 2 stops with KeyError; the logs of node and controller also tell of job 1, which was OOM-killed before it."""
    one, kernel = stage(), KernelLog()
    submit = "sbatch --wait other.sbatch\nsleep 5\nsbatch --wait train.sbatch"
    other, train = "#SBATCH --mem=300M\nsrun python load_shards.py\n", "#SBATCH --mem=300M\nsrun python steps.py 20 keyerror\n"
    files = _run(one, submit, other=other, train=train)
    return {name: text for name, text in files.items() if name != "slurm-1.out"} | {"dmesg.log": kernel.lines("-T")}
