"""Failures whose remedy is known from people who confirmed it, by the words of their message, in tables/known_fixes.csv.

    ImportError: cannot import name 'cached_download' from 'huggingface_hub'   -> Install huggingface_hub below 0.26, ...

A row belongs to a message and to no cause: a break between two releases is told by whatever raises it. Its remedy stands before
those of the cause that a case was given. tables/other_ways.csv has what else solved a kind of failure for others, by its causes:
those remedies stand behind the ones that were made for the case.
"""

import functools
import re
from collections.abc import Iterator

from msgspec import Struct

from forensics.database.conditions import condition_fault, condition_holds, group_names_of
from forensics.database.csv_tables import read_rows
from forensics.database.effects import effects_of
from forensics.database.entries import TEMPLATE_FIELD_PATTERN, Place, Remedy
from forensics.database.files import builtin_folder

TABLE, WAYS_TABLE = "known_fixes", "other_ways"
OR = " || "  # between the entries of a cell
MAX_KNOWN_FIXES = 2  # chosen by hand: a message has one break; two rows tell it from two sides


class KnownFix(Struct, frozen=True):
    """A remedy, plain texts in lower case one of which stands in its message, and such a message."""

    words: tuple[str, ...]
    remedy: Remedy
    example: str

    def stands_in(self, text: str) -> bool:
        """Is one of its texts in `text`, which is in lower case?"""
        return any(w in text for w in self.words)


class OtherWay(Struct, frozen=True):
    """A remedy for failures of some causes, whose ids or families are given, and a message for which it is meant."""

    causes: tuple[str, ...]
    remedy: Remedy
    example: str

    def is_for(self, cause: str) -> bool:
        """Is it for the cause of this id?"""
        return cause in self.causes or cause.partition(".")[0] in self.causes


@functools.cache
def known_fixes() -> tuple[KnownFix, ...]:
    """The rows of tables/known_fixes.csv, those first that most people confirmed."""
    fixes = []
    for row, place in _placed_rows(TABLE):
        words = _parts(row["words"])
        remedy = _remedy(row, place, ("evidence~" + "|".join(map(re.escape, words)),))
        fixes.append(KnownFix(tuple(w.lower() for w in words), remedy, row["example"]))
    return tuple(sorted(fixes, key=lambda fix: -fix.remedy.confirmed))


@functools.cache
def other_ways() -> tuple[OtherWay, ...]:
    """The rows of tables/other_ways.csv, those first that most people confirmed."""
    ways = (
        OtherWay(tuple(row["causes"].split()), _remedy(row, place), row["example"]) for row, place in _placed_rows(WAYS_TABLE)
    )
    return tuple(sorted(ways, key=lambda way: -way.remedy.confirmed))


def known_fixes_in(evidence: str) -> tuple[Remedy, ...]:
    """The remedies of the messages in `evidence`, the text of its lines; the case's facts choose among them."""
    text = evidence.lower()
    return tuple(fix.remedy for fix in known_fixes() if fix.stands_in(text)) if text else ()


def _placed_rows(table: str) -> Iterator[tuple[dict[str, str], Place]]:
    path = str(builtin_folder() / "tables" / f"{table}.csv")
    yield from ((row, Place(path, number)) for number, row in enumerate(read_rows(table), 2))


def _remedy(row: dict[str, str], place: Place, when: tuple[str, ...] = ()) -> Remedy:
    """The remedy of a row; `when` stands before the conditions that the row names."""
    commands = _parts(row["commands"])
    shown = (f"{row['check']}   # to see that it worked",) if row["check"] else ()
    return Remedy(
        do=row["do"],
        who="admin" if row["who"] == "admin" else "user",
        why=row["why"],
        commands=commands + shown,
        when=(*when, *_parts(row["when"])),
        unless=_parts(row["unless"]),
        source=row["source"],
        effects=tuple(dict.fromkeys(effect.kind for c in commands for effect in effects_of(c))),
        confirmed=int(row["confirmed"] or 0),
        place=place,
    )


def _parts(cell: str) -> tuple[str, ...]:
    return tuple(cell.split(OR)) if cell else ()


def known_fix_faults(given: set[str]) -> list[tuple[str, int, str]]:
    """Path, line and text of each fault of both tables. `given`: the names of facts that their texts may name besides what their
    patterns find."""
    rows: list[KnownFix | OtherWay] = [*known_fixes(), *other_ways()]
    return [(f.remedy.place.path, f.remedy.place.line, what) for f in rows for what in _faults(f, given)]


def _faults(fix: KnownFix | OtherWay, given: set[str]) -> Iterator[str]:
    remedy = fix.remedy
    yield from (fault for c in (*remedy.when, *remedy.unless) if (fault := condition_fault(c)))
    quoted = {"evidence": fix.example, "around": fix.example}
    tried = [c for c in remedy.when if c.startswith(("evidence~", "around~"))]
    if missed := [c for c in tried if not condition_holds(c, quoted, {})]:
        yield f"its example {fix.example!r} does not hold {missed[0]}"
    known = {*given, *group_names_of(remedy.when)}
    texts = (remedy.do, remedy.why, *remedy.commands)
    yield from (f"nothing gives {{{n}}}" for text in texts for n in TEMPLATE_FIELD_PATTERN.findall(text) if n not in known)
    if not remedy.source and isinstance(fix, KnownFix):
        yield "it has no source"
