"""Set variables in the job's environment, unless they are set already, so that more is known when the job dies."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from forensics.capture.options import Options

BUNDLE_VARIABLE = "FORENSICS_BUNDLE"  # the path of the bundle, for the job
LAUNCHERS = ("torchrun", "torch.distributed.run", "torch.distributed.launch")


def job_environment(env: Mapping[str, str], options: Options, folder: str) -> dict[str, str]:
    """The variables to set: tracebacks of crashes, dumps of PyTorch's flight recorder, logs of torchrun's ranks."""
    wanted = {BUNDLE_VARIABLE: folder}
    if not options.environment:
        return wanted
    more = {
        "PYTHONFAULTHANDLER": "1",
        "TORCH_FR_BUFFER_SIZE": "2000",
        "TORCH_NCCL_DUMP_ON_TIMEOUT": "1",
        "TORCH_FR_DUMP_TEMP_FILE": os.path.join(folder, "fr", "rank_"),
        "TORCH_NCCL_DEBUG_INFO_PIPE_FILE": os.path.join(folder, "fr", "pipe_"),
    }
    # The older names of two of them: a value that the user set there stays in force.
    older = {"TORCH_FR_BUFFER_SIZE": "TORCH_NCCL_TRACE_BUFFER_SIZE", "TORCH_FR_DUMP_TEMP_FILE": "TORCH_NCCL_DEBUG_INFO_TEMP_FILE"}
    if any(word.endswith(LAUNCHERS) for word in options.command[:6]):
        more |= {"PET_LOG_DIR": os.path.join(folder, "torchrun"), "PET_TEE": "3"}
    return wanted | {k: v for k, v in more.items() if k not in env and older.get(k, k) not in env}


def linked_folders(folder: str) -> None:
    """Make the folders that the job's libraries write to."""
    for name in ("fr", "torchrun"):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
