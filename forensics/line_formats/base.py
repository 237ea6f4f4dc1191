"""A line format: a name, the kind of its clock, one anchored pattern, and samples that only this format may recognise."""

import re
from functools import cached_property, lru_cache

from msgspec import Struct

from forensics.core import lazy
from forensics.core.shapes import ZEROS, asks_digits
from forensics.core.text import ASCII_UPPERCASE
from forensics.line_formats import clock
from forensics.model import Prefix

MAX_PREFIX_CHARS = 1024  # a prefix is never longer; the rest is message
SHAPE_CHARS = 6  # of a line: enough to tell most formats apart, and few enough to repeat from line to line
EXACT_CHARS = 2  # of these, the first ones, whose digits a shape keeps


class LineFormat(Struct, frozen=True, dict=True):
    """One form of the prefix of a line.

    `pattern`: matched at the start of the line. Its groups: y mo mon d h m s frac ampm zone unix mono delta (see clock.stamp),
    host, program, pid, rank, level, inside (a level that stays part of the message), pri (a syslog priority). A pattern that is
    only a look-ahead leaves the whole line as the message. `clock`: `wall+zone`, `wall`, `mono`, `wall+mono`, `delta` or
    `none`. `rank`: formats with smaller numbers are tried first. `samples`: lines of this format. `first`: a pattern that
    matches `shape(line)` of each such line. `within`: a text that each such line contains. These two are optional and only
    save time. `labels`: a launcher or a collector writes it in front of each line of a program, and the program knows nothing of
    it. `path`, `line`: of its entry.
    """

    name: str
    clock: str
    pattern: str
    samples: tuple[str, ...]
    rank: int = 50
    first: str = ""
    within: str = ""
    labels: bool = False
    path: str = ""
    line: int = 0

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The compiled pattern, compiled at its first use."""
        return lazy.regex(self.pattern)

    @cached_property
    def asks_digits(self) -> bool:
        """Does the pattern name digits (`20\\d\\d`)? If not, it matches all lines that differ only in digits, or none."""
        return asks_digits(self.pattern)

    @cached_property
    def first_digits(self) -> tuple[tuple[str, str], ...]:
        """Of the parts of a time, the digits with which its pattern lets them begin."""
        return tuple((name, digits) for name, (asked, _, digits) in clock.ASKED_DIGITS.items() if asked in self.pattern)

    @cached_property
    def of_any_time(self) -> re.Pattern[str]:
        """Its pattern, for any digits of a time."""
        pattern = self.pattern.replace(*clock.MONTH_DIGITS)
        for asked, free, _ in clock.ASKED_DIGITS.values():
            pattern = pattern.replace(asked, free)
        return self.compiled if pattern == self.pattern else lazy.regex(pattern)

    @cached_property
    def asks_only_time(self) -> bool:
        """Are those of `first_digits` the only digits that it asks for?"""
        return clock.MONTH_DIGITS[0] not in self.pattern and not asks_digits(self.of_any_time.pattern)

    def may_have_shape(self, text: str) -> bool:
        """May a line that differs from `text` only in digits have this format? True where that is not known."""
        return asks_digits(self.of_any_time.pattern) or self.of_any_time.match(text, 0, MAX_PREFIX_CHARS) is not None

    @cached_property
    def within_zeroed(self) -> str:
        """What a line with zeros for its digits contains, if the line itself contains `within`."""
        return self.within.translate(ZEROS)

    def matches(self, text: str) -> bool:
        """Does the pattern match?"""
        return self.compiled.match(text, 0, MAX_PREFIX_CHARS) is not None

    def starts(self, shape: str) -> bool:
        """Can a line with this `shape` have this format?"""
        return not self.first or self.compiled_first.match(shape) is not None

    @cached_property
    def compiled_first(self) -> re.Pattern[str]:
        """The pattern of the first characters."""
        return lazy.regex(self.first)

    def parse(self, text: str) -> Prefix | None:
        """The Prefix of `text`; None if it does not have this format."""
        if self.within and self.within not in text:
            return None
        found = self.compiled.match(text, 0, MAX_PREFIX_CHARS)
        return self.read(found, text) if found else None

    def read(self, found: re.Match[str], text: str) -> Prefix | None:
        """The Prefix of `text` from `found`, the match of the pattern; None if the time in it does not exist."""
        groups = found.groupdict()
        stamp = None
        if self.clock != "none":
            stamp = clock.stamp(groups)
            if stamp is None:
                return None
        return Prefix(
            message=text[found.end() :],
            formats=(self.name,),
            stamp=stamp,
            host=groups.get("host"),
            program=groups.get("program"),
            pid=_number(groups.get("pid")),
            rank=_number(groups.get("rank")),
            level=groups.get("level") or groups.get("inside") or _severity(groups.get("pri")),
        )


_SHAPES = str.maketrans("0123456789" + ASCII_UPPERCASE.lower() + ASCII_UPPERCASE, "0" * 10 + "a" * 26 + "A" * 26)


def shape(text: str) -> str:
    """The first two characters of a text, then four more in which digits become 0 and letters become a or A.

    `2026-11-21 08:23` -> `2000-0`. There are so few shapes that the possible formats of each can be cached.
    """
    return _shape(text[:SHAPE_CHARS])


@lru_cache(maxsize=4096)
def _shape(start: str) -> str:
    return start[:EXACT_CHARS] + start[EXACT_CHARS:].translate(_SHAPES)


SEVERITIES = ("emerg", "alert", "crit", "err", "warn", "notice", "info", "debug")


def _severity(priority: str | None) -> str | None:
    """The level in a syslog priority: facility * 8 + severity (RFC 5424, 6.2.1)."""
    return SEVERITIES[int(priority) & 7] if priority else None


def _number(text: str | None) -> int | None:
    return int(text) if text and len(text) < 10 else None
