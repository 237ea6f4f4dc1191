"""A loop of tries: why the last one failed is the reason of the exception that only counts them."""

from collections.abc import Callable

import pytest

from forensics.model import Report
from forensics.readers.python.exception_words import tells_of_failed_tries

Analyze = Callable[..., Report]
FULL, STALE = "[Errno 28] No space left on device: /cache/x", "[Errno 116] Stale file handle: '/nfs/x'"
STEPS = "".join(f"2026-10-03 08:06:{n:02d} INFO train: step {n} loss {3 / (n + 1):.3f}\n" for n in range(20))


def _raised(error: str) -> str:
    return f'Traceback (most recent call last):\n  File "dl.py", line 3, in <module>\n    main()\n{error}\n'


def _other_tries(last: str) -> str:
    first = "".join(f"2026-10-03 08:0{n}:00 WARNING dl: attempt {n}/5 failed: Read timed out.\n" for n in range(1, 5))
    return first + f"2026-10-03 08:05:00 ERROR dl: attempt 5/5 failed: {last}\n"


def _same_tries(why: str) -> str:
    return "".join(f"2026-10-03 08:0{n}:00 WARNING ck: save failed, try {n}: {why}\n" for n in range(1, 4))


def _logged_tries(why: str) -> str:
    tries = "".join(f"[2026-10-03 08:0{n}:00,123][io][WARNING] - write failed ({why}), retrying in {n} s\n" for n in range(1, 4))
    return tries + f"[2026-10-03 08:04:00,123][io][ERROR] - write failed ({why}), giving up\n"


@pytest.mark.seconds
@pytest.mark.parametrize(("why", "cause"), [(FULL, "storage.full"), (STALE, "storage.network_fs")])
@pytest.mark.parametrize(
    ("tries", "error"),
    [
        (_other_tries, "RuntimeError: download failed after 5 attempts"),
        (_same_tries, "Exception: all 3 tries failed"),
        (_logged_tries, "mylib.errors.RetriesExhausted: gave up after 4 tries"),
    ],
)
def test_why_the_last_try_failed_is_the_reason(
    analyze: Analyze, why: str, cause: str, tries: Callable[[str], str], error: str
) -> None:
    found = analyze(train_log=tries(why) + _raised(error)).causes[0]
    assert found.id == cause and why in found.evidence[0].text


@pytest.mark.seconds
@pytest.mark.parametrize(
    "log",
    [
        _other_tries(STALE) + STEPS + _raised("RuntimeError: evaluation failed after 5 attempts"),
        _same_tries(STALE) + _raised("KeyError: 'label'"),
    ],
    ids=["worked between", "another error"],
)
def test_tries_that_the_exception_does_not_tell_of_are_no_reason(analyze: Analyze, log: str) -> None:
    assert analyze(train_log=log).causes[0].id == "code.exception"


@pytest.mark.parametrize(
    ("exception", "message", "tries"),
    [
        ("RuntimeError", "download failed after 5 attempts", True),
        ("tenacity.RetryError", "RetryError[<Future at 0x7f raised OSError>]", True),
        ("OSError", "the maximum number of retries (2) is exhausted", True),
        ("KeyError", "'tries'", False),
        ("ValueError", "the loss is 0 after 5 epochs", False),
    ],
)
def test_which_exceptions_only_count_tries(exception: str, message: str, tries: bool) -> None:
    assert tells_of_failed_tries(exception, message) is tries
