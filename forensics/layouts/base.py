"""The form of a layout: a name, a clock, one anchored pattern, and samples that it and no other layout must recognise."""

import re
from dataclasses import dataclass
from functools import cached_property

from forensics.layouts import clock
from forensics.model import Prefix


@dataclass(frozen=True)
class Layout:
    """One way to write the front of a line.

    `pattern`: anchored at the line's start; groups y mo mon d h m s frac zone mono (see clock.stamp), host, program,
    pid, rank, level.
    `clock`: `wall+zone`, `wall`, `mono`, `wall+mono` or `none`. `rank`: smaller is tried first. `samples`: lines of this layout.
    """

    name: str
    clock: str
    pattern: str
    samples: tuple[str, ...]
    rank: int = 50

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The pattern, compiled at first use."""
        return re.compile(self.pattern)

    def peel(self, text: str) -> Prefix | None:
        """The Prefix of `text` when this layout fits it, else None."""
        found = self.compiled.match(text)
        if found is None:
            return None
        groups = found.groupdict()
        stamp = clock.stamp(found)
        if stamp is None and self.clock != "none":
            return None
        return Prefix(
            message=text[found.end() :],
            layouts=(self.name,),
            stamp=stamp,
            host=groups.get("host"),
            program=groups.get("program"),
            pid=_number(groups.get("pid")),
            rank=_number(groups.get("rank")),
            level=groups.get("level"),
        )


def _number(text: str | None) -> int | None:
    return int(text) if text and len(text) < 10 else None
