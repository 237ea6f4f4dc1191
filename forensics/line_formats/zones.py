"""Offsets of time zone names: `UTC`, `CEST`, `+02:00`. An ambiguous name has no offset.

`CST` is Chicago, Shanghai or Havana; `IST` is India, Ireland or Israel: such a name is kept as text (Stamp.zone).
Source: the abbreviations of the tz database in use since 2000.
"""

from datetime import UTC, timedelta, timezone

from forensics.core import lazy

OFFSET_HOURS = {
    **dict.fromkeys(("Z", "UTC", "GMT", "WET", "UCT"), 0.0),
    **dict.fromkeys(("CET", "MEZ", "WEST", "WAT"), 1.0),
    **dict.fromkeys(("CEST", "MESZ", "EET", "SAST", "CAT"), 2.0),
    **dict.fromkeys(("EEST", "MSK", "EAT"), 3.0),
    **dict.fromkeys(("PKT",), 5.0),
    **dict.fromkeys(("WIB",), 7.0),
    **dict.fromkeys(("HKT", "AWST"), 8.0),
    **dict.fromkeys(("JST", "KST"), 9.0),
    **dict.fromkeys(("ACST",), 9.5),
    **dict.fromkeys(("AEST",), 10.0),
    **dict.fromkeys(("ACDT",), 10.5),
    **dict.fromkeys(("AEDT",), 11.0),
    **dict.fromkeys(("NZST",), 12.0),
    **dict.fromkeys(("NZDT",), 13.0),
    **dict.fromkeys(("BRT",), -3.0),
    **dict.fromkeys(("EDT",), -4.0),
    **dict.fromkeys(("EST", "CDT"), -5.0),
    **dict.fromkeys(("MDT",), -6.0),
    **dict.fromkeys(("MST", "PDT"), -7.0),
    **dict.fromkeys(("PST", "AKDT"), -8.0),
    **dict.fromkeys(("AKST",), -9.0),
    **dict.fromkeys(("HST",), -10.0),
}
OFFSET_PATTERN = lazy.regex(r"([+-])(\d\d):?(\d\d)?$")
ZONE = r"(?P<zone>Z|[+-]\d\d:?\d\d)"
NAMED_ZONE = r"(?P<zone>Z|[+-]\d\d(?::?\d\d)?|[A-Z]{3,5})"


def zone(text: str) -> timezone | None:
    """The offset of the zone `text`; None if it is not a zone or is ambiguous."""
    hours = OFFSET_HOURS.get(text)
    if hours is not None:
        return timezone(timedelta(hours=hours)) if hours else UTC
    found = OFFSET_PATTERN.match(text)
    if not found:
        return None
    offset = timedelta(hours=int(found[2]), minutes=int(found[3] or 0))
    return timezone(-offset if found[1] == "-" else offset) if offset < timedelta(hours=24) else None
