"""The time of a line that holds a number, by the clock of the line itself."""

import datetime

from forensics.line_formats import parse_prefix
from forensics.model import Stamp


def stamp_of(text: str) -> Stamp | None:
    """The timestamp of a line; None if it has none."""
    return parse_prefix(text).stamp


def seconds_of(text: str) -> float | None:
    """The time of a line in seconds, by its own clock; None if it has no timestamp, or one without a date."""
    stamp = stamp_of(text)
    if stamp is None or stamp.lacks == "date":
        return None if stamp is None else stamp.mono
    return stamp.wall.replace(tzinfo=datetime.UTC).timestamp() if stamp.wall else stamp.mono
