"""Evaluations that keep memory, and what a slow-down cost; the many forms are in truth_pace.py."""

from collections.abc import Callable

import pytest

from forensics.model import Observation

Told = Callable[[str], list[Observation]]
EIO = "OSError: [Errno 5] Input/output error: '/data/shard-0012.tar'\n"


def with_evaluations(levels: list[float], steps: int = 5) -> str:
    """`steps` lines of training at each level in MiB, an evaluation between them."""
    train = (
        [f"step {e * steps + i} loss 2.1 rss {v:.0f} MiB\n" for i in range(steps)] + ["validation loss 2.3\n"]
        for e, v in enumerate(levels)
    )
    return "".join(line for lines in train for line in lines)


def test_each_evaluation_keeps_memory(told: Told) -> None:
    (event,) = told(with_evaluations([1000 + 100 * e for e in range(8)]))
    assert (event.kind, event.cause, event.weight) == ("series/evaluation-jump", "host_memory.leak", "strong")
    assert (event.fields["evaluations"], event.fields["jump_bytes"]) == (7, 100 << 20)
    assert (event.fields["first_bytes"], event.fields["last_bytes"]) == (1000 << 20, 1700 << 20)


@pytest.mark.parametrize(
    "levels", [[1000, 1400, 1410, 1410, 1410, 1410], [1000, 1300, 1000, 1300, 1000, 1300, 1000, 1300], [1000, 1200]]
)
def test_a_pool_that_fills_once_or_is_given_back_is_healthy(levels: list[float], told: Told) -> None:
    assert told(with_evaluations(levels)) == []


def test_growth_between_evaluations_is_a_plain_leak(told: Told) -> None:
    text = "".join(f"step {i} loss 2.1 rss {1000 + 20 * i} MiB\n" + ("val_loss 2.0\n" if i % 8 == 7 else "") for i in range(64))
    assert [e.kind for e in told(text)] == ["series/growth"]


def waiting(share: float, factor: float, after: str = "") -> str:
    times = ((i, factor if i >= 40 else 1.0) for i in range(80))
    return "".join(f"step {i} loss 2.0 time: {t}, data_time: {t * share if t > 1 else 0.01}\n" for i, t in times) + after


def test_slower_files_are_a_hint_where_files_failed(told: Told) -> None:
    found = {e.kind: e.cause for e in told(waiting(0.7, 3.0, EIO))}
    assert found["series/slow-down"] is not None and found["series/slow-down"].startswith("storage.")
    assert [e.cause for e in told(waiting(0.7, 3.0))] == [None]
    assert [e.cause for e in told(waiting(0.1, 3.0, EIO))] == [None]


@pytest.mark.parametrize(("mask", "weight"), [("0x0000000000000040", "strong"), ("0x0000000000000001", "hint")])
def test_clocks_held_down_since_the_slow_down_are_strong_evidence(mask: str, weight: str, told: Told) -> None:
    text = "index, temperature.gpu, memory.used [MiB], clocks_throttle_reasons.active\n"
    for i in range(60):
        text += f"0, 86, 900 MiB, {mask if i >= 30 else '0x0000000000000000'}\nstep {i} loss 2.0 step_time {2.0 if i >= 30 else 1.0}\n"
    (event,) = told(text)
    assert (event.kind, event.weight, event.fields["temperature_c"]) == ("series/throttled", weight, 86)
    assert event.fields.get("reason") == ("hw thermal slowdown" if weight == "strong" else None)


def test_a_power_cap_that_was_always_there_explains_nothing(told: Told) -> None:
    text = "index, temperature.gpu, memory.used [MiB], clocks_throttle_reasons.active\n"
    for i in range(60):
        text += f"0, 66, 900 MiB, 0x0000000000000004\nstep {i} loss 2.0 step_time {2.0 if i >= 30 else 1.0}\n"
    assert [e.kind for e in told(text)] == ["series/slow-down"]


def test_clocks_of_two_logs_mixed_in_one_are_no_silence(told: Told) -> None:
    text = "".join(f"2025-03-01 23:50:{i:02d} step {i}/1000 loss 2.0 step_time 1.0\n" for i in range(50))
    assert told(text + "2025-03-01 04:00:00 step time of another clock\n" * 3) == []
