"""For Ray: `ray.init(runtime_env=runtime_env())` watches every worker process.

worker killed by Ray's memory monitor, by the kernel, or crashed  ->  a bundle on that worker's node; `forensics why` there
"""

from __future__ import annotations

import os
from typing import Any

import forensics

IDLE = "ray::IDLE.*"  # how Ray names a worker without a task: those are ended when they are not needed, and at the end of all
_GUARDS: list[Any] = []


def watch_worker() -> None:
    """Runs in each worker when it starts; the watch lasts as long as the process."""
    guard = forensics.guard(name="ray worker", tell=False, idle=IDLE, detach=True, every_s=1.0, files=_written())
    _GUARDS.append(guard.__enter__())
    guard.note(framework="ray", job=os.environ.get("RAY_JOB_ID", ""), node=os.environ.get("RAY_NODE_ID", ""))


def _written() -> list[str]:
    """The files that this worker's output goes to: Ray keeps one for each worker, and in it are the stacks of a crash."""
    return [path for fd in (1, 2) if os.path.isfile(path := os.path.realpath(f"/proc/self/fd/{fd}"))]  # noqa: PTH113


def runtime_env(given: dict[str, Any] | None = None) -> dict[str, Any]:
    """`given`, a runtime environment, with the hook that starts the watch.

    >>> runtime_env({"env_vars": {"A": "1"}})["worker_process_setup_hook"]
    'forensics.adapters.frameworks.ray.watch_worker'
    """
    return {**(given or {}), "worker_process_setup_hook": f"{__name__}.{watch_worker.__name__}"}
