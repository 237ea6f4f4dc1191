"""Ask a program of the machine - a scheduler, a journal, kubectl - and read its answer. Its errors are returned, not raised.

["scontrol", "show", "job", "4711"]   ->   Answer("JobId=4711 JobName=train ...")
["sacct", "-j", "4711"]               ->   Answer("", "sacct did not answer within 20 s")
"""

from __future__ import annotations

import subprocess
from typing import NamedTuple

MAX_FAULT_CHARS = 300  # chosen by hand: of the last line that a program wrote to its stderr


class Answer(NamedTuple):
    """The output of a program. `fault`: in one line why it gave none, or its last error; empty if it ended with status 0."""

    text: str
    fault: str = ""

    def fault_of(self, program: str) -> str:
        """The fault, which begins with the name of the program."""
        return self.fault if self.fault.startswith(program) else f"{program}: {self.fault}"


def ask(command: list[str], within_s: float) -> Answer:
    """The output of a program within a time, after which it is ended."""
    try:
        # Safe: this call starts the program, which is not the job, ends it after the limit, and reaps it.
        done = subprocess.run(command, capture_output=True, timeout=within_s, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError) as error:
        return Answer("", refusal(command[0], error, within_s))
    return Answer(done.stdout.decode("utf-8", "replace"), last_error(done.returncode, done.stderr))


def refusal(program: str, error: Exception, within_s: float) -> str:
    """Why a program could not be asked."""
    if isinstance(error, FileNotFoundError):
        return f"{program} is not installed here"
    if isinstance(error, subprocess.TimeoutExpired):
        return f"{program} did not answer within {within_s:.0f} s"
    return f"{program}: {getattr(error, 'strerror', None) or type(error).__name__}"


def last_error(status: int, stderr: bytes) -> str:
    """The last line of `stderr`, or the exit status; empty for status 0."""
    if not status:
        return ""
    lines = [line for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1].strip()[:MAX_FAULT_CHARS] if lines else f"exit status {status}"
