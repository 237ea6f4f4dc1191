"""The Record that every detector returns, and small functions that the detectors share."""

import re
from collections.abc import Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from forensics.core import lazy
from forensics.database import Records
from forensics.line_formats import parse_prefix
from forensics.model import Line, Prefix, Value, Weight

EVENT_TITLE = "event_title"  # of a record that tells something else than the title of its cause says


class Record(Struct, frozen=True):
    """Several lines that form one report.

    `first`, `last`: numbers of its first and last line. `outcome`: one of its detector's OUTCOMES, or None if it proves nothing
    by itself. `quote`: the lines worth quoting, best first. `lends`: its fields are also added to the hits inside it. `over`:
    other OUTCOMES; hits of their causes inside the record are dropped, too. `count`: how many equal records this one stands for.
    `places`: first and last line of each of them, as far as known; empty for a single place.

    `cause`: from the table of a code (Xid, SXid), else None until `with_cause` looks it up. `decides`: causes or families
    (`gpu_memory.*`) whose hits inside the record are dropped in favour of `cause`. `told_to`: the last line that surely belongs
    to the message of the first line of `quote`, by its form; 0 if that is one line.
    """

    kind: str
    first: int
    last: int
    outcome: str | None
    weight: Weight
    quote: tuple[Line, ...]
    fields: dict[str, Value] = field(default_factory=dict)
    lends: bool = False
    over: tuple[str, ...] = ()
    count: int = 1
    places: tuple[tuple[int, int], ...] = ()
    cause: str | None = None
    decides: tuple[str, ...] = ()
    told_to: int = 0

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """First and last line of each place of the record."""
        return self.places or ((self.first, self.last),)

    def speaks_for(self, cause: str) -> bool:
        """Is a hit of `cause` inside the record dropped?

        It is if `decides` names the cause or its family, or if the record lends its fields and has the same cause.
        """
        family = cause.split(".")[0] + ".*"
        return cause in self.decides or family in self.decides or (self.lends and cause == self.cause)


def with_cause(record: Record, records: Records) -> Record:
    """`record` with the cause of its outcome. `records`: those of the database. Raises KeyError for an unknown outcome."""
    if record.outcome is None:
        return record
    outcomes = records[record.kind.partition("/")[0]]
    proven = outcomes[record.outcome]
    over = (cause for word in record.over if (cause := outcomes[word].cause))
    return replace(record, cause=record.cause or proven.cause, decides=(*proven.decides, *over))


class ParsedLine(Struct, frozen=True):
    """A line and its prefixes, parsed."""

    line: Line
    prefix: Prefix

    @property
    def message(self) -> str:
        """The line without its prefixes."""
        return self.prefix.message


def parse_lines(lines: Sequence[Line]) -> list[ParsedLine]:
    """`lines` with their prefixes parsed, in order."""
    return [ParsedLine(line, parse_prefix(line.text)) for line in lines]


NUMBERS_PATTERN = lazy.regex(r"[0-9a-f]*\d[0-9a-f]*")
MAX_UNKNOWN_PREFIX_CHARS = 200  # longer text in front of the mark is not taken for the prefix of a tool


def unwrapped(rows: list[ParsedLine], mark: str) -> list[ParsedLine]:
    """`rows` without the prefix that an unknown tool wrote before `mark` in the first row. Only numbers in it may differ.

    Example: `grep -n` writes `logs/r3.err:88:Traceback ...` and `logs/r3.err:89:  File ...`. The text in front of `Traceback`
    is the prefix. A row without such a prefix stays as it is.
    """
    front, found, _ = rows[0].message.partition(mark)
    if not front or not found or len(front) > MAX_UNKNOWN_PREFIX_CHARS:
        return rows
    shape = lazy.regex(r"[0-9a-f]*\d[0-9a-f]*".join(map(re.escape, NUMBERS_PATTERN.split(front))))
    return [
        ParsedLine(r.line, replace(r.prefix, message=r.message[m.end() :])) if (m := shape.match(r.message)) else r for r in rows
    ]
