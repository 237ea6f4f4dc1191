"""For Ray: `ray.init(runtime_env=runtime_env())` watches every worker process.

worker killed by Ray's memory monitor, by the kernel, or crashed  ->  a bundle on that worker's node; `forensics why` there
"""

from __future__ import annotations

import os
from typing import Any

import forensics

IDLE = "ray::IDLE.*"  # Ray's name of a worker without a task: Ray ends such workers when it does not need them
_GUARDS: list[Any] = []


def watch_worker() -> None:
    """Watch this worker until it ends; Ray calls this in each worker when it starts."""
    guard = forensics.guard(name="ray worker", tell=False, idle=IDLE, every_s=1.0, files=_written())
    _GUARDS.append(guard.__enter__())
    guard.note(framework="ray", job=os.environ.get("RAY_JOB_ID", ""), node=os.environ.get("RAY_NODE_ID", ""))


def _written() -> list[str]:
    """The files of this worker's output: Ray has one for each worker, which also gets the stacks of a crash."""
    return [path for fd in (1, 2) if os.path.isfile(path := os.path.realpath(f"/proc/self/fd/{fd}"))]  # noqa: PTH113


def runtime_env(given: dict[str, Any] | None = None) -> dict[str, Any]:
    """`given`, a runtime environment, with the hook that starts the watch.

    >>> runtime_env({"env_vars": {"A": "1"}})["worker_process_setup_hook"]
    'forensics.adapters.frameworks.ray.watch_worker'
    """
    return {**(given or {}), "worker_process_setup_hook": f"{__name__}.{watch_worker.__name__}"}
