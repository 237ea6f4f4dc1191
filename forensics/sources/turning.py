"""Records with the newest first to records with the oldest first, so that causes precede consequences as in every other log.

    Dec 9, 2024, 2:29:41 PM | INFO | KernelRestarter: restarting kernel       2:29:39 PM | WARNING | Invalid handle ...
    Dec 9, 2024, 2:29:39 PM | WARNING | Invalid handle ...               ->   2:29:41 PM | INFO | KernelRestarter: ...

The times at the start of the records show their order. Reversing needs all of them in memory, at most `limits.turned` bytes.
"""

import itertools
from collections.abc import Iterable, Iterator
from datetime import datetime

from forensics.core import lazy, limits
from forensics.sources.formats.base import Note
from forensics.sources.origin import Piece

PROBED_PIECES = 200  # chosen by hand: the order shows within so many records; the others need not be held in memory for it
MIN_FALLS_OF_PIECES = 2  # one fall may be a clock that was set, or a file that was appended to another
MONTH_NUMBERS = {
    m: i for i, m in enumerate(("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1)
}
ISO_LINE_PATTERN = lazy.regex(r"(?:\[[DIWEC] )?[\[<\d>\"' ]{0,8}?(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?")
SYSLOG_STAMP_PATTERN = lazy.regex(r"(?:<\d+>)?(\w{3}) {1,2}(\d{1,2}) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?")
COLAB_STAMP_PATTERN = lazy.regex(r"\"?(\w{3}) (\d{1,2}), (\d{4}), (\d{1,2}):(\d\d):(\d\d)\s?([AP])M")
UPTIME_PATTERN = lazy.regex(r"(?:<\d+>)?\[\s*(\d+)\.(\d{6})\]")

Moment = tuple[str, float]
"""A kind of clock, and a number that grows with time; of different kinds, they cannot be compared."""


def line_time(line: str) -> Moment | None:
    """The time at the start of `line`, with its kind: only times of one kind can be compared."""
    if found := ISO_LINE_PATTERN.match(line):
        year, month, day, hour, minute, second = (int(found[i]) for i in range(1, 7))
        return _wall_moment("iso", year, month, day, hour, minute, second, found[7])
    if found := SYSLOG_STAMP_PATTERN.match(line):
        month = MONTH_NUMBERS.get(found[1].lower(), 0)
        return _wall_moment("syslog", 1904, month, int(found[2]), int(found[3]), int(found[4]), int(found[5]), found[6])
    if found := COLAB_STAMP_PATTERN.match(line):
        hour = int(found[4]) % 12 + (12 if found[7] == "P" else 0)
        month = MONTH_NUMBERS.get(found[1].lower(), 0)
        return _wall_moment("colab", int(found[3]), month, int(found[2]), hour, int(found[5]), int(found[6]), None)
    if found := UPTIME_PATTERN.match(line):
        return "uptime", float(f"{found[1]}.{found[2]}")
    return None


def _wall_moment(
    kind: str, year: int, month: int, day: int, hour: int, minute: int, second: int, part: str | None
) -> Moment | None:
    try:
        whole = datetime(year, month, day, hour, minute, min(second, 59)).toordinal() * 86400 + hour * 3600 + minute * 60 + second
    except ValueError:
        return None
    return kind, whole + float(f"0.{part}" if part else 0)


def is_newest_first(lines: Iterable[str], least: int) -> bool:
    """Do the times of `lines` only ever fall, `least` times or more?"""
    falls = 0
    last: Moment | None = None
    for line in lines:
        now = line_time(line)
        if now is None:
            continue
        if last is not None and last[0] == now[0]:
            if now[1] > last[1]:
                return False
            falls += now[1] < last[1]
        last = now
    return falls >= least


def oldest_first(pieces: Iterable[Piece], note: Note, least: int) -> Iterator[Piece]:
    """`pieces` in order of time: reversed if the times of the first of them fall `least` times or more and never rise."""
    pieces = iter(pieces)
    first = list(itertools.islice(pieces, PROBED_PIECES))
    if not is_newest_first((p[2][:100].decode("utf-8", "replace") for p in first), least):
        yield from first
        yield from pieces
        return
    held = first
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece[2])
        if size > limits.current.turned:
            left = f"beyond {limits.current.turned >> 20} MiB they were left in that order"
            note("order", f"its newest lines come first; {left}", None)
            yield from held
            yield from pieces
            return
    note("order", "its newest lines come first; the order was reversed", None)
    yield from reversed(held)
