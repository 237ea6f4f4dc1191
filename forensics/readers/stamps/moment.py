"""When a line was written that has no stamp of its own: by the record that it belongs to, or between two stamped lines.

2025-12-26 16:03:03 saved                        \\
RuntimeError: ... file write failed               > after 2025-12-26 16:03:03, before Dec 26 16:05:47
W1226 16:05:47.086000 8985 torch/... SIGTERM     /

A program's last act has the time at which `forensics run` saw it end.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from math import inf

from msgspec import Struct

from forensics.data_files.named_parts import patterns_of
from forensics.line_formats.anywhere import find_stamp, record_stamp
from forensics.model import Scan, Stamp
from forensics.readers.capture.own_message import is_own_line

MAX_LINES_TO_TIME = 40  # chosen by hand: of the beginning and the end, in which a job script prints the date
MAX_ROWS_TO_TIME = 25  # chosen by hand: of a record with one value a line, such as an event of a cloud's audit log
PATTERNS = patterns_of("moment")
MAX_HANDLER_LINES = 5  # chosen by hand: it prints the time, the program counter and the signal


class Moment(Struct, frozen=True):
    """`at`: the stamp of the line or its record. Else `after`, `before`: those of the nearest stamped lines above and below."""

    at: Stamp | None = None
    after: Stamp | None = None
    before: Stamp | None = None


def moment_of(lines: Sequence[str], at: int) -> Moment:
    """The moment of the line with index `at` in `lines`, which follow one another in time."""
    own = _wall(find_stamp(lines[at])) or _of_record(lines, at) or _of_state(lines, at)
    if own:
        return Moment(own)
    above, after = _first(lines, range(at - 1, -1, -1))
    if after and _is_one_record(lines, above, at):
        return Moment(after)
    below, before = (0, None) if PATTERNS.state_now.match(lines[at]) else _first(lines, range(at + 1, len(lines)))
    if before and is_own_line(lines[below]) and all(map(_is_last_act, lines[at + 1 : below])):
        return Moment(before)
    if after and PATTERNS.end_report.match(lines[above]):
        after, before = _first(lines, range(above - 1, -1, -1))[1], after
    return Moment(None, after, None if seconds_between(Moment(after), Moment(before)) < 0 else before)


def _is_last_act(text: str) -> bool:
    """Does the line belong to what a program printed last: blank, or a row of a stack or of a message?"""
    return not text.strip() or bool(PATTERNS.row_of_last_act.match(text))


def seconds_between(earlier: Moment, later: Moment) -> float:
    """Seconds from one to the other, by the stamps that both have; infinite if their clocks cannot be compared."""
    a, b = earlier.at or earlier.after or earlier.before, later.at or later.after or later.before
    gap = b.seconds_after(a) if a and b else None
    return inf if gap is None else gap


def elapsed(scan: Scan) -> float:
    """Seconds from the first full time that a log tells to the last one; 0 if it does not tell two.

    A time without a zone is that of the machine, as is one with the machine's zone: `date` of a job script, slurmd's line. One of
    UTC may be a program's own, and is compared with none without a zone.
    """
    ends = (scan.head, (scan.tail or scan.head)[::-1])
    found = [
        next((s.wall for line in x[:MAX_LINES_TO_TIME] if (s := _wall(find_stamp(line.text))) and not s.lacks), None)
        for x in ends
    ]
    first, last = found
    if first is None or last is None:
        return 0.0
    zones = first.utcoffset(), last.utcoffset()
    if None not in zones:
        return max(0.0, (last - first).total_seconds())
    of_machine = not any(zone == timedelta() for zone in zones)
    return max(0.0, (last.replace(tzinfo=None) - first.replace(tzinfo=None)).total_seconds()) if of_machine else 0.0


def _of_state(lines: Sequence[str], at: int) -> Stamp | None:
    """When the first container ended, for the state of now of a described pod."""
    rows = lines[at:] if PATTERNS.state_now.match(lines[at]) else ()
    return next((_wall(find_stamp(row)) for row in rows if PATTERNS.finished_row.match(row)), None)


def _wall(stamp: Stamp | None) -> Stamp | None:
    return stamp if stamp and stamp.wall else None


def _first(lines: Sequence[str], order: Iterable[int]) -> tuple[int, Stamp | None]:
    """The first line in that order with a stamp."""
    return next(((i, s) for i in order if lines[i] and (s := _wall(find_stamp(lines[i])))), (0, None))


def _is_one_record(lines: Sequence[str], first: int, at: int) -> bool:
    """Was line `at` written together with the stamped line `first`: by one handler, or as the traceback of a logged error?"""
    if PATTERNS.crash_handler.match(lines[first]):
        return at - first <= MAX_HANDLER_LINES
    if "Traceback (most recent call last)" not in lines[first + 1] or not PATTERNS.error_level.search(lines[first]):
        return False
    return all(text[:1].isspace() or "Traceback (" in text for text in lines[first + 1 : at])


def _of_record(lines: Sequence[str], at: int) -> Stamp | None:
    """The time of the record, in its line nearest to the one asked about; a record ends at a blank line."""
    if not PATTERNS.row_of_record.match(lines[at]):
        return None
    near: list[tuple[int, Stamp]] = []
    for step in (-1, 1):
        for gap in range(1, MAX_ROWS_TO_TIME + 1):
            i = at + step * gap
            if not 0 <= i < len(lines) or not lines[i].strip():
                break
            if found := record_stamp(lines[i]):
                near.append((gap, found))
                break
    return min(near, key=lambda n: n[0])[1] if near else None
