"""Notebooks: kernels that die or never start under a Jupyter server, nbclient and papermill."""

from __future__ import annotations

import json
from collections.abc import Callable

from .case import Files, case
from .stage import MIB, KernelLog, Stage

_RESTART = "AsyncIOLoopKernelRestarter: restarting kernel"
IMPORTS = "import time\nimport numpy as np"
TRAIN = "losses = []\nfor step in range(20):\n    losses.append(1 / (step + 1))\n    time.sleep(0.1)\nprint(losses[-1])"
_EXHAUST = "cache = []\nfor batch in range(1000):\n    cache.append(np.ones((512, 8192)))\n    time.sleep(0.05)"
_KILL = "import os\nos.kill(os.getpid(), 9)"


def serve(one: Stage, cells: list[str], seconds: float = 6, *, kernel: str = "python3", mode: str = "") -> str:
    """The log of a Jupyter server in which `cells` were executed."""
    one.write("cells.json", json.dumps(cells))
    one.run(f"python notebook_driver.py cells.json {seconds} {kernel} {mode}")
    return one.read("jupyter.log")


_KILLED = ("dmesg.log", "Memory cgroup out of memory: Killed process")


@case("host_memory.oom_cgroup", _KILLED, symptoms=("notebook.kernel_died",))
def jupyter_oom(stage: Callable[..., Stage]) -> Files:
    """A Jupyter server's cgroup has 400 MiB; a cell fills it, the kernel is OOM-killed, the server restarts it."""
    one, kernel = stage(memory_limit=400 * MIB, cgroup="jupyter-user"), KernelLog()
    one.prepare("notebook_driver.py")
    return {"jupyter.log": serve(one, [IMPORTS, TRAIN, _EXHAUST]), "dmesg.log": kernel.lines("-T")}


@case("notebook.kernel_died", ("jupyter.log", _RESTART))
def jupyter_kernel_died(stage: Callable[..., Stage]) -> Files:
    """A cell kills its own kernel with SIGKILL; only the server's log was kept."""
    one = stage()
    one.prepare("notebook_driver.py")
    return {"jupyter.log": serve(one, [IMPORTS, TRAIN, _KILL])}


@case("process.segfault", ("dmesg.log", "segfault at"), symptoms=("notebook.kernel_died",))
def jupyter_segfault(stage: Callable[..., Stage]) -> Files:
    """A cell reads a null pointer; the server sees its kernel vanish, only the machine's log names the fault."""
    one, kernel = stage(), KernelLog()
    one.prepare("notebook_driver.py")
    cells = [IMPORTS, TRAIN, "import ctypes\nctypes.string_at(0)"]
    return {"jupyter.log": serve(one, cells), "dmesg.log": kernel.lines("-T")}


@case("notebook.kernel_start", accept=("code.config", "code.import", "data.missing"))
def jupyter_bad_kernelspec(stage: Callable[..., Stage]) -> Files:
    """The kernel spec names a Python that was deleted, so that no kernel can start."""
    one = stage()
    one.prepare("notebook_driver.py")
    _kernelspec(one, ["/home/user/old-venv/bin/python", "-m", "ipykernel_launcher", "-f", "{connection_file}"])
    return {"jupyter.log": serve(one, [IMPORTS], kernel="torch-old")}


@case("notebook.kernel_start", ("jupyter.log", "restart failed"), accept=("notebook.kernel_died",))
def jupyter_kernel_exits(stage: Callable[..., Stage]) -> Files:
    """The kernel's program ends at once every time it is started, until the server gives up."""
    one = stage()
    one.prepare("notebook_driver.py")
    _kernelspec(one, ["/bin/false", "{connection_file}"])
    return {"jupyter.log": serve(one, [IMPORTS], 30, kernel="torch-old")}


@case("code.import", ("jupyter.log", "No module named"), accept=("notebook.kernel_start",))
def jupyter_no_ipykernel(stage: Callable[..., Stage]) -> Files:
    """The kernel spec's Python has no ipykernel, so that every start fails."""
    one = stage()
    one.prepare("notebook_driver.py")
    _kernelspec(one, ["/home/user/python/bin/python3", "-I", "-m", "ipykernel_launcher", "-f", "{connection_file}"])
    return {"jupyter.log": serve(one, [IMPORTS], 30, kernel="torch-old")}


@case("notebook.kernel_start", ("jupyter.log", "Timeout waiting for kernel_info reply"))
def jupyter_kernel_silent(stage: Callable[..., Stage]) -> Files:
    """The kernel's program runs and never answers."""
    one = stage()
    one.prepare("notebook_driver.py")
    _kernelspec(one, ["/bin/sleep", "300"])
    return {"jupyter.log": serve(one, [IMPORTS], 65, kernel="torch-old")}


@case("notebook.connection_lost", ("jupyter.log", "seconds of inactivity"))
def jupyter_culled(stage: Callable[..., Stage]) -> Files:
    """An idle kernel is culled by its server while the notebook is open."""
    one = stage()
    one.prepare("notebook_driver.py")
    options = "c.MappingKernelManager.cull_idle_timeout = 5\nc.MappingKernelManager.cull_interval = 2\n"
    one.write("../.jupyter/jupyter_server_config.py", options + "c.MappingKernelManager.cull_connected = True\n")
    return {"jupyter.log": serve(one, [IMPORTS, TRAIN], 12, mode="idle")}


@case("notebook.kernel_died", ("nbclient.log", "DeadKernelError"), accept=("process.worker_died",))
def nbclient_dead_kernel(stage: Callable[..., Stage]) -> Files:
    """`jupyter execute` runs a notebook whose kernel is killed by a cell."""
    one = stage()
    one.prepare()
    one.write("train.ipynb", notebook([IMPORTS, TRAIN, _KILL]))
    return {"nbclient.log": one.run("jupyter execute train.ipynb")}


@case("notebook.kernel_died", ("papermill.log", "DeadKernelError"), accept=("process.worker_died",))
def papermill_dead_kernel(stage: Callable[..., Stage]) -> Files:
    """Papermill runs a notebook whose kernel is killed by a cell."""
    one = stage()
    one.prepare()
    one.write("train.ipynb", notebook([IMPORTS, TRAIN, _KILL]))
    return {"papermill.log": one.run("papermill --log-output train.ipynb out.ipynb")}


@case("code.exception", ("papermill.log", "KeyError: 'label'"))
def papermill_exception(stage: Callable[..., Stage]) -> Files:
    """Papermill runs a notebook in which a cell raises KeyError; the executed notebook is kept beside the log."""
    one = stage()
    one.prepare()
    cells = [IMPORTS, TRAIN, "rows = [{'text': 'a', 'target': 1}]\nlabels = [row['label'] for row in rows]"]
    one.write("train.ipynb", notebook(cells))
    output = one.run("papermill --log-output train.ipynb out.ipynb")
    return {"papermill.log": output, "out.ipynb": one.read("out.ipynb")}


@case("host_memory.oom_cgroup", _KILLED, symptoms=("notebook.kernel_died",))
def papermill_oom(stage: Callable[..., Stage]) -> Files:
    """Papermill runs a notebook in a cgroup of 400 MiB; a cell fills it, and its kernel is OOM-killed."""
    one, kernel = stage(memory_limit=400 * MIB, cgroup="job_4714"), KernelLog()
    one.prepare()
    one.write("train.ipynb", notebook([IMPORTS, TRAIN, _EXHAUST]))
    output = one.run("papermill --log-output train.ipynb out.ipynb")
    return {"papermill.log": output, "out.ipynb": one.read("out.ipynb"), "dmesg.log": kernel.lines("-T")}


def _kernelspec(one: Stage, argv: list[str]) -> None:
    spec = {"argv": argv, "display_name": "Python 3", "language": "python"}
    one.write("../.local/share/jupyter/kernels/torch-old/kernel.json", json.dumps(spec))


def notebook(cells: list[str]) -> str:
    """The JSON of a notebook of these code cells."""
    made: list[dict[str, object]] = [
        {
            "cell_type": "code",
            "id": f"cell-{number}",
            "source": cell,
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        }
        for number, cell in enumerate(cells)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return json.dumps({"cells": made, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})
