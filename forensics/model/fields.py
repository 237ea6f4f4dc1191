"""The named fields of an event, and how those of two lines are put together."""

from collections.abc import Mapping

from msgspec import Struct

Value = str | int | float
Fields = Mapping[str, Value]
WHOLE_FIELDS = ({"file", "line_no", "function"}, {"exc_type", "exc_message"})  # one event's place, one event's words


def completed_fields(fields: Fields, more: Fields) -> dict[str, Value]:
    """`fields` with what `more` tells besides; a place, or an exception and its message, is never put together from two."""
    whole = {name for group in WHOLE_FIELDS if group & fields.keys() for name in group}
    return {**{name: value for name, value in more.items() if name not in whole}, **fields}


class Occurrence(Struct, frozen=True):
    """One place of a message that is printed several times: its line, the lines that are quoted with it (a frame of the program),
    and its fields, which are those of the record around it."""

    line: int
    quoted: tuple[int, ...]
    fields: Fields
