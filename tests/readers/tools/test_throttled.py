"""Clocks that heat or the power brake held down, as nvidia-smi and the kernel's counters tell it."""

from collections.abc import Callable

import pytest

from forensics.model import Report

Analyze = Callable[..., Report]
COUNTERS = """\
    Clocks Event Reasons Counters
        SW Power Capping                  : 9165687000 us
        Sync Boost                        : 0 us
        SW Thermal Slowdown               : {0} us
        HW Thermal Slowdown               : 0 us
        HW Power Braking                  : {1} us
"""
HEADER = (
    "timestamp, index, temperature.gpu, clocks.sm [MHz], clocks_event_reasons.active, "
    "clocks_event_reasons.hw_thermal_slowdown, clocks_event_reasons.sw_power_cap\n"
)


def held(report: Report) -> list[str]:
    return [n.why for n in report.notices if "held the clocks" in n.why]


@pytest.mark.parametrize(
    ("log", "told"),
    [
        (COUNTERS.format(2_100_000_000, 0), ["heat held the clocks of a GPU down for 35.0 min in all since the driver's start"]),
        (
            COUNTERS.format(0, 7_200_000_000),
            ["the power brake held the clocks of a GPU down for 2.0 h in all since the driver's start"],
        ),
        (COUNTERS.format(903_158, 0), []),  # a second in all
        (
            "/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_total_time_ms:954000\n"
            "/sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_total_time_ms:1230456\n",
            ["heat held the clocks of a processor down for 20.5 min in all since the boot"],
        ),
        ("/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_total_time_ms:0\n", []),
        ("/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count:18821\n", []),  # how long is not told
    ],
)
def test_a_counter_tells_how_long(analyze: Analyze, log: str, told: list[str]) -> None:
    assert held(analyze(monitor_txt=log)) == told


def row(second: int, mask: str, hot: str, capped: str) -> str:
    return f"2026/03/21 10:00:{second:02}.123, 0, 88, 810 MHz, {mask}, {hot}, {capped}\n"


def test_a_table_tells_the_share_of_readings(analyze: Analyze) -> None:
    """The bits of `active` and the column of a reason are one thing; hw slowdown (0x8) stands for heat here, and says less."""
    cool, hot = row(0, "0x0000000000000000", "Not Active", "Active"), "0x0000000000000048"
    report = analyze(gpu_csv=HEADER + cool + "".join(row(s, hot, "Active", "Active") for s in (10, 20, 30)))
    assert held(report) == ["heat held the clocks of GPU 0 down in 3 of 4 readings (hw thermal slowdown)"]
    assert report.verdict == "no_crash"


@pytest.mark.parametrize("mask", ["0x0000000000000004", "0x0000000000000001"])
def test_the_power_cap_and_idling_are_normal(analyze: Analyze, mask: str) -> None:
    rows = "".join(row(s, mask, "Not Active", "Active") for s in (0, 10, 20, 30))
    assert held(analyze(gpu_csv=HEADER + rows)) == []
