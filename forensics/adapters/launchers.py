"""Look at the processes of a running job on all its hosts, by the launcher that is there; there is no transport of our own.

srun --overlap --jobid=4711 --ntasks-per-node=1 python3 - job 4711 < live_stacks.py        one line of JSON for each node
kubectl exec -i POD -- python3 - all - < live_stacks.py                                    one for each pod of the job
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import msgspec

from forensics.capture import live_stacks
from forensics.core.errors import UsageError
from forensics.model.stacks import LiveHost

SLURM_JOB_PATTERN = re.compile(r"\d{1,10}(?:[_+]\d{1,10})?")
JOB_NAME_PATTERN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?")
POD_LABELS = ("training.kubeflow.org/job-name", "batch.kubernetes.io/job-name", "job-name", "ray.io/cluster")
LAUNCH_S = 90.0  # chosen by hand: what one host may take, and a step that waits for its node
PODS_AT_ONCE = 8  # each is a connection to the server of the cluster
MAX_PODS = 256  # of one job


class Answers(NamedTuple):
    """What hosts told, and why others told nothing."""

    hosts: tuple[LiveHost, ...]
    notes: tuple[str, ...] = ()


def of_process(pid: int) -> Answers:
    """The processes below `pid` on this host, and itself."""
    if not Path(f"/proc/{pid}").exists():
        raise UsageError(f"there is no process {pid} here", advice="give the pid of the launcher or of a rank on this host")
    return Answers((msgspec.convert(live_stacks.look("pid", str(pid)), LiveHost),))


def of_job(job: str) -> Answers:
    """The processes of a job: on all nodes by srun, in all pods by kubectl, else those of this host."""
    if JOB_NAME_PATTERN.fullmatch(job.replace("+", "_")) is None:
        raise UsageError(f"{job!r} is no name of a job", advice="give the number of a Slurm job, or the name of a Kubernetes job")
    is_slurm = SLURM_JOB_PATTERN.fullmatch(job) is not None
    commands: list[list[str]] = []
    if is_slurm and shutil.which("srun"):
        # A step beside those that run, one task on each node. `--overlap`: it takes no processor and no memory away from them.
        commands = [["srun", "--overlap", f"--jobid={job}", "--ntasks-per-node=1", "--chdir=/", "python3", "-", "job", job]]
    elif not is_slurm and shutil.which("kubectl"):
        commands = [["kubectl", "exec", "-i", pod, "--", "python3", "-", "all", "-"] for pod in _pods(job)]
    asked = _asked(commands)
    if asked.hosts:
        return asked
    note = f"this host alone was asked: {'srun' if is_slurm else 'kubectl'} did not reach the others, or is not here"
    return Answers((msgspec.convert(live_stacks.look("job", job), LiveHost),), (*asked.notes, note))


def _pods(job: str) -> list[str]:
    """The running pods of a job, by the labels that operators set; else the pod of that name."""
    for label in POD_LABELS:
        words = ["kubectl", "get", "pods", "-o", "name", "--field-selector=status.phase=Running", "-l", f"{label}={job}"]
        pods = _run(words, b"")[0].split()
        if pods:
            return pods[:MAX_PODS]
    return [f"pod/{job}"]


def _asked(commands: list[list[str]]) -> Answers:
    if not commands:
        return Answers(())
    program = Path(live_stacks.__file__).read_bytes()
    with ThreadPoolExecutor(PODS_AT_ONCE) as pool:
        done = list(pool.map(lambda words: _run(words, program), commands))
    hosts, notes = [], []
    for words, (out, fault) in zip(commands, done, strict=True):
        for line in out.splitlines():
            try:
                hosts.append(msgspec.json.decode(line, type=LiveHost))
            except msgspec.MsgspecError:
                continue
        notes += [f"{shlex.join(words)}: {fault}"] if fault else []
    return Answers(tuple(hosts), tuple(notes))


def _run(words: list[str], given: bytes) -> tuple[str, str]:
    """The output of a command, and why it failed, empty if it did not."""
    try:
        # Safe: this call starts the launcher, ends it after the limit, and reaps it.
        done = subprocess.run(words, input=given, capture_output=True, timeout=LAUNCH_S, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        return "", type(error).__name__
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return done.stdout.decode("utf-8", "replace"), (lines or ["it failed"])[-1][:200] if done.returncode else ""
