"""Convert numeric times of records to RFC 3339 text with microseconds and offset.

1755831607123456 (microseconds)  ->  2025-08-22T03:00:07.123456+00:00
"""

import functools
from datetime import UTC, datetime, timedelta

from forensics.core import lazy

UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_YEAR = 1990  # a number that would be an earlier time is not a time
LAST_YEAR = 2100  # a number that would be a later time is not a time
ISO_STAMP_PATTERN = lazy.regex(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z|[+-]\d\d:?\d\d))?$")
EPOCH_DIGITS_PATTERN = lazy.regex(r"\d{10}(?:\.\d+)?$|\d{13}$|\d{16}$|\d{19}$")


def from_usec(usec: int) -> str | None:
    """Microseconds since 1970 as text; None if this cannot be the time of a log record."""
    whole = from_second(str(usec // 1_000_000))
    return f"{whole}.{usec % 1_000_000:06d}+00:00" if whole else None


@functools.lru_cache(maxsize=4096)  # a log may have many lines per second, and formatting a time is slow
def from_second(seconds: str) -> str | None:
    """Seconds since 1970 (digits) as text without a zone; None if this cannot be the time of a log record."""
    try:
        time = UNIX_EPOCH + timedelta(seconds=int(seconds or "0"))
    except (OverflowError, ValueError):  # int() rejects a number with thousands of digits
        return None
    return f"{time:%Y-%m-%dT%H:%M:%S}" if FIRST_YEAR <= time.year <= LAST_YEAR else None


def from_value(value: object) -> str | None:
    """The time in a JSON value, as text; None for another value.

    ISO text is kept, with a decimal point for a decimal comma. The size of a number shows whether its unit is s, ms, us or ns.
    """
    if isinstance(value, str):
        value = value.strip()
        if ISO_STAMP_PATTERN.match(value):
            return value.replace(",", ".")
        if not EPOCH_DIGITS_PATTERN.match(value):
            return None
        value = float(value) if "." in value else int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
        return None
    for unit, usec in ((1e11, 1e6), (1e14, 1e3), (1e17, 1), (1e20, 1e-3)):
        if value < unit:
            return from_usec(round(value * usec))
    return None
