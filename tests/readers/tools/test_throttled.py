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
