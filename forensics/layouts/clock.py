"""Pieces that stamps are made of: month names, fractions, zones. A stamp that is no real time is no stamp."""

import re
from datetime import UTC, datetime, timedelta, timezone

from forensics.model import Stamp

NO_YEAR = 1904  # a leap year, so that 29 February without a year can be told
MONTHS = {m: i for i, m in enumerate(("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1)}
DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
MONTH = r"(?P<mon>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
CLOCK = r"(?P<h>[0-2]\d):(?P<m>[0-5]\d):(?P<s>[0-6]\d)"
TIME = CLOCK + r"(?:[.,](?P<frac>\d{1,9}))?"
ISO_DATE = r"(?P<y>[12]\d{3})-(?P<mo>[01]\d)-(?P<d>[0-3]\d)"
ISO = ISO_DATE + "[T ]" + TIME
ZONE = r"(?P<zone>Z|[+-]\d\d:?\d\d)"


def stamp(found: re.Match[str]) -> Stamp | None:
    """The Stamp of a match with some of the groups y mo|mon d h m s frac zone mono; None where they are no real time."""
    groups = found.groupdict()
    mono = float(groups["mono"]) if groups.get("mono") else None
    if not groups.get("h"):
        return Stamp(mono=mono, resolution_s=1e-6) if mono is not None else None
    month = MONTHS[groups["mon"].lower()] if groups.get("mon") else int(groups.get("mo") or 1)
    year, day = groups.get("y"), groups.get("d")
    fraction = groups.get("frac") or ""
    try:
        wall = datetime(
            _year(year) if year else NO_YEAR,
            month,
            int(day or 1),
            int(groups["h"]),
            int(groups["m"]),
            min(int(groups["s"]), 59),
            int(fraction.ljust(6, "0")[:6] or 0),
            tzinfo=_zone(groups.get("zone")),
        )
    except ValueError:
        return None
    return Stamp(wall, mono, "" if year else "year" if day else "date", 10.0 ** -len(fraction))


def _year(text: str) -> int:
    return int(text) + (2000 if len(text) == 2 else 0)


def _zone(text: str | None) -> timezone | None:
    if not text:
        return None
    if text in ("Z", "UTC", "GMT"):
        return UTC
    sign = -1 if text[0] == "-" else 1
    digits = text[1:].replace(":", "")
    return timezone(sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:])))
