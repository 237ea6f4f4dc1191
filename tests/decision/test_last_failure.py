"""Two failures in one log: the program worked on between them, so the last one ended it, unless the first may have left it."""

from collections.abc import Callable

import pytest

from forensics.model import Report

Analyze = Callable[..., Report]
FULL, KEY = "OSError: [Errno 28] No space left on device", "KeyError: 'label'"
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
MISSING = "FileNotFoundError: [Errno 2] No such file or directory: 'ck_9.pt'"
SHELL = "exit status 1\n+ rm -rf old_ckpts\n+ python train.py --resume\n"
RESUMED = "2026-10-03 08:03:00 INFO train: Resuming from checkpoint ck_9.pt\n"


def _steps(first: int, last: int) -> str:
    return "".join(
        f"2026-10-03 08:0{n // 6}:{n % 6 * 10:02d} INFO train: epoch {n // 10 + 1}/4 step {n}/40 loss {3 / (n + 1):.4f}\n"
        for n in range(first, last)
    )


def _bar(first: int, last: int) -> str:
    return "".join(
        f"Epoch 1:  {n}%|##  | {n}/100 [00:{n:02d}<01:10, 1.2it/s, loss={3 / (n + 1):.2f}]\n" for n in range(first, last)
    )


def _raised(error: str) -> str:
    return f'Traceback (most recent call last):\n  File "/home/u/train.py", line 30, in <module>\n    main()\n{error}\n'


@pytest.mark.seconds
@pytest.mark.parametrize("first", [FULL, OOM, "ModuleNotFoundError: No module named 'apex'"])
@pytest.mark.parametrize(
    ("before", "between"),
    [
        (_steps(0, 10), SHELL + _steps(10, 20)),
        (_steps(0, 10), RESUMED + _steps(10, 20)),
        (_steps(0, 10), "$ python train.py\n" + _steps(0, 12)),
        (_bar(1, 10), ">>> again\n" + _bar(10, 22)),
    ],
    ids=["shell", "resumed", "from the beginning", "bar"],
)
def test_the_last_of_two_failures_ended_it(analyze: Analyze, first: str, before: str, between: str) -> None:
    found = analyze(train_log=before + _raised(first) + between + _raised(KEY)).causes[0]
    assert (found.id, found.evidence[0].text) == ("code.exception", KEY)


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("behind", "last"),
    [("", MISSING), (SHELL, MISSING), (_steps(10, 20), MISSING), ("", KEY), (_steps(10, 11), KEY)],
    ids=["its result", "of the next program", "found late", "at once", "one line written late"],
)
def test_what_the_first_failure_may_have_left_does_not_hide_it(analyze: Analyze, behind: str, last: str) -> None:
    assert analyze(train_log=_steps(0, 10) + _raised(FULL) + behind + _raised(last)).causes[0].id == "storage.full"


@pytest.mark.seconds
@pytest.mark.parametrize(
    "told",
    [
        "2026-10-03 08:00:00 INFO mem: previous run ended with: CUDA out of memory. Tried to allocate 2.00 GiB; using bs=16 now\n",
        "2026-10-03 08:00:00,123 - trainer - INFO - Last attempt failed with RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB.\n",
        '{"time": "2026-10-03T08:00:00Z", "level": "info", "msg": "previous run failed: RuntimeError: CUDA error: an illegal memory access was encountered"}\n',
        "Resuming, as the last run died: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. Now with batch size 8.\n",
    ],
    ids=["info", "logger", "json", "print"],
)
def test_what_is_told_of_an_earlier_run_did_not_end_this_one(analyze: Analyze, told: str) -> None:
    assert analyze(train_log=told + _steps(0, 20) + _raised(KEY)).causes[0].id == "code.exception"
