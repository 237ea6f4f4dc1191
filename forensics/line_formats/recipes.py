"""Lines of one shape are parsed alike: where their fields stand is found once for all lines that differ only in digits.

2026-11-21 00:06:18,812 INFO trainer: step 378     -> a time at 0 to 23, the level at 24 to 28, the message from 29 on
2026-11-21 00:06:19,739 INFO trainer: step 379     -> the same places

Of digits most formats ask only what a time needs (no hour begins with 3), so a recipe holds for each line whose time exists.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from itertools import repeat

from msgspec import Struct

from forensics.line_formats import clock
from forensics.line_formats.base import EXACT_CHARS, LineFormat
from forensics.model import Prefix, Stamp

PLACED_FIELDS = ("host", "program", "level", "pid", "rank")
ISO_PARTS = (("y", 0, 4), ("mo", 5, 7), ("d", 8, 10), ("h", 11, 13), ("m", 14, 16), ("s", 17, 19))  # of `2026-11-21 00:06:18`
ISO_CHARS = 19  # of the same
MAX_FRACTION_CHARS = 7  # of `.812345`: a time has no more digits

Places = Mapping[str, slice]


class Recipe(Struct, frozen=True, gc=False):
    """Where the fields of a line stand.

    `fields`: those of PLACED_FIELDS. `timed`: the parts of its time, empty without one. `iso`: the whole time, if Python reads
    its form. `checks`: the digits that may stand at a place.
    """

    formats: tuple[str, ...]
    end: int
    fields: tuple[slice | None, ...]
    timed: Places
    iso: slice | None
    resolution_s: float
    checks: tuple[tuple[int, str], ...]

    def read(self, text: str) -> Prefix | None:
        """The Prefix of `text`; None if the recipe does not hold for its digits."""
        stamp = None
        if self.timed and (stamp := self._stamp(text)) is None:
            return None
        host, program, level, pid, rank = self.fields
        return Prefix(
            text[self.end :],
            self.formats,
            stamp,
            text[host] if host else None,
            text[program] if program else None,
            int(text[pid]) if pid else None,
            int(text[rank]) if rank else None,
            text[level] if level else None,
        )

    def read_all(self, texts: Sequence[str]) -> Sequence[Prefix | None]:
        """The same of each of `texts`, column by column if all their times exist."""
        stamps = self._stamps(texts) if self.timed else repeat(None, len(texts))
        if stamps is None:
            return [*map(self.read, texts)]
        host, program, level, pid, rank = (at and [text[at] for text in texts] for at in self.fields)
        return [
            *map(
                Prefix,
                [text[self.end :] for text in texts] if self.end else texts,
                repeat(self.formats, len(texts)),
                stamps,
                host or repeat(None),
                program or repeat(None),
                map(int, pid) if pid else repeat(None),
                map(int, rank) if rank else repeat(None),
                level or repeat(None),
            )
        ]

    def _stamps(self, texts: Sequence[str]) -> Sequence[Stamp] | None:
        """The times of `texts`; None if one of them does not exist."""
        if not self.iso:
            stamps = [*filter(None, map(self._stamp, texts))]
            return stamps if len(stamps) == len(texts) else None
        at, first = self.iso, self.iso.start
        try:
            walls = [datetime.fromisoformat(text[at]) for text in texts]
        except ValueError:
            return None
        if not {text[first] for text in texts} <= {"1", "2"}:
            return None
        return [Stamp(wall, None, "", self.resolution_s) for wall in walls]

    def _stamp(self, text: str) -> Stamp | None:
        if self.iso:
            try:
                wall = datetime.fromisoformat(text[self.iso])
            except ValueError:
                return None
            return Stamp(wall, None, "", self.resolution_s) if text[self.iso.start] in "12" else None
        for at, digits in self.checks:
            if text[at] not in digits:
                return None
        return clock.stamp({name: text[at] for name, at in self.timed.items()})


WITHOUT_PREFIX = Recipe((), 0, (None,) * len(PLACED_FIELDS), {}, None, 0.0, ())


def recipe(text: str, parsed: Prefix, possible: Callable[[str], Sequence[LineFormat]]) -> Recipe | None:
    """The recipe of all lines that differ from `text` only in digits; None if there is none. `parsed`: its Prefix. `possible`:
    the formats that a text may have, by its first characters and its shape."""
    places: dict[str, slice] = {}
    timed: Places = {}
    checks: list[tuple[int, str]] = []
    at = 0
    for name in (*parsed.formats, ""):
        rest = text[at:]
        may_have = [form for form in possible(rest) if form.may_have_shape(rest)]
        if at and any(map(str.isdigit, rest[:EXACT_CHARS])):
            return None
        if not name:
            break
        found = may_have[0].compiled.match(rest) if may_have and may_have[0].asks_only_time else None
        if not found or not found.end() or may_have[0].name != name:
            return None
        own = {n: slice(at + found.start(n), at + found.end(n)) for n, value in found.groupdict().items() if value}
        if places.keys() & own.keys() or (timed and may_have[0].clock != "none"):
            return None
        places |= own
        timed = {n: own[n] for n in own if n not in PLACED_FIELDS} if may_have[0].clock != "none" else timed
        checks += [(own[n].start, digits) for n, digits in may_have[0].first_digits if n in own]
        at += found.end()
    iso = _iso(text, timed)
    fields = tuple(map(places.get, PLACED_FIELDS))
    resolution = parsed.stamp.resolution_s if parsed.stamp else 0.0
    made = Recipe(parsed.formats, at, fields, timed, iso, resolution, tuple(checks))
    return made if not may_have and made.read(text) == parsed else None


def _iso(text: str, timed: Places) -> slice | None:
    """Where the time stands, if it has no other parts than a date, a time of day and a fraction, as Python reads them."""
    rest = {name: at for name, at in timed.items() if name not in ("y", "mo", "d", "h", "m", "s", "frac")}
    if rest or "y" not in timed:
        return None
    start = timed["y"].start
    if any(timed.get(name) != slice(start + a, start + b) for name, a, b in ISO_PARTS):
        return None
    fraction = timed.get("frac", slice(start + ISO_CHARS, start + ISO_CHARS))
    if fraction.stop - start - ISO_CHARS > MAX_FRACTION_CHARS or ("frac" in timed and fraction.start != start + ISO_CHARS + 1):
        return None
    return slice(start, fraction.stop) if (text[start + 4], text[start + 13]) == ("-", ":") else None
