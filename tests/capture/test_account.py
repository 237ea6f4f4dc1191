"""Limits of processor time: the kernel ends a process by ticks, and tells what it used exactly."""

from types import SimpleNamespace
from typing import Any

import pytest

from forensics.capture import account


@pytest.mark.parametrize(
    ("limit_s", "used_s", "ended", "told"),
    [
        (1, 0.86, {"signal": 9}, True),
        (60, 59.9, {"signal": 9}, True),
        (60, 3.0, {"signal": 24}, True),
        (60, 40.0, {"signal": 9}, False),
        (0, 40.0, {"signal": 9}, False),
    ],
)
def test_a_limit_of_processor_time_is_told_where_it_was_reached(
    limit_s: int, used_s: float, ended: dict[str, int], told: bool
) -> None:
    root: dict[str, Any] = {"pid": 7, "comm": "python3", "end": 9.0, "cpu_limit_s": limit_s, "cpu_s": used_s, **ended}
    collector: Any = SimpleNamespace(options=SimpleNamespace(time_limit_s=0.0), tree=SimpleNamespace(ends=[root]), root=7)
    lines = account._limits(collector, 9.0, root)
    assert lines == ([f"pid 7 (python3) had used its limit of {limit_s} s of processor time"] if told else [])
