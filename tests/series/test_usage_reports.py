"""What a server reports of its memory, captured from a notebook that keeps every batch (`captured/jupyter_usage/leak.ipynb`).

Its server (jupyter_server 2.21 with jupyter-resource-usage 1.3, MEM_LIMIT 1 GiB) was asked once a second: `metrics.jsonl` is
/api/metrics/v1, `kernel_usage.jsonl` /api/metrics/v1/kernel_usage, `metrics.prom` /metrics, of which the lines on memory are kept.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from forensics import analyze
from forensics.model import Observation
from forensics.series import Series

CAPTURED = Path(__file__).parent / "captured" / "jupyter_usage"
MIB = 1 << 20


@pytest.mark.parametrize(
    ("name", "series", "first_mib", "last_mib"),
    [
        ("metrics.jsonl", "Jupyter memory used", 160, 488),
        ("kernel_usage.jsonl", "kernel memory pid 3395", 60, 198),
        ("metrics.prom", "Jupyter memory used", 159, 396),
    ],
)
def test_a_report_is_read(
    name: str, series: str, first_mib: int, last_mib: int, series_of: Callable[[str], dict[str, Series]]
) -> None:
    found = series_of((CAPTURED / name).read_text())[series]
    assert [round(found.values[0] / MIB), round(found.values[-1] / MIB)] == [first_mib, last_mib]


@pytest.mark.parametrize(
    ("name", "speed"),
    [
        ("metrics.jsonl", {"limit_bytes": 1024 * MIB, "limit_readings": 69}),
        ("kernel_usage.jsonl", {"hour_bytes": 22_565_904_253, "span_s": 23}),
    ],
)
def test_it_is_a_leak_with_its_speed_and_forecast(
    name: str, speed: dict[str, int], told: Callable[[str], list[Observation]]
) -> None:
    (event,) = told((CAPTURED / name).read_text())
    assert (event.cause, event.weight) == ("host_memory.leak", "strong")
    assert {n: event.fields[n] for n in speed} == pytest.approx(speed)


def test_readings_with_a_time_tell_when_the_limit_is_reached(told: Callable[[str], list[Observation]]) -> None:
    text = "".join(
        f"total_memory_usage {1e8 + 1e7 * i} {1795406401000 + 60_000 * i}\nmax_memory_usage 4e+08\n" for i in range(20)
    )
    (event,) = told(text)
    assert (event.fields["limit_in_s"], event.fields["hour_bytes"]) == (660, 600_000_000)


def test_the_notebooks_line_is_named() -> None:
    first = analyze([CAPTURED / "metrics.jsonl", CAPTURED / "leak.ipynb"], workers=1).causes[0]
    assert first.id == "host_memory.leak"
    assert "its limit of 1 GiB is reached 69 readings after the last one" in first.summary
    assert first.remediations[0].action == "See whether the list that is filled at leak.ipynb:25 has to hold all of it"


def test_the_server_itself_which_holds_its_memory_is_silent(told: Callable[[str], list[Observation]]) -> None:
    lines = [line for line in (CAPTURED / "metrics.prom").read_text().splitlines() if line.startswith("process_")]
    assert len(lines) > 20
    assert told("\n".join(lines)) == []
