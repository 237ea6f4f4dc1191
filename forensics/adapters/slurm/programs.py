"""Run the programs of Slurm. Their errors are returned as a fault, not raised.

sacct -j 4711 --duplicates --parsable2 ...        ["JobID\x1fJobName\x1f...", ...]
scontrol show job 4711                            "JobId=4711 JobName=train ... StdOut=/home/alice/slurm-4711.out ..."
"""

from __future__ import annotations

import subprocess
from typing import NamedTuple

SLURM_QUERY_TIMEOUT_S = 20.0  # chosen by hand: longer than a slow database takes
FIELD_DELIMITER = "\x1f"  # occurs in no name, command or path of a job, unlike |
SACCT_FIELDS = (
    *("JobID", "JobIDRaw", "JobName", "User", "State", "ExitCode", "DerivedExitCode", "Reason", "NodeList", "ReqMem", "MaxRSS"),
    *("Timelimit", "Elapsed", "Submit", "Start", "End", "WorkDir", "SubmitLine"),
)
FIELDS_SINCE_21_08 = ("SubmitLine",)


class ProgramOutput(NamedTuple):
    """The output of a program. `fault`: the error in one line if it failed, else empty."""

    text: str
    fault: str = ""


def sacct_command(job: str, fields: tuple[str, ...] = SACCT_FIELDS) -> list[str]:
    """The command that prints all rows of a job in the accounting, also of earlier attempts."""
    options = ["--duplicates", "--noconvert", "--parsable2", f"--delimiter={FIELD_DELIMITER}"]
    return ["sacct", f"--jobs={job}", *options, f"--format={','.join(fields)}"]


def run_program(command: list[str]) -> ProgramOutput:
    """The output of a program within SLURM_QUERY_TIMEOUT_S."""
    try:
        # Safe: this call starts the program, ends it after the limit, and reaps it; it is not the job.
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


def run_sacct(job: str) -> ProgramOutput:
    """The rows of sacct; for an older Slurm without the fields that it does not know."""
    found = run_program(sacct_command(job))
    if "nvalid field" in found.fault:
        return run_program(sacct_command(job, tuple(f for f in SACCT_FIELDS if f not in FIELDS_SINCE_21_08)))
    return found
