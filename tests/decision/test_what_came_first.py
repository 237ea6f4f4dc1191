"""What ended a rank comes before those who waited for it; what an earlier attempt, or an earlier run, ended with does not count."""

from collections.abc import Callable

import pytest

from forensics.model import Report

Analyze = Callable[..., Report]

STEPS = [f"epoch {1 + i // 10}/4 step {i}/40 loss {3 - i / 20:.4f}" for i in range(20)]
RAISED = 'Traceback (most recent call last):\n  File "/home/u/train.py", line 30, in save\n    step(batch)\n'
WATCHDOG = (
    "[rank0]:[E1003 08:12:21.123456789 ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=4711, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600012 milliseconds before timing out."
)
ABORTED = [
    "[rank0]: Traceback (most recent call last):",
    '[rank0]:   File "/home/u/train.py", line 40, in <module>',
    "[rank0]: torch.distributed.DistBackendError: NCCL communicator was aborted on rank 0.",
    "terminate called after throwing an instance of 'c10::DistBackendError'",
    "Fatal Python error: Aborted",
]


def told(analyze: Analyze, *lines: str) -> tuple[str, str]:
    """The verdict and the first cause."""
    report = analyze(train_log="\n".join(lines) + "\n")
    return report.verdict, report.causes[0].id


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        ("OSError: [Errno 28] No space left on device", "storage.full"),
        ("OSError: [Errno 122] Disk quota exceeded", "storage.full"),
        ("FileNotFoundError: [Errno 2] No such file or directory: '/data/a.bin'", "data.missing"),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", "gpu_memory.capacity"),
        ("KeyError: 'label'", "code.exception"),
    ],
)
@pytest.mark.parametrize("steps", [STEPS, []], ids=["steps", "no steps"])
def test_what_ended_a_rank_stands_before_the_timeout_of_another(
    error: str, cause: str, steps: list[str], analyze: Analyze
) -> None:
    rank = [f"[rank1]: {row}" for row in (RAISED + error).split("\n")]
    assert told(analyze, *steps, *rank, WATCHDOG, *ABORTED) == ("crash", cause)


@pytest.mark.parametrize(
    ("first", "last", "cause"),
    [
        ("OSError: [Errno 28] No space left on device", "KeyError: 'label'", "code.exception"),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", "KeyError: 'label'", "code.exception"),
        ("OSError: [Errno 28] No space left on device", "torch.OutOfMemoryError: CUDA out of memory.", "gpu_memory.capacity"),
    ],
)
@pytest.mark.parametrize("word", ["exit status 1", "Command 'python train.py' exited with code 1"])
def test_the_last_of_two_attempts_counts(first: str, last: str, cause: str, word: str, analyze: Analyze) -> None:
    lines = [*STEPS[:10], RAISED + first, word, "+ rm -rf old", "+ python train.py --resume", *STEPS[10:], RAISED + last, word]
    assert told(analyze, *lines) == ("crash", cause)


@pytest.mark.parametrize(
    "mention",
    [
        "INFO mem: previous run ended with: CUDA out of memory. Tried to allocate 2.00 GiB; using bs=16 now",
        "the earlier training was killed (OSError: [Errno 28] No space left on device), going on from its state",
        "WARNING: a prior job died: NCCL error: unhandled system error",
    ],
)
def test_what_is_told_of_an_earlier_run_is_no_evidence(mention: str, analyze: Analyze) -> None:
    assert told(analyze, mention, *STEPS, RAISED + "KeyError: 'label'") == ("crash", "code.exception")
    assert told(analyze, mention, *STEPS, "Training complete. Saved model.")[0] == "no_crash"


def test_an_error_at_exit_is_no_end(analyze: Analyze) -> None:
    hook = 'Traceback (most recent call last):\n  File "/home/u/log.py", line 3, in flush\n'
    lost = "ConnectionResetError: [Errno 104] Connection reset by peer"
    lines = [*STEPS, "Training complete. Saved model.", "Error in atexit._run_exitfuncs:", hook + lost]
    assert told(analyze, *lines) == ("no_crash", "none.healthy")
