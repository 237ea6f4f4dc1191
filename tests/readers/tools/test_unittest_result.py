"""The result of Python's unittest, as its runner printed it."""

from collections.abc import Callable

import pytest

from forensics.model import Report

Analyze = Callable[..., Report]
OUTPUT = """\
ERROR:root:checkpoint write failed: [Errno 28] No space left on device
..
----------------------------------------------------------------------
Ran 2 tests in 0.000s

{}
"""


@pytest.mark.parametrize("prefix", ["", "2026-10-03 08:05:10 "])
@pytest.mark.parametrize(
    ("result", "verdict"), [("OK", "no_crash"), ("OK (skipped=1)", "no_crash"), ("FAILED (errors=1)", "crash"), ("", "crash")]
)
def test_no_test_failed(analyze: Analyze, prefix: str, result: str, verdict: str) -> None:
    log = "".join(f"{prefix}{line}\n" for line in OUTPUT.format(result).splitlines())
    assert analyze(ci_log=log).verdict == verdict
