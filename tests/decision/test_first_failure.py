"""What one process died of, and what waited for it, if the ranks did not work on."""

from collections.abc import Callable

import pytest

from forensics.model import Report

Analyze = Callable[..., Report]
STEPS = "".join(f"2026-10-03 08:0{n // 6}:{n % 6 * 10:02d} INFO train: step {n} loss {3 / (n + 1):.3f}\n" for n in range(12))
MORE = "".join(f"[rank0]: step {n} loss 0.1\n" for n in range(12, 24))
RAISED = '[rank1]: Traceback (most recent call last):\n[rank1]:   File "/home/u/train.py", line 30, in step\n[rank1]:     step()\n[rank1]: {}\n'
TIMED_OUT = (
    "[rank0]:[E1003 08:12:21.123456789 ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=4711, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600012 milliseconds before timing "
    "out.\n[rank0]: Traceback (most recent call last):\n"
    '[rank0]:   File "/home/u/train.py", line 40, in <module>\n[rank0]:     loss.backward()\n'
    "[rank0]: torch.distributed.DistBackendError: NCCL communicator was aborted on rank 0.\n"
)
FULL = RAISED.format("OSError: [Errno 28] No space left on device")
WAITED = "distributed.timeout"


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("error", "cause"),
    [
        ("OSError: [Errno 5] Input/output error: '/data/shard_3.tar'", "storage.io_error"),
        ("OSError: [Errno 24] Too many open files: '/data/x'", "process.resource_limit"),
        ("RuntimeError: CUDA error: device-side assert triggered", "gpu_program.device_assert"),
        ("RuntimeError: CUDA error: uncorrectable ECC error encountered", "gpu_hardware.ecc"),
    ],
)
def test_what_a_rank_raised_is_the_reason_why_another_waited(analyze: Analyze, error: str, cause: str) -> None:
    found = analyze(train_log=STEPS + RAISED.format(error) + TIMED_OUT).causes[0]
    assert (found.id, found.evidence[0].text) == (cause, f"[rank1]: {error}")


@pytest.mark.seconds
@pytest.mark.parametrize(
    "log",
    [
        STEPS + FULL + MORE + TIMED_OUT,
        STEPS + FULL + MORE.replace("[rank0]", "[rank1]") + TIMED_OUT,
        STEPS + "[rank1]: WARNING: no summary written: [Errno 28] No space left on device\n" + TIMED_OUT,
    ],
    ids=["others worked on", "it worked on", "a warning"],
)
def test_what_kept_nobody_waiting_is_no_reason(analyze: Analyze, log: str) -> None:
    assert analyze(train_log=log).causes[0].id == WAITED
