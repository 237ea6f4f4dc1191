"""Parse timestamps: dates, times of day, epochs, uptimes. A time that does not exist (31 February) gives no Stamp.

Aug 22 03:00:07 -> wall 08-22 03:00:07, lacks the year      1755831607.123456 -> wall 2025-08-22 03:00:07.123456 UTC
[11686.888109]  -> mono 11686.888109                        [  +7.000000]     -> delta 7.0
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from forensics.line_formats.months import month
from forensics.line_formats.zones import NAMED_ZONE, ZONE, zone
from forensics.model import Stamp

__all__ = [
    "CLOCK_PATTERN",
    "DAY",
    "ISO_DATE",
    "ISO_STAMP",
    "MONO",
    "MONTH",
    "NAMED_ZONE",
    "NO_YEAR",
    "STAMP_FOLLOWS",
    "TIME_OF_DAY",
    "ZONE",
    "stamp",
]

NO_YEAR = 1904  # a leap year, so that 29 February without a year is valid
DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
MONTH = r"(?P<mon>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
ANY_MONTH = r"(?P<mon>[^\W\d]{2,7}\.?|1?\d[月월])"
CLOCK_PATTERN = r"(?P<h>[0-2]\d):(?P<m>[0-5]\d):(?P<s>[0-6]\d)"
TIME_OF_DAY = CLOCK_PATTERN + r"(?:[.,](?P<frac>\d{1,9}))?"
ISO_DATE = r"(?P<y>[12]\d{3})-(?P<mo>[01]\d)-(?P<d>[0-3]\d)"
ISO_STAMP = ISO_DATE + "[T ]" + TIME_OF_DAY
MONO = r"(?P<mono>\d{1,8}\.\d{6})"
# A prefix that could be ordinary text (a file name, a number, a host) is accepted only if a timestamp or rank follows it.
STAMP_FOLLOWS = (
    r"(?=(?:<\d{1,3}>)?\[ *\d{1,8}\.\d{6}|\[[^\W\d]{2,4}\.? +[^\W\d]{2,7}\.? +\d|"
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d [\d:]{8}|\[?\d{4}-\d\d-\d\d[T ]|\[[DIWEC] [\d:-]+|"
    r"[IWEF]\d{4} [\d:]{8}|\[(?:rank|default)\d+\]|\[[IWEF]\d{3,4} [\d:]{8})"
)
EPOCH_FIRST, EPOCH_PAST = 946_684_800, 4_102_444_800  # seconds: years 2000 to 2099; other numbers are not times
EPOCH_START = datetime(1970, 1, 1, tzinfo=UTC)


def stamp(groups: Mapping[str, str]) -> Stamp | None:
    """The Stamp of a match with some of the groups y mo|mon d h m s frac ampm zone unix mono delta.

    None if that time does not exist. `unix`: 10 digits are seconds, 13 ms, 16 us, 19 ns.
    """
    mono = groups.get("mono")
    uptime = float(mono) if mono else None
    if groups.get("h"):
        return _wall(groups, uptime)
    if groups.get("unix"):
        return _epoch(groups["unix"], groups.get("frac") or "")
    delta = groups.get("delta")
    if delta:
        return Stamp(delta=float(delta), resolution_s=60.0)
    return Stamp(mono=uptime, resolution_s=1e-6) if uptime is not None else None


def _wall(groups: Mapping[str, str], uptime: float | None) -> Stamp | None:
    get = groups.get
    year, day, zone_name = get("y"), get("d"), get("zone") or ""
    minute = _minute(year, get("mon"), get("mo"), day, groups["h"], get("ampm"), groups["m"], zone_name)
    if minute is None:
        return None
    fraction, seconds = get("frac") or "", get("s")
    microsecond = int(fraction.ljust(6, "0")[:6]) if fraction else 0
    wall = minute
    if seconds:  # a new time takes half as long as replace()
        at = minute.year, minute.month, minute.day, minute.hour, minute.minute
        wall = datetime(*at, min(int(seconds), 59), microsecond, minute.tzinfo)
    resolution = 10.0 ** -len(fraction) if seconds else 60.0
    unknown_zone = zone_name if zone_name and wall.tzinfo is None else ""
    return Stamp(wall, uptime, "" if year else "year" if day else "date", resolution, None, unknown_zone)


@lru_cache(maxsize=4096)  # all lines of one minute share an entry
def _minute(
    year: str | None,
    month_name: str | None,
    number: str | None,
    day: str | None,
    hour: str,
    half: str | None,
    minute: str,
    zone_name: str,
) -> datetime | None:
    """The time of a match without its seconds; None if that time or its offset does not exist. `half`: AM or PM."""
    month_number = month(month_name) if month_name else int(number or 1)
    tz = zone(zone_name) if zone_name else None
    if month_number is None or (tz is None and zone_name.startswith(("+", "-"))):
        return None
    try:
        return datetime(
            _year(year) if year else NO_YEAR,
            month_number,
            int(day or 1),
            _hour(int(hour), (half or "").lower()),
            int(minute),
            tzinfo=tz,
        )
    except ValueError:
        return None


def _hour(hour: int, half: str) -> int:
    """The hour, 0 to 23. `half`: am, pm or empty. Raises ValueError for an hour that a 12-hour clock does not have."""
    if not half:
        return hour
    if not 1 <= hour <= 12:
        raise ValueError(hour)
    return hour % 12 + 12 * (half[0] == "p")


def _year(text: str) -> int:
    return int(text) + (2000 if len(text) == 2 else 0)


def _epoch(digits: str, fraction: str) -> Stamp | None:
    scale = {10: 0, 13: 3, 16: 6, 19: 9}.get(len(digits))
    if scale is None:
        return None
    seconds, rest = int(digits[:10]), (digits[10:] + fraction).ljust(6, "0")[:6]
    if not EPOCH_FIRST <= seconds < EPOCH_PAST:
        return None
    wall = EPOCH_START + timedelta(seconds=seconds, microseconds=int(rest))
    return Stamp(wall, resolution_s=10.0 ** -(scale + len(fraction)))
