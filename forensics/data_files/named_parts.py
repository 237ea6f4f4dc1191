"""Patterns that name the parts of a line, as data with examples: signatures/readers/named_parts.yaml.

patterns_of("rank places").rank_tag.search(line)   ->   the match of the row `rank tag` of that group
first_parts("pods", ["fit-0   0/1   OOMKilled   0   3m"])   ->   {"pod": "fit-0"}
"""

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct

from forensics.core import lazy
from forensics.data_files.cached_data import load_data

PARTS_FILE = "readers/named_parts.yaml"
MAX_PIECE_DEPTH = 5  # a piece that names itself would never end
PIECE_PATTERN = lazy.regex(r"%\{(\w+)\}")


class PartRow(Struct, frozen=True, dict=True):
    """One pattern of a group. `name`: what it tells, if the rows of the group tell different things. `match`, `no_match`: lines
    that it fits and does not fit. `line`: of its entry. `texts`: of the group, at its first row alone: the scanner looks for the
    lines that have one of them (`Trigger.of`)."""

    group: str
    name: str
    pattern: str
    match: tuple[str, ...]
    no_match: tuple[str, ...]
    line: int
    texts: tuple[str, ...] = ()

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """The pattern, compiled at its first use."""
        return lazy.regex(self.pattern)

    def parts(self, text: str) -> dict[str, str]:
        """What the named groups of the pattern take in `text`; those that take nothing are left out."""
        found = self.regex.search(text)
        return {name: part for name, part in found.groupdict().items() if part} if found else {}


@functools.cache
def part_groups() -> dict[str, tuple[PartRow, ...]]:
    """All groups by name, each with its rows. Raises DatabaseError for a fault in the file."""
    groups: dict[str, tuple[PartRow, ...]] = {}
    for row in load_data(PARTS_FILE, PartRow, read_part_rows):
        groups[row.group] = (*groups.get(row.group, ()), row)
    return groups


def part_rows(group: str) -> tuple[PartRow, ...]:
    """The rows of a group. Raises KeyError for an unknown group, DatabaseError for a fault in the file."""
    return part_groups()[group]


class _Patterns:
    """See patterns_of."""

    def __init__(self, group: str) -> None:
        self._group = group

    def __getattr__(self, attribute: str) -> re.Pattern[str]:
        name = attribute.replace("_", " ")
        found = next((row.regex for row in part_groups().get(self._group, ()) if row.name == name), None)
        if found is None:
            raise AttributeError(f"{PARTS_FILE} has no row {name!r} in its group {self._group!r}")
        setattr(self, attribute, found)  # it is not looked for again
        return found


def patterns_of(group: str) -> _Patterns:
    """The patterns of a group by the names of their rows: `.pod_name` is that of the row `pod name`, read at its first use."""
    return _Patterns(group)


def first_row(group: str, text: str) -> PartRow | None:
    """The first row of a group that fits `text`."""
    return next((row for row in part_rows(group) if row.regex.search(text)), None)


def first_parts(group: str, texts: Iterable[str]) -> dict[str, str]:
    """The parts of the first of `texts` that a row of the group fits, by the first such row."""
    return next((parts for text in texts for row in part_rows(group) if (parts := row.parts(text))), {})


def every_value(group: str, text: str) -> Iterator[tuple[str, str]]:
    """(name of the row, what its one group takes) of each place in `text` that a row of the group fits."""
    for row in part_rows(group):
        yield from ((row.name, next(filter(None, found.groups()))) for found in row.regex.finditer(text))


def with_pieces(pattern: str, pieces: Mapping[str, str]) -> str:
    """`pattern` with its %{PIECES} put in; raises KeyError, which says what is wrong, for an unknown or an endless one."""
    for _ in range(MAX_PIECE_DEPTH):
        if unknown := set(PIECE_PATTERN.findall(pattern)) - pieces.keys():
            raise KeyError(f"no piece is named {', '.join(sorted(unknown))}")
        pattern = PIECE_PATTERN.sub(lambda found: pieces[found[1]], pattern)
        if not PIECE_PATTERN.search(pattern):
            return pattern
    raise KeyError("its pieces name each other without an end")


def read_part_rows(data: Any, path: Path) -> list[PartRow]:
    """The rows of the document; raises BadFormError."""
    from forensics.data_files.form import LINE_KEY, BadFormError, entries, keys, text, texts

    keys(data, {"pieces", "groups"}, {"groups"})
    pieces = {k: v for k, v in (data.get("pieces") or {}).items() if k != LINE_KEY}
    made: list[PartRow] = []
    for group in entries(data, "groups"):
        keys(group, {"name", "means", "texts", "rows"}, {"name", "means", "rows"}, data[LINE_KEY])
        text(group, "means")
        if any(row.group == group["name"] for row in made):
            raise BadFormError(group[LINE_KEY], f"the group {group['name']} is written twice")
        wanted = texts(group, "texts")
        for row in entries(group, "rows"):
            keys(row, {"name", "pattern", "match", "no_match"}, {"pattern", "match"}, group[LINE_KEY])
            try:
                pattern = with_pieces(text(row, "pattern"), pieces)
                re.compile(pattern)
            except (KeyError, re.error) as error:
                raise BadFormError(row[LINE_KEY], f"not a valid pattern: {error}") from error
            examples = texts(row, "match"), texts(row, "no_match")
            made.append(PartRow(text(group, "name"), row.get("name", ""), pattern, *examples, row[LINE_KEY], wanted))
            wanted = ()
    return made
