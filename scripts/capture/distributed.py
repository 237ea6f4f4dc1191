"""Several ranks: torchrun over gloo, with failures of one rank, of the rendezvous and of a collective."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable

from .case import Files, case
from .stage import Stage

_TORCHRUN = "torchrun --standalone --nproc_per_node=2 ddp.py"


@case("code.shape", ("train.log", "mat1 and mat2 shapes cannot be multiplied"), symptoms=("distributed.peer_lost",))
def torchrun_peer(stage: Callable[..., Stage]) -> Files:
    """Rank 1's shard holds narrower samples: it raises a shape error, and rank 0 loses its peer."""
    return {"train.log": stage().output_of(f"{_TORCHRUN} narrow", "ddp.py")}


@case("code.exception", ("train.log", "KeyError: 'label'"), symptoms=("distributed.peer_lost",))
def torchrun_keyerror(stage: Callable[..., Stage]) -> Files:
    """Rank 1's shard lacks a key: it raises KeyError, and rank 0 loses its peer; each rank's output is in a file too."""
    one = stage()
    one.prepare("ddp.py")
    output = one.run("torchrun --nnodes=1 --nproc_per_node=2 --master_port=29511 --log-dir=logs --tee=3 ddp.py unlabelled")
    ranks = {path.parent.name: path for path in one.run_dir.glob("logs/*/attempt_0/*/stderr.log")}
    return {"train.log": output} | {f"rank{rank}.log": path.read_text() for rank, path in sorted(ranks.items())}


@case(
    "process.worker_died",
    ("train.log", "Signal 9 (SIGKILL) received by PID"),
    symptoms=("distributed.peer_lost",),
)
def torchrun_kill(stage: Callable[..., Stage]) -> Files:
    """Rank 1 of a torchrun job is killed with SIGKILL from outside."""
    one = stage()
    one.prepare("ddp.py")
    return {"train.log": one.run(_TORCHRUN, meanwhile=_signal_rank(one, signal.SIGKILL))}


@case("stopped.user", ("train.log", "got signal: 15"))
def torchrun_sigterm(stage: Callable[..., Stage]) -> Files:
    """The launcher of a torchrun job gets SIGTERM and stops its workers."""
    one = stage()
    one.prepare("ddp.py")

    def stop(job: subprocess.Popen[bytes]) -> None:
        one.wait_for("rank1.pid")
        job_pid = int(one.wait_for("launcher.pid"))
        _sleep_then(job_pid, signal.SIGTERM)

    return {"train.log": one.run(f"{_TORCHRUN} &\necho $! > launcher.pid\nwait", meanwhile=stop)}


@case("distributed.timeout", ("train.log", "Timed out waiting 15000ms for recv operation to complete"))
def gloo_collective_timeout(stage: Callable[..., Stage]) -> Files:
    """Rank 1 is busy elsewhere while rank 0 waits in an all-reduce with a timeout of 15 s."""
    return {
        "train.log": stage().output_of("torchrun --standalone --nproc_per_node=2 collective_timeout.py", "collective_timeout.py")
    }


@case("distributed.rendezvous", ("train.log", "DistStoreError: Timed out after"))
def gloo_rendezvous_timeout(stage: Callable[..., Stage]) -> Files:
    """One of two ranks never comes; the other waits for the store to fill."""
    one = stage()
    one.prepare("init_only.py")
    environment = "MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 WORLD_SIZE=2"
    return {"train.log": one.run(f"{environment} RANK=0 python init_only.py")}


@case(
    "distributed.rendezvous",
    ("train.log", "DistNetworkError: The client socket has timed out after"),
    accept=("distributed.network",),
)
def no_master(stage: Callable[..., Stage]) -> Files:
    """Rank 1 looks for a rank 0 that was never started."""
    one = stage()
    one.prepare("init_only.py")
    environment = "MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 WORLD_SIZE=2"
    return {"train.log": one.run(f"{environment} RANK=1 python init_only.py")}


@case("distributed.network", ("train.log", "Network is unreachable"), accept=("distributed.rendezvous",))
def network_unreachable(stage: Callable[..., Stage]) -> Files:
    """Rank 1 has no route to the node of rank 0."""
    environment = "MASTER_ADDR=10.0.0.2 MASTER_PORT=29500 WORLD_SIZE=2"
    return {"train.log": stage().output_of(f"{environment} RANK=1 python init_only.py", "init_only.py")}


@case("distributed.rendezvous", ("train.log", "EADDRINUSE"))
def port_in_use(stage: Callable[..., Stage]) -> Files:
    """A forgotten process holds port 29500 when torchrun wants it."""
    one = stage()
    one.prepare("hold_port.py", "ddp.py")
    script = (
        "python hold_port.py &\nwhile [ ! -e held ]; do sleep 0.1; done\n"
        "torchrun --nnodes=1 --nproc_per_node=2 --master_port=29500 ddp.py\nkill %1"
    )
    return {"train.log": one.run(script)}


def _signal_rank(one: Stage, number: signal.Signals) -> Callable[[subprocess.Popen[bytes]], None]:
    def send(_: subprocess.Popen[bytes]) -> None:
        _sleep_then(int(one.wait_for("rank1.pid")), number)

    return send


def _sleep_then(pid: int, number: signal.Signals) -> None:
    """Let the job train a little before the signal."""
    subprocess.run(["sleep", "4"], check=True)
    os.kill(pid, number)


@case("distributed.timeout", ("train.log", "Timed out waiting 15000ms for recv operation to complete"))
def gloo_stopped_rank(stage: Callable[..., Stage]) -> Files:
    """Rank 1 is stopped by SIGSTOP; rank 0 times out, and half a minute later the launcher kills what is left."""
    one = stage()
    one.prepare("averaging.py")
    command = "torchrun --standalone --nproc_per_node=2 averaging.py"
    return {"train.log": one.run(command, meanwhile=_signal_rank(one, signal.SIGSTOP))}
