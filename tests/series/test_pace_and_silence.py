"""Runs that slow down, and runs that stop."""

import datetime
import random
from collections.abc import Callable

import pytest

from forensics.model import Observation

Told = Callable[[str], list[Observation]]
START = datetime.datetime(2025, 3, 1, 23, 50)


def steps(seconds: list[float], form: str = "step {i}/1000 loss 2.0 step_time {s:.3f}", after: str = "") -> str:
    clock, lines = START, []
    for i, s in enumerate(seconds):
        clock += datetime.timedelta(seconds=s)
        lines.append(f"{clock:%Y-%m-%d %H:%M:%S} " + form.format(i=i, s=s))
    return "\n".join(lines) + "\n" + after


def at(seconds: float) -> str:
    return f"{START + datetime.timedelta(seconds=seconds):%Y-%m-%d %H:%M:%S}"


def test_a_slow_down_is_for_the_timeline(told: Told) -> None:
    rng = random.Random(1)
    (event,) = told(steps([rng.uniform(0.9, 1.1) * (3.0 if i >= 50 else 1.0) for i in range(100)]))
    assert (event.kind, event.cause) == ("series/slow-down", None)
    assert event.fields["slower_by"] == pytest.approx(3, rel=0.1)
    assert event.fields["step_no"] == pytest.approx(50, abs=1)


@pytest.mark.parametrize("factor", [1.0, 1.3])
def test_a_steady_pace_is_silent(factor: float, told: Told) -> None:
    assert told(steps([factor if i >= 50 else 1.0 for i in range(100)])) == []


def test_a_slow_down_that_ends_is_silent(told: Told) -> None:
    assert told(steps([5.0 if 30 <= i < 50 else 1.0 for i in range(100)])) == []


@pytest.mark.parametrize(("share", "kind"), [(0.95, "series/starved"), (0.1, "series/slow-down")])
def test_steps_that_wait_for_data_are_told_from_slow_ones(share: float, kind: str, told: Told) -> None:
    lines = [f"step {i} loss 2.0 time: {t:.3f}, data_time: {t * share if i >= 40 else 0.01:.3f}\n" for i in range(80) for t in [8.0 if i >= 40 else 0.5]]  # fmt: skip
    assert [e.kind for e in told("".join(lines))] == [kind]


def test_heat_explains_a_slow_down(told: Told) -> None:
    rows = [f"2025/03/01 10:00:00.000, 0, {88 if i > 40 else 60}, 900 MiB\n" for i in range(80)]
    text = "timestamp, index, temperature.gpu, memory.used [MiB]\n"
    lines = [row + f"step {i} loss 2.0 step_time {2.0 if i > 40 else 1.0}\n" for i, row in enumerate(rows)]
    (event,) = told(text + "".join(lines))
    assert (event.kind, event.cause) == ("series/throttled", "gpu_hardware.thermal_power")
    assert event.fields["temperature_c"] == 88


def heartbeat(first: float, count: int, every: float) -> str:
    return "".join(f"{at(first + i * every)} PULSE: job is running ({4711 + i})\n" for i in range(count))


def test_silence_beside_a_heartbeat_is_a_stall_across_midnight(told: Told) -> None:
    (event,) = told(steps([10.0] * 60, after=heartbeat(900, 5, 3600)))
    assert (event.kind, event.cause, event.weight) == ("series/silence", "process.stalled", "strong")
    assert event.fields["silent_s"] == 900 + 4 * 3600 - 600
    assert event.fields["usual_s"] == 10.0
    assert event.fields["step_no"] == 59
    assert event.proofs[0].line == 65


def test_a_few_lines_of_progress_are_a_hint(told: Told) -> None:
    (event,) = told(steps([10.0] * 6, after=heartbeat(900, 5, 3600)))
    assert event.weight == "hint"


@pytest.mark.parametrize(
    ("seconds", "after"),
    [
        ([10.0] * 60, heartbeat(650, 5, 30)),
        ([10.0] * 60, f"{at(605)} training finished\n" + heartbeat(900, 5, 3600)),
        ([10.0] * 60, f"{at(602)} RuntimeError: shapes differ\n" + heartbeat(900, 5, 3600)),
        ([10.0] * 30 + [1800.0] + [10.0] * 29, heartbeat(2700, 4, 600)),
        ([10.0] * 1001, heartbeat(11000, 5, 3600)),
        ([10.0] * 60, ""),
    ],
    ids=["short", "finished", "died at once", "such pauses are usual", "last step", "nothing after"],
)
def test_other_silences_are_no_stall(seconds: list[float], after: str, told: Told) -> None:
    assert told(steps(seconds, after=after)) == []


def test_trouble_after_the_silence_is_a_hint_of_a_stall(told: Told) -> None:
    (event,) = told(steps([10.0] * 60, after=f"{at(600 + 7200)} job was killed by its owner\n"))
    assert (event.kind, event.weight) == ("series/silence", "hint")


def test_one_rank_falls_behind(told: Told) -> None:
    lines = [f"[rank{r}]: step {i} loss 2.0\n" for i in range(60) for r in range(4) if r != 2 or i < 30]
    (event,) = told("".join(lines))
    assert (event.kind, event.fields["rank"], event.fields["step_no"]) == ("series/behind", 2, 29)


def test_the_usual_interval_is_that_of_one_rank(told: Told) -> None:
    ranks = "".join(f"[rank{r}] {at(10 * i + r)} INFO step {i}/900 loss 2.0\n" for i in range(40) for r in range(4))
    beats = "".join(f"launcher {at(2000 + 60 * i)} INFO 4 of 4 ranks are alive\n" for i in range(20))
    (event,) = told(ranks + beats)
    assert (event.kind, event.fields["usual_s"], event.fields["step_no"], event.fields["last_step"]) == (
        "series/silence",
        10,
        39,
        900,
    )
