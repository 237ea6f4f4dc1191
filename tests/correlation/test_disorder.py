"""Logs whose lines are in no order of time. All of them are made here."""

import random
from collections.abc import Callable

import pytest

from forensics.correlation.timestamp_resolver import is_disordered
from forensics.decision.doubts import DISORDERED_MAX
from forensics.model import Line, Report
from forensics.readers.stamps.clock_samples import clock_sample

STEPS = [f"2025-08-22 03:00:{s:02d},000 INFO step {s}" for s in range(0, 50, 2)]
FULL = "OSError: [Errno 28] No space left on device"


def shuffled(lines: list[str], seed: int = 1) -> list[str]:
    return random.Random(seed).sample(lines, len(lines))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param(STEPS, False, id="in order"),
        pytest.param(STEPS[::-1], False, id="newest first"),
        pytest.param(STEPS + STEPS, False, id="two logs one behind the other"),
        pytest.param(STEPS[:6] * 9, False, id="nine short logs one behind the other"),
        pytest.param([x for pair in zip(STEPS[1:], STEPS, strict=False) for x in pair], False, id="two ranks, one late"),
        pytest.param(shuffled(STEPS), True, id="shuffled"),
        pytest.param(shuffled(STEPS, 2), True, id="shuffled in another way"),
        pytest.param(shuffled(STEPS)[:8], False, id="too few"),
        pytest.param([f"[  {x[17:19]}.000000] usb 1-1: x" for x in shuffled(STEPS)], True, id="seconds since boot"),
    ],
)
def test_shuffled_lines_are_recognised_as_disordered(lines: list[str], expected: bool) -> None:
    found = (clock_sample(Line(number, text)) for number, text in enumerate(lines, 1))
    assert is_disordered(m for m in found if m) is expected


def test_a_cause_from_a_disordered_log_gets_a_low_probability(analyze: Callable[..., Report]) -> None:
    ordered = analyze(train_log="\n".join([*STEPS, FULL]))
    report = analyze(train_log="\n".join(shuffled([*STEPS, FULL])))
    assert ordered.causes[0].id == report.causes[0].id == "storage.full"
    assert ordered.causes[0].probability > DISORDERED_MAX >= report.causes[0].probability
    assert [w.kind for w in report.warnings if w.kind == "order"] == ["order"]
    assert any("stamps of these lines go back and forth" in u.why for u in report.missing)
