"""For torchrun: `torchrun --logs-specs forensics ...` watches the agent and all its workers, and keeps each rank's output.

torchrun finds the class by the entry point `torchrun.logs_specs` (torch.distributed.run, --logs-specs).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, Std

import forensics


class ForensicsLogsSpecs(DefaultLogsSpecs):  # type: ignore[misc]
    """DefaultLogsSpecs that keeps the output of each rank in a bundle if no --log-dir is given; it is removed after a good
    end."""

    def __init__(self, log_dir: str | None = None, redirects: Any = Std.NONE, tee: Any = Std.NONE, **others: Any) -> None:
        self.guard = forensics.guard(name=f"torchrun {_script()}").__enter__()
        self.guard.note(framework="torchrun")
        if self.guard.bundle and not log_dir:
            log_dir = str(Path(self.guard.bundle, "torchrun"))
            Path(log_dir).mkdir(exist_ok=True)
            tee = Std.ALL if tee == Std.NONE and redirects == Std.NONE else tee
        super().__init__(log_dir=log_dir, redirects=redirects, tee=tee, **others)


def _script() -> str:
    """The script that torchrun was given; the next run of it has the same name."""
    return next((os.path.abspath(a) for a in sys.argv[1:] if a.endswith(".py")), "")  # noqa: PTH100  symlinks stay
