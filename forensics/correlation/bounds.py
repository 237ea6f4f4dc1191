"""Read the value of --since or --until as a moment on the clock of each source.

2026-11-21T10:00:00+01:00   that moment
2026-11-21 10:00            when the clock of a source shows that time, whatever its zone
10:00                       the same, on the last day in the logs
-2h, -90min, -1d12h         that long before the last time in the logs
"""

from datetime import datetime, time, timedelta

from msgspec import Struct

from forensics.core import lazy
from forensics.core.errors import UsageError

SECONDS_BY_SUFFIX = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}
SPAN_PART_PATTERN = lazy.regex(r"(\d{1,9}(?:\.\d{1,9})?) ?(min|[smhdw])")
RELATIVE = lazy.regex(rf"-(?:{SPAN_PART_PATTERN.pattern} ?){{1,5}}")
TIME_FORMS_ADVICE = "write it as 2026-11-21T10:00:00+01:00, 2026-11-21 10:00, 10:00 or -2h"


class TimeBound(Struct, frozen=True):
    """One of: `moment`, aware, or without a zone; `clock`, a time of day; `ago`, before the end of the logs."""

    text: str
    moment: datetime | None = None
    clock: time | None = None
    ago: timedelta | None = None

    def resolved(self, end: datetime | None) -> datetime | None:
        """The moment, with a zone or on each source's own clock.

        `end`: the last time in the logs. None if the moment depends on it and it is unknown.
        """
        if self.moment or end is None:
            return self.moment
        return end - self.ago if self.ago is not None else datetime.combine(end.date(), self.clock or time())


def parse_time_bound(text: str | None, option: str) -> TimeBound | None:
    """The TimeBound that `text` gives; None for None. Raises UsageError, which names `option`, for a text that is no time."""
    if text is None:
        return None
    if RELATIVE.fullmatch(text.strip()):
        seconds = sum(float(n) * SECONDS_BY_SUFFIX[unit] for n, unit in SPAN_PART_PATTERN.findall(text))
        if seconds < 10 * 365 * 86400:
            return TimeBound(text, ago=timedelta(seconds=seconds))
    try:
        return TimeBound(text, moment=datetime.fromisoformat(text.strip()))
    except ValueError:
        pass
    try:
        return TimeBound(text, clock=time.fromisoformat(text.strip()).replace(tzinfo=None))
    except ValueError as error:
        raise UsageError(f"{option} takes a time, and {text!r} is not one", advice=TIME_FORMS_ADVICE) from error


def seconds_past(moment: datetime, limit: datetime) -> float:
    """Seconds from `limit` to `moment`. A limit without a zone is compared with what the clock of `moment` shows."""
    return (moment - limit if limit.tzinfo else moment.replace(tzinfo=None) - limit).total_seconds()
