"""A line format: a name, a clock, one anchored pattern, and samples that it and no other format must recognise."""

import re
from functools import cached_property, lru_cache
from string import ascii_lowercase, ascii_uppercase, digits

from msgspec import Struct

from forensics.line_formats import clock
from forensics.model import Prefix

MAX_PREFIX_CHARS = 1024  # what follows is message, however it looks


class LineFormat(Struct, frozen=True, dict=True):
    """One way to write the prefix of a line.

    `pattern`: anchored at the line's start; groups y mo mon d h m s frac ampm zone unix mono delta (see clock.stamp), host,
    program, pid, rank, level, inside (a level that stays in the message), pri (a syslog priority). It may match nothing and look
    ahead only: then the line keeps its text. `clock`: `wall+zone`, `wall`, `mono`, `wall+mono`, `delta` or `none`. `rank`:
    smaller is tried first. `samples`: lines of this format. `first`: a pattern that the start of each line of it fits, of which
    it sees two characters and the shape of four more (see `shape`). `within`: a text that each line of it holds. The last two
    only save time; empty ones save none.
    """

    name: str
    clock: str
    pattern: str
    samples: tuple[str, ...]
    rank: int = 50
    first: str = ""
    within: str = ""

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The pattern, compiled at first use."""
        return re.compile(self.pattern)

    def starts(self, shape: str) -> bool:
        """May a line that starts with this `shape` be of this format?"""
        return not self.first or re.match(self.first, shape) is not None

    def parse(self, text: str) -> Prefix | None:
        """The Prefix of `text` when this format fits it, else None."""
        if self.within and self.within not in text:
            return None
        found = self.compiled.match(text, 0, MAX_PREFIX_CHARS)
        return self.read(found, text) if found else None

    def read(self, found: re.Match[str], text: str) -> Prefix | None:
        """The Prefix of `text` that the pattern's match `found` tells; None where its time is no real one."""
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


_SHAPES = str.maketrans(digits + ascii_lowercase + ascii_uppercase, "0" * 10 + "a" * 26 + "A" * 26)


def shape(text: str) -> str:
    """How a text starts: its first two characters, then 0, a and A for the digits and letters of four more.

    `2026-11-21 08:23` -> `2000-0`: so few that the formats of each can be cached.
    """
    return _shape(text[:6])


@lru_cache(maxsize=4096)
def _shape(start: str) -> str:
    return start[:2] + start[2:].translate(_SHAPES)


SEVERITIES = ("emerg", "alert", "crit", "err", "warn", "notice", "info", "debug")


def _severity(priority: str | None) -> str | None:
    """The level in a syslog priority: facility * 8 + severity (RFC 5424, 6.2.1)."""
    return SEVERITIES[int(priority) & 7] if priority else None


def _number(text: str | None) -> int | None:
    return int(text) if text and len(text) < 10 else None
