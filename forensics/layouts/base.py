"""The form of a layout: a name, a clock, one anchored pattern, and samples that it and no other layout must recognise."""

import re
from dataclasses import dataclass
from functools import cached_property

from forensics.layouts import clock
from forensics.model import Prefix


MAX_PREFIX = 1024  # characters; what follows is message, however it looks


@dataclass(frozen=True)
class Layout:
    """One way to write the front of a line.

    `pattern`: anchored at the line's start; groups y mo mon d h m s frac ampm zone unix mono delta (see clock.stamp), host,
    program, pid, rank, level, inside (a level that stays in the message), pri (a syslog priority). It may match nothing and look ahead only: then the line keeps its text.
    `clock`: `wall+zone`, `wall`, `mono`, `wall+mono`, `delta` or `none`. `rank`: smaller is tried first. `samples`: lines of
    this layout. `first`: a pattern that the first two characters of each line of it fit. `within`: a text that each line of it
    holds. The last two only save time; empty ones save none.
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

    def starts(self, two: str) -> bool:
        """May a line with these first two characters be of this layout?"""
        return not self.first or re.match(self.first, two) is not None

    def peel(self, text: str) -> Prefix | None:
        """The Prefix of `text` when this layout fits it, else None."""
        if self.within and self.within not in text:
            return None
        found = self.compiled.match(text, 0, MAX_PREFIX)
        if found is None:
            return None
        stamp = None
        if self.clock != "none":
            stamp = clock.stamp(found)
            if stamp is None:
                return None
        groups = found.groupdict() if self.compiled.groupindex else {}
        return Prefix(
            message=text[found.end() :],
            layouts=(self.name,),
            stamp=stamp,
            host=groups.get("host"),
            program=groups.get("program"),
            pid=_number(groups.get("pid")),
            rank=_number(groups.get("rank")),
            level=groups.get("level") or groups.get("inside") or _severity(groups.get("pri")),
        )


SEVERITIES = ("emerg", "alert", "crit", "err", "warn", "notice", "info", "debug")


def _severity(priority: str | None) -> str | None:
    """The level in a syslog priority: facility * 8 + severity (RFC 5424, 6.2.1)."""
    return SEVERITIES[int(priority) & 7] if priority else None


def _number(text: str | None) -> int | None:
    return int(text) if text and len(text) < 10 else None
