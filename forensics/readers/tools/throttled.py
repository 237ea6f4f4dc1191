"""Signs that heat or the power brake held clocks down, as counters tell it (series/throttling.py: as tables tell it).

    HW Thermal Slowdown               : 2100000000 us                       -> ... for 35 min since the driver started
    .../cpu0/thermal_throttle/core_throttle_total_time_ms:954000            -> a processor for 15.9 min since the boot

The power cap is no sign: a busy GPU is at it all the time. Wordings: nvidia-smi -q -d PERFORMANCE (Clocks Event Reasons
Counters), drivers/thermal/intel/therm_throt.c.
"""

from collections.abc import Iterator

from forensics.core import lazy
from forensics.model import Scan, Trigger
from forensics.readers.tools.machine_load import Sign

TRIGGER = Trigger("throttled", ("_throttle_total_time_ms", "thermal slowdown  ", "hw power braking"))
COUNTERS = (  # pattern, units a second, what held it down, what was held down, since when it counts
    (lazy.regex(r"/thermal_throttle/\w+_throttle_total_time_ms\s*+[:=]?\s*+(\d{1,15})\s*$"), 1e3, "heat", "a processor", "boot"),
    (lazy.regex(r"\b[HS]W Thermal Slowdown\s++: (\d{1,18}) us\s*$"), 1e6, "heat", "a GPU", "driver's start"),
    (lazy.regex(r"\bHW Power Braking\s++: (\d{1,18}) us\s*$"), 1e6, "the power brake", "a GPU", "driver's start"),
)
MIN_HELD_S = 60.0  # chosen by hand: bursts of some milliseconds are ordinary, and nobody notices a minute in a day


def throttle_signs(scan: Scan) -> Iterator[Sign]:
    """The longest time that a counter tells."""
    counted = [sign for region in scan.regions.get(TRIGGER.kind, ()) if (sign := _counted(region.number, region.text))]
    yield from sorted(counted, key=lambda s: -s.size)[:1]


def _counted(number: int, text: str) -> Sign | None:
    for pattern, units_per_second, reason, held, since in COUNTERS:
        if found := pattern.search(text):
            seconds = int(found[1]) / units_per_second
            why = f"{reason} held the clocks of {held} down for {_duration(seconds)} in all since the {since}"
            return Sign(number, text, why, seconds) if seconds >= MIN_HELD_S else None
    return None


def _duration(seconds: float) -> str:
    return f"{seconds / 3600:.1f} h" if seconds >= 3600 else f"{seconds / 60:.1f} min"
