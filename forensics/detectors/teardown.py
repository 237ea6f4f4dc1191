"""Processes that their launcher ended, because another had failed before: their death is no root.

    torch/distributed/elastic/multiprocessing/api.py:1028] Sending process 10274 closing signal SIGTERM
      exitcode  : -9 (pid: 10274)  (SIGKILL)          -> a hint, as the launcher's own signal explains it

    srun: error: n7: task 0: Exited with exit code 1
    srun: Terminating StepId=4711.0
    srun: error: n7: tasks 1-7: Killed                -> a hint: srun ended what was left

torchelastic's line stands in front of the death or, where ranks write to one file at once, anywhere in it; srun's is its own.
"""

from collections.abc import Sequence, Set

from msgspec.structs import replace

from forensics import lazy
from forensics.model import Observation

CLOSING = "distributed.peer_lost/launcher_closing"
STEP_ENDED = {"distributed.peer_lost/slurm_collateral", "stopped.user/slurm_cancelled"}
OF_SRUN = lazy.regex(r"\bsrun: error: \S+: tasks? ")
DIED = "process.worker_died"
BY_SIGNAL = {-9, -15, 137, 143}


def torn_down(events: Sequence[Observation]) -> list[Observation]:
    """`events` of one source, those deaths as hints."""
    closed = {e.fields.get("pid") for e in events if e.kind == CLOSING} - {None}
    ended = min((e.line for e in events if e.kind in STEP_ENDED), default=None)
    return [replace(e, weight="hint") if (closed and _is_its(e, closed)) or _by_srun(e, ended) else e for e in events]


def _is_its(event: Observation, closed: Set[object]) -> bool:
    """Is `event` the death of one of `closed` by a signal, as far as it tells?"""
    return event.cause == DIED and event.fields.get("pid") in closed and event.fields.get("exit_code", -9) in BY_SIGNAL


def _by_srun(event: Observation, ended: int | None) -> bool:
    """Is `event` a death that srun reports behind line `ended`, where it began to end the step?"""
    return event.cause == DIED and ended is not None and event.line > ended and OF_SRUN.search(event.proofs[0].text) is not None
