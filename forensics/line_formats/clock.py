"""Parse timestamps: dates, times of day, epochs, uptimes. A time that does not exist (31 February) gives no Stamp.

Aug 22 03:00:07 -> wall 08-22 03:00:07, lacks the year      1755831607.123456 -> wall 2025-08-22 03:00:07.123456 UTC
[11686.888109]  -> mono 11686.888109                        [  +7.000000]     -> delta 7.0

Month numbers from the C library's abbreviated month names in some thirty languages.

`[Di Aug 12 03:54:03 2025]`, `[mar. janv. 17 02:59:56 2023]`, `[五 11月 19 10:33:00 2021]`: dmesg and syslog use the locale of the
shell. In these languages no name means two different months, so the language need not be known.
Source: the `abmon` and `ab_alt_mon` lines of glibc's localedata.

Offsets of time zone names: `UTC`, `CEST`, `+02:00`. An ambiguous name has no offset.

`CST` is Chicago, Shanghai or Havana; `IST` is India, Ireland or Israel: such a name is kept as text (Stamp.zone).
Source: the abbreviations of the tz database in use since 2000.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache

from forensics.data_files.named_parts import patterns_of
from forensics.model import Stamp

_MONTH_NAMES = (
    "jan gen ene ian jaan janv jän led oca saus sty tammi urt xan ιαν січ янв яну јан",
    "feb febr fev févr helmi lut ots vas veebr úno şub φεβ лют фев",
    "mar bře kov maalis març mars mrt márc mär märts μάρ μαρ бер мар",
    "apr abr api april avr avril bal dub huhti kwi nis ápr απρ апр кві",
    "may geg kvě mag mai maig maj mayo mei máj touko μάι μαΐ май мая мај тра",
    "jun birž cze eka giu haz iun juin juni juny juuni jún jūn kesä xuñ čen ιουν ιούν июн чер юни јун",
    "jul heinä iul juil juli juuli júl jūl liep lip lug tem uzt xul čec ιουλ ιούλ июл лип юли јул",
    "aug abu ag ago agu août avg ağu elo rugp sie srp αυγ αύγ авг сер",
    "sep eyl ira rugs sept set syys szept wrz zář σεπ вер сен сеп",
    "oct eki loka okt ott out paź spal urr říj οκτ жов окт",
    "nov aza kas lapkr lis marras νοέ νοε лис нов ное ноя",
    "dec abe ara des dets dez dic déc gru gruod joulu pro δεκ дек дец",
)
MONTH_OF_NAME = {name: number for number, names in enumerate(_MONTH_NAMES, 1) for name in names.split()}


def month(name: str) -> int | None:
    """The number (1 to 12) of a month's name in any of the languages; None for another word."""
    name = name.strip().rstrip(".").lower()
    if name[-1:] in ("月", "월") and name[:-1].isdecimal():
        return int(name[:-1])
    return MONTH_OF_NAME.get(name)


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
PATTERNS = patterns_of("clock")
ZONE = r"(?P<zone>Z|[+-]\d\d:?\d\d)"
NAMED_ZONE = r"(?P<zone>Z|[+-]\d\d(?::?\d\d)?|[A-Z]{3,5})"


def zone(text: str) -> timezone | None:
    """The offset of the zone `text`; None if it is not a zone or is ambiguous."""
    hours = OFFSET_HOURS.get(text)
    if hours is not None:
        return timezone(timedelta(hours=hours)) if hours else UTC
    found = PATTERNS.offset.match(text)
    if not found:
        return None
    offset = timedelta(hours=int(found[2]), minutes=int(found[3] or 0))
    return timezone(-offset if found[1] == "-" else offset) if offset < timedelta(hours=24) else None


NO_YEAR = 1904  # a leap year, so that 29 February without a year is valid
DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
MONTH = r"(?P<mon>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
ANY_MONTH = r"(?P<mon>[^\W\d]{2,7}\.?|1?\d[月월])"
CLOCK_PATTERN = r"(?P<h>[0-2]\d):(?P<m>[0-5]\d):(?P<s>[0-6]\d)"
TIME_OF_DAY = CLOCK_PATTERN + r"(?:[.,](?P<frac>\d{1,9}))?"
ISO_DATE = r"(?P<y>[12]\d{3})-(?P<mo>[01]\d)-(?P<d>[0-3]\d)"
ISO_STAMP = ISO_DATE + "[T ]" + TIME_OF_DAY
# Of the parts of a time: what asks for certain digits in a pattern, what asks for any, and the digits that come first.
ASKED_DIGITS = {
    "y": (r"(?P<y>[12]\d{3})", r"(?P<y>\d\d{3})", "12"),
    "mo": (r"(?P<mo>[01]\d)", r"(?P<mo>\d\d)", "01"),
    "d": (r"(?P<d>[0-3]\d)", r"(?P<d>\d\d)", "0123"),
    "h": (r"(?P<h>[0-2]\d)", r"(?P<h>\d\d)", "012"),
    "m": (r"(?P<m>[0-5]\d)", r"(?P<m>\d\d)", "012345"),
    "s": (r"(?P<s>[0-6]\d)", r"(?P<s>\d\d)", "0123456"),
}
MONTH_DIGITS = (r"1?\d[月월]", r"\d?\d[月월]")  # the same of a month
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
            int(year) + 2000 * (len(year) == 2) if year else NO_YEAR,
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


def _epoch(digits: str, fraction: str) -> Stamp | None:
    scale = {10: 0, 13: 3, 16: 6, 19: 9}.get(len(digits))
    if scale is None:
        return None
    seconds, rest = int(digits[:10]), (digits[10:] + fraction).ljust(6, "0")[:6]
    if not EPOCH_FIRST <= seconds < EPOCH_PAST:
        return None
    wall = EPOCH_START + timedelta(seconds=seconds, microseconds=int(rest))
    return Stamp(wall, resolution_s=10.0 ** -(scale + len(fraction)))
