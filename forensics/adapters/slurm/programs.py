"""Runs the programs of Slurm. What they refuse is returned as a fault, not raised.

sacct -j 4711 --duplicates --parsable2 ...        ["JobID\x1fJobName\x1f...", ...]
scontrol show job 4711                            "JobId=4711 JobName=train ... StdOut=/home/alice/slurm-4711.out ..."
"""

from __future__ import annotations

import subprocess
from typing import NamedTuple

SLURM_QUERY_TIMEOUT_S = 20.0  # a database that is slow is waited for; one that hangs is not
FIELD_DELIMITER = "\x1f"  # no name, command or path of a job has it, as a command may have a |
SACCT_FIELDS = (
    *("JobID", "JobIDRaw", "JobName", "User", "State", "ExitCode", "DerivedExitCode", "Reason", "NodeList", "ReqMem", "MaxRSS"),
    *("Timelimit", "Elapsed", "Submit", "Start", "End", "WorkDir", "SubmitLine"),
)
SINCE_21_08 = ("SubmitLine",)


class ProgramOutput(NamedTuple):
    """What a program printed; `fault`: why it did not, in one line."""

    text: str
    fault: str = ""


def sacct_command(job: str, fields: tuple[str, ...] = SACCT_FIELDS) -> list[str]:
    """The command that asks the accounting for all rows of a job, earlier attempts too."""
    options = ["--duplicates", "--noconvert", "--parsable2", f"--delimiter={FIELD_DELIMITER}"]
    return ["sacct", f"--jobs={job}", *options, f"--format={','.join(fields)}"]


def run_program(command: list[str]) -> ProgramOutput:
    """What a program answers within SLURM_QUERY_TIMEOUT_S."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SLURM_QUERY_TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        return ProgramOutput("", "is not installed here")
    except subprocess.TimeoutExpired:
        return ProgramOutput("", f"did not answer within {SLURM_QUERY_TIMEOUT_S:.0f} s")
    except OSError as error:
        return ProgramOutput("", error.strerror or type(error).__name__)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        return ProgramOutput(done.stdout, said[-1].strip() if said else f"exit status {done.returncode}")
    return ProgramOutput(done.stdout)


def ask_accounting(job: str) -> ProgramOutput:
    """The rows of sacct; an older Slurm is asked without the fields that it does not know."""
    found = run_program(sacct_command(job))
    if "nvalid field" in found.fault:
        return run_program(sacct_command(job, tuple(f for f in SACCT_FIELDS if f not in SINCE_21_08)))
    return found
