"""A process that its launcher ended is no root. All logs here are made."""

from collections.abc import Callable

import pytest

from forensics.model import Report

STAMP = "W1121 16:23:25.516000 10262 torch/distributed/elastic/multiprocessing/api.py:1028] "
CLOSING = {
    "sent": STAMP + "Sending process 10274 closing signal SIGTERM\n",
    "forced": STAMP + "Unable to shutdown process 10274 via 15\n",
}
WAITED = (
    "[rank0]: RuntimeError: [gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 15000ms for recv operation to complete\n"
)
DEAD = "  exitcode  : -9 (pid: {pid})  (SIGKILL)\n  traceback : Signal 9 (SIGKILL) received by PID {pid}\n"


@pytest.mark.parametrize("line", CLOSING.values(), ids=CLOSING)
def test_a_death_by_the_launchers_signal_is_a_consequence(line: str, analyze: Callable[..., Report]) -> None:
    assert analyze(train_log=WAITED + line + DEAD.format(pid=10274)).causes[0].id == "distributed.timeout"
    assert analyze(train_log=DEAD.format(pid=10274) + WAITED + line).causes[0].id == "distributed.timeout"


def test_the_death_of_another_one_is_none(analyze: Callable[..., Report]) -> None:
    report = analyze(train_log=WAITED + CLOSING["sent"] + DEAD.format(pid=10273))
    assert report.causes[0].id == "process.worker_died"


EXITED = "AssertionError: throughput is too low\nsrun: error: n7: task 0: Exited with exit code 1\n"
ENDED = "srun: Terminating StepId=4711.0\n"
KILLED = "srun: error: n7: tasks 1-7: Killed\n"


def test_what_srun_killed_after_the_first_failure_is_a_consequence(analyze: Callable[..., Report]) -> None:
    assert analyze(slurm_out=EXITED + ENDED + KILLED).causes[0].id == "code.exception"


def test_what_was_killed_before_srun_ended_the_step_is_none(analyze: Callable[..., Report]) -> None:
    assert analyze(slurm_out=KILLED + ENDED).causes[0].id == "process.worker_died"
