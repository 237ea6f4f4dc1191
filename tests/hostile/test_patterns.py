"""No line can hold a pattern of the package up: each runs on 16 KiB lines that are bad for backtracking, in bounded time.

16 KiB is what a stage sees of a line at most (`limits.text`).
"""

import time
from functools import cache
from typing import Any

import pytest

from forensics.core.limits import Limits
from tests.hostile.patterns import all_patterns

LIMIT_S = 0.15  # for each pattern and line; a linear one takes less than a millisecond
MAX_TEXT_BYTES = Limits().text
UNITS = [
    "(", "()", ")", " ", "\t", "0", "0:", ":", "a", "A", "aA0", "a.", ".", "'", '"', "\\", '\\"', "/", "a/", "=", "a=", "-", "--", "_", "a_",
    "[", "[]", "{", "<", "@", "a@", ",", "0,", "0.", "1 ", "a ", "key=", "token", "://", "a://", "0-", "#", "|", "+", "\n", "\r", "x{", "2026-",
    "%", "0%", "1/", "\x1b[", "\x1b]", "rank", "[rank0]", "é", "0x", "Error: ", "  File \"a\"", "step ", "loss ", "a: ", "a=1 ", "-----BEGIN ",
]  # fmt: skip
STARTS = [
    "",
    "x",
    " ",
    "step 1 ",
    "CUDA out of memory. ",
    "-----BEGIN PRIVATE KEY-----",
    "password='",
    '{"log":"',
    "Killed process 1 (",
    "https://",
]
ENDING = "\x00"  # what matches nearly everything before it, and then does not


@cache
def lines() -> tuple[str, ...]:
    made = [unit * (MAX_TEXT_BYTES // len(unit)) for unit in UNITS]
    made += [
        ("(" * 5000 + ")" * 5000)[:MAX_TEXT_BYTES],
        "a" * 8000 + " " * 8000,
        "0" * 8000 + "a" * 8000,
        "/a" * 4000 + " " * 8000,
    ]
    made += [f"{start}{unit * 4000}!" for start in STARTS for unit in ("a", " ", "0", "a ")]
    return (*made, *(line + ENDING for line in made[: len(UNITS)]))


def slowest(pattern: Any) -> tuple[float, str]:
    worst, on = 0.0, ""
    for line in lines():
        subject = line if isinstance(pattern.pattern, str) else line.encode()
        for way in (pattern.search,) if line.endswith(ENDING) else (pattern.search, pattern.fullmatch):
            start = time.thread_time()
            way(subject)
            took = time.thread_time() - start
            if took > worst:
                worst, on = took, line
            if worst > LIMIT_S:
                return worst, on
    return worst, on


@pytest.mark.slow  # it times 300 patterns on long lines: a minute, and only on a quiet machine
def test_no_pattern_takes_longer_than_it_may() -> None:
    patterns = all_patterns()
    assert len(patterns) > 150
    took = {name: slowest(pattern) for name, pattern in sorted(patterns.items())}
    assert [f"{name}: {s:.2f} s on {line[:30]!r}...{line[-12:]!r}" for name, (s, line) in took.items() if s >= LIMIT_S] == []
