"""Healthy runs: they must stay silent."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable

from .case import Files, case
from .notebook import IMPORTS, TRAIN, notebook, serve
from .stage import Stage

# Lines that name the virtual machine's own set-up, and everything after the kernel has handed over to user space.
_OWN = re.compile(r"ommand line:|ACPI: [A-Z]{4} |kvm: |pvm|page_reporting|=lazy|virtual machine fork")
_BUILDER = re.compile(r"\(\S+@\S+\) ")


@case("none.healthy")
def healthy_train(stage: Callable[..., Stage]) -> Files:
    """A small classifier trains to the end, with the warnings that healthy runs print."""
    one = stage()
    one.prepare("healthy_train.py")
    return {"train.log": one.run("python -W default healthy_train.py")}


@case("none.healthy")
def healthy_jupyter(stage: Callable[..., Stage]) -> Files:
    """A Jupyter server executes a notebook and is shut down by its user."""
    one = stage()
    one.prepare("notebook_driver.py")
    return {"jupyter.log": serve(one, [IMPORTS, TRAIN, "print('done')"], mode="shutdown")}


@case("none.healthy")
def healthy_jupyter_restart(stage: Callable[..., Stage]) -> Files:
    """A user restarts and interrupts a kernel, then shuts the server down."""
    one = stage()
    one.prepare("notebook_driver.py")
    return {"jupyter.log": serve(one, [IMPORTS, TRAIN], mode="restart")}


@case("none.healthy")
def healthy_torchrun(stage: Callable[..., Stage]) -> Files:
    """Two ranks train over gloo to the end."""
    one = stage()
    one.prepare("ddp.py")
    return {"train.log": one.run("STEPS=200 torchrun --standalone --nproc_per_node=2 ddp.py")}


@case("none.healthy")
def healthy_papermill(stage: Callable[..., Stage]) -> Files:
    """Papermill executes a notebook to the end."""
    one = stage()
    one.prepare()
    one.write("train.ipynb", notebook([IMPORTS, TRAIN, "print('done')"]))
    return {"papermill.log": one.run("papermill --log-output train.ipynb out.ipynb")}


@case("none.healthy")
def healthy_skipped_records(stage: Callable[..., Stage]) -> Files:
    """A preparation reports broken records with tracebacks, skips them, and ends well."""
    script = 'python retries.py\necho "exit status $?"'
    return {"prepare.log": stage().output_of(script, "retries.py")}


@case("none.healthy")
def healthy_dmesg(stage: Callable[..., Stage]) -> Files:
    """A machine's boot, as dmesg tells it."""
    boot = []
    for line in subprocess.run(["dmesg"], check=True, capture_output=True, text=True).stdout.splitlines():
        if "Run /" in line:
            break
        if not _OWN.search(line):
            boot.append(_BUILDER.sub("", line, count=1) if "Linux version" in line else line)
    if "Linux version" not in boot[0]:
        raise RuntimeError("the kernel's ring buffer no longer holds the boot")
    return {"dmesg.log": "\n".join(boot) + "\n"}


@case("none.healthy", ("train.log", "exit status 0"), earlier=("code.exception",))
def healthy_restart(stage: Callable[..., Stage]) -> Files:
    """A rank of torchrun fails once; the launcher restarts all, and the second attempt trains to its end."""
    command = "torchrun --nnodes=1 --nproc_per_node=2 --max-restarts=2 --master_port=29513 flaky_rank.py"
    return {"train.log": stage().output_of(f'{command}\necho "exit status $?"', "flaky_rank.py")}
