"""Remedies that belong to a message and to no cause: tables known_fixes, first_steps and other_ways.

    ImportError: cannot import name 'cached_download' from 'huggingface_hub'   -> Install huggingface_hub below 0.26, ...

A row belongs to a message and to no cause: a break between two releases is told by whatever raises it. Its remedy stands before
those of the cause that a case was given. tables/first_steps.csv has what follows from the words of any program - it exists
already, there is no such name, the port is taken - where the cause itself has only a general remedy. tables/other_ways.csv has
what else solved a kind of failure for others, by its causes: those remedies stand behind the ones that were made for the case.
"""

import functools
import re
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from forensics.data_files.cached_data import builtin_folder
from forensics.database.effects import effects_of
from forensics.database.entries import Place, Remedy
from forensics.database.tables import entries, read_rows, rows_that_speak

TABLE, STEPS_TABLE, WAYS_TABLE = "known_fixes", "first_steps", "other_ways"
FIRST_LINE = 2  # of the rows of a table, behind the names of the columns
MAX_KEPT_MESSAGES = 64  # chosen by hand: of one incident some three are asked for, each several times
MAX_KNOWN_FIXES = 2  # chosen by hand: a message has one break; two rows tell it from two sides


class Row(Struct, frozen=True):
    """A row of one of the tables. Its remedy is made when it is asked for: a case needs the remedies of a few rows."""

    cells: dict[str, str]
    place: Place

    @property
    def example(self) -> str:
        """A message for which the remedy is meant."""
        return self.cells["example"]

    @property
    def confirmed(self) -> int:
        """How many people confirmed the remedy."""
        return int(self.cells.get("confirmed") or 0)

    @property
    def remedy(self) -> Remedy:
        """What is to be done."""
        return _remedy(self)


class KnownFix(Row, frozen=True):
    """A remedy, and plain texts in lower case one of which stands in its message."""

    words: tuple[str, ...]

    @property
    def remedy(self) -> Remedy:
        """What is to be done where the evidence has one of the texts."""
        return _remedy(self, ("evidence~" + "|".join(map(re.escape, entries(self.cells["words"]))),))

    @property
    def remedy_near(self) -> Remedy:
        """What is to be done where one of the texts stands in or near the evidence."""
        remedy = self.remedy
        return replace(remedy, when=tuple(re.sub("^evidence~", "around~", condition) for condition in remedy.when))


class OtherWay(Row, frozen=True):
    """A remedy for failures of some causes, whose ids or families are given."""

    causes: tuple[str, ...]

    def is_for(self, cause: str) -> bool:
        """Is it for the cause of this id?"""
        return cause in self.causes or cause.partition(".")[0] in self.causes


def known_fixes(said: str | None = None) -> tuple[KnownFix, ...]:
    """The rows of tables/known_fixes.csv, those first that most people confirmed; only those whose text stands in `said`, if
    given."""
    path = str(builtin_folder() / "tables" / f"{TABLE}.csv")
    rows = enumerate(read_rows(TABLE)) if said is None else rows_that_speak(TABLE, said)
    fixes = (KnownFix(row, Place(path, at + FIRST_LINE), entries(row["words"].lower())) for at, row in rows)
    return tuple(sorted(fixes, key=lambda fix: -fix.confirmed))


@functools.cache
def other_ways() -> tuple[OtherWay, ...]:
    """The rows of tables/other_ways.csv, those first that most people confirmed."""
    ways = (OtherWay(row, place, tuple(row["causes"].split())) for row, place in _placed_rows(WAYS_TABLE))
    return tuple(sorted(ways, key=lambda way: -way.confirmed))


@functools.cache
def first_steps() -> tuple[Row, ...]:
    """The rows of tables/first_steps.csv, in their order."""
    return tuple(Row(row, place) for row, place in _placed_rows(STEPS_TABLE))


@functools.lru_cache(maxsize=MAX_KEPT_MESSAGES)
def known_fixes_in(evidence: str) -> tuple[Remedy, ...]:
    """The remedies of the messages in `evidence`, the text of its lines; the case's facts choose among them."""
    return tuple(fix.remedy for fix in known_fixes(evidence)) if evidence else ()


@functools.lru_cache(maxsize=MAX_KEPT_MESSAGES)
def known_fixes_near(around: str) -> tuple[Remedy, ...]:
    """The remedies of the messages in `around`, the text of the evidence and of the lines around it."""
    return tuple(fix.remedy_near for fix in known_fixes(around)) if around else ()


def _placed_rows(table: str) -> Iterator[tuple[dict[str, str], Place]]:
    path = str(builtin_folder() / "tables" / f"{table}.csv")
    yield from ((row, Place(path, number)) for number, row in enumerate(read_rows(table), FIRST_LINE))


def _remedy(told: Row, when: tuple[str, ...] = ()) -> Remedy:
    """The remedy of a row; `when` stands before the conditions that the row names."""
    row = told.cells
    commands = entries(row["commands"])
    shown = (f"{row['check']}   # to see that it worked",) if row.get("check") else ()
    return Remedy(
        do=row["do"],
        who="admin" if row["who"] == "admin" else "user",
        why=row["why"],
        commands=commands + shown,
        when=(*when, *entries(row["when"])),
        unless=entries(row["unless"]),
        source=row["source"],
        effects=tuple(dict.fromkeys(effect.kind for c in commands for effect in effects_of(c))),
        confirmed=told.confirmed,
        place=told.place,
    )
