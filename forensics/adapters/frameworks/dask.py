"""For Dask: `client.register_plugin(ForensicsPlugin())` watches every worker process, also those that join later or that a nanny
starts again. A bundle is on the worker's node."""

from __future__ import annotations

from typing import Any

from distributed.diagnostics.plugin import WorkerPlugin

import forensics


class ForensicsPlugin(WorkerPlugin):  # type: ignore[misc]
    """`options`: those of forensics.guard()."""

    name = "forensics"

    def __init__(self, **options: Any) -> None:
        self.options = {"name": "dask worker", "tell": False, **options}
        self.guard: Any = None

    def setup(self, worker: Any) -> None:
        """Begin to watch when a worker starts."""
        self.guard = forensics.guard(**self.options).__enter__()
        self.guard.note(framework="dask", worker=worker.address, scheduler=worker.scheduler.address)

    def teardown(self, worker: Any) -> None:
        """End the watch: the worker ends in an orderly way."""
        guard, self.guard = self.guard, None
        if guard is not None:
            guard.__exit__(None, None, None)

    def __getstate__(self) -> dict[str, Any]:
        """The state that is sent to the workers: only the options."""
        return {"options": self.options, "guard": None}
