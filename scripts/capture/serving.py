"""Servers of models and jobs of several MPI ranks: what their masters and launchers say when a worker is lost."""

from __future__ import annotations

from collections.abc import Callable

from .case import Files, case
from .stage import MIB, KernelLog, Stage
from .tools import tools

_KILLED = ("dmesg.log", "Memory cgroup out of memory: Killed process")
_MPIRUN = "mpirun.openmpi --oversubscribe --mca btl self,tcp --mca btl_tcp_if_include lo -np 2"
_HOARDING = """held = []


def app(environ, start):
    held.append(bytearray(int(environ["QUERY_STRING"]) << 20))
    start("200 OK", [("Content-Type", "text/plain")])
    return [b"scored"]
"""


@case("host_memory.oom_cgroup", _KILLED, symptoms=("process.worker_died",))
def gunicorn_oom(stage: Callable[..., Stage]) -> Files:
    """The worker of an inference server keeps what it is sent until its cgroup's OOM killer takes it; gunicorn boots another."""
    one, kernel = stage(memory_limit=200 * MIB, cgroup="serve"), KernelLog()
    script = (
        "gunicorn -w 1 -b 127.0.0.1:8000 app:app &\nsleep 3\n"
        'for _ in 1 2 3 4 5; do curl -s -o /dev/null "http://127.0.0.1:8000/?50"; done\nsleep 2\nkill %1\nwait'
    )
    return {"gunicorn.log": one.output_of(script, files={"app.py": _HOARDING}), "dmesg.log": kernel.lines("-T")}


@case("process.stalled", ("gunicorn.log", "WORKER TIMEOUT"))
def gunicorn_timeout(stage: Callable[..., Stage]) -> Files:
    """A request never ends; gunicorn gives the worker up after its time-out of 4 s."""
    script = (
        "gunicorn -w 1 -t 4 -b 127.0.0.1:8000 app:app &\nsleep 2\ncurl -s -m 12 http://127.0.0.1:8000/\nsleep 1\nkill %1\nwait"
    )
    files = {"app.py": "import time\n\n\ndef app(environ, start):\n    time.sleep(100)\n"}
    return {"gunicorn.log": stage().output_of(script, files=files)}


@case("code.config", ("uvicorn.log", "address already in use"), accept=("distributed.rendezvous",))
def uvicorn_port_taken(stage: Callable[..., Stage]) -> Files:
    """Another program holds the port that an inference server wants."""
    script = 'python -m http.server 8000 >/dev/null 2>&1 &\nsleep 1\nuvicorn app:app --port 8000\necho "exit status $?"\nkill %1'
    return {"uvicorn.log": stage().output_of(script, files={"app.py": "async def app(scope, receive, send):\n    pass\n"})}


@case("host_memory.oom_cgroup", _KILLED, symptoms=("process.worker_died",))
def mpi_rank_oom(stage: Callable[..., Stage]) -> Files:
    """Rank 1 of an Open MPI job hoards arrays until its cgroup's OOM killer takes it."""
    one, kernel = stage(memory_limit=500 * MIB, cgroup="job_4713"), KernelLog()
    one.mounts = tools(one.work)
    output = one.output_of(f'{_MPIRUN} python ranks.py hoard\necho "exit status $?"', "ranks.py")
    return {"mpi.log": output, "dmesg.log": kernel.lines("-T")}


@case("code.exception", ("mpi.log", "ZeroDivisionError"))
def mpi_abort(stage: Callable[..., Stage]) -> Files:
    """Rank 1 of an Open MPI job divides by zero, and mpi4py aborts all ranks."""
    one = stage()
    one.mounts = tools(one.work)
    return {"mpi.log": one.output_of(f'{_MPIRUN} python -m mpi4py ranks.py divide\necho "exit status $?"', "ranks.py")}
