"""The options of a capture, which one process passes to the next as JSON.

Run a command as a child of a Python program, captured.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Options:
    """The options, as attributes with their defaults. Raises TypeError for an unknown one."""

    command: list[str] = []  # noqa: RUF012 - never changed
    folder: str = ""  # the bundle's folder; empty for a new one below the state folder
    keep: str = "crash"  # crash | always | never
    every_s: float = 5.0  # between two samples
    stall_s: float = 900.0  # silence after which the stacks are taken; 0 for never
    time_limit_s: float = 0.0  # stacks are taken shortly before it; 0 for unknown
    environment: bool = True  # set PYTHONFAULTHANDLER and the flight recorder's variables unless they are set
    max_log_bytes: int = 1 << 30
    kernel_log: bool = True
    form: str = "text"
    output: str = ""  # the file that the report is written to; empty: it is shown on stderr
    tokens: int = 2000  # of a brief
    quiet: bool = False
    verbose: bool = False
    warn: bool = False
    report: bool = True
    redact: bool = False
    remember: bool | None = None  # store the report in the history; None: as the configuration says
    tell: bool = False  # tell the sinks of the configuration after a death
    on_crash: str = ""  # a command to run after a death; {bundle} stands for the folder
    termination_file: str = ""  # where a short report goes, as /dev/termination-log of Kubernetes
    idle: str = ""  # a regular expression: the command line of a pool's worker that has nothing to do, such as ray::IDLE
    name: str = ""  # the name by which a later run finds how the last one ended
    blocked: list[int] | None = None  # the signals that were blocked when `forensics run` was started; None: those that are now

    def __init__(self, **given: object) -> None:
        unknown = set(given) - set(Options.__annotations__)
        if unknown:
            raise TypeError(f"unknown option {sorted(unknown)[0]!r}")
        vars(self).update(given)

    def to_json(self) -> str:
        """The options as one JSON text."""
        return json.dumps({name: getattr(self, name) for name in Options.__annotations__})

    def run_line(self) -> list[str]:
        """The command line that runs the command captured. The system bounds each argument, so the command's stay apart."""
        others = {name: getattr(self, name) for name in Options.__annotations__ if name != "command"}
        return [sys.executable, "-P", "-m", "forensics.capture", "run", json.dumps(others), *self.command]

    @classmethod
    def from_json(cls, text: str, command: Sequence[str] = ()) -> Options:
        """The options that `to_json` or `run_line` wrote; the second has the `command` beside them."""
        return cls(**json.loads(text), **({"command": list(command)} if command else {}))


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


def run_command(command: list[str], bundle: str, **options: object) -> tuple[int, str | None]:
    """Run `command` to its end; its status as in a shell, and the bundle's folder, None if none was kept.

    Raises TypeError for an unknown option.
    """
    from forensics.capture.bundle import RUN_FILE, Bundle

    folder = os.path.abspath(bundle) if bundle else Bundle("", command[0] if command else "run").folder
    wanted = Options(**{"quiet": True, "report": False, **options, "command": command, "folder": folder})
    sys.stdout.flush()
    sys.stderr.flush()
    # Safe: waits for `run` alone, by its process id; `run` ends with the status of the job.
    done = subprocess.run(wanted.run_line(), check=False)
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode
    kept = wanted.keep == "always" or (status != 0 and wanted.keep == "crash")
    if not kept and not bundle:
        _remove(folder)
    return status, folder if kept and os.path.exists(os.path.join(folder, RUN_FILE)) else None


def _remove(folder: str) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
