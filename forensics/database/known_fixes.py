"""Failures whose remedy is known from people who confirmed it, by the words of their message, in tables/known_fixes.csv.

    ImportError: cannot import name 'cached_download' from 'huggingface_hub'   -> Install huggingface_hub below 0.26, ...

A row belongs to a message and to no cause: a break between two releases is told by whatever raises it. Its remedy stands before
those of the cause that a case was given.
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

TABLE = "known_fixes"
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


@functools.cache
def known_fixes() -> tuple[KnownFix, ...]:
    """The rows of tables/known_fixes.csv, those first that most people confirmed."""
    path = builtin_folder() / "tables" / f"{TABLE}.csv"
    rows = (_known_fix(row, Place(str(path), number)) for number, row in enumerate(read_rows(TABLE), 2))
    return tuple(sorted(rows, key=lambda fix: -fix.remedy.confirmed))


def known_fixes_in(evidence: str) -> tuple[Remedy, ...]:
    """The remedies of the messages in `evidence`, the text of its lines; the case's facts choose among them."""
    text = evidence.lower()
    return tuple(fix.remedy for fix in known_fixes() if fix.stands_in(text)) if text else ()


def _known_fix(row: dict[str, str], place: Place) -> KnownFix:
    words, commands = _parts(row["words"]), _parts(row["commands"])
    shown = (f"{row['check']}   # to see that it worked",) if row["check"] else ()
    remedy = Remedy(
        do=row["do"],
        who="admin" if row["who"] == "admin" else "user",
        why=row["why"],
        commands=commands + shown,
        when=("evidence~" + "|".join(map(re.escape, words)), *_parts(row["when"])),
        unless=_parts(row["unless"]),
        source=row["source"],
        effects=tuple(dict.fromkeys(effect.kind for c in commands for effect in effects_of(c))),
        confirmed=int(row["confirmed"] or 0),
        place=place,
    )
    return KnownFix(tuple(w.lower() for w in words), remedy, row["example"])


def _parts(cell: str) -> tuple[str, ...]:
    return tuple(cell.split(OR)) if cell else ()


def known_fix_faults(given: set[str]) -> list[tuple[str, int, str]]:
    """Path, line and text of each fault of the table. `given`: the names of facts that its texts may name besides what their
    patterns find."""
    return [(f.remedy.place.path, f.remedy.place.line, what) for f in known_fixes() for what in _faults(f, given)]


def _faults(fix: KnownFix, given: set[str]) -> Iterator[str]:
    remedy = fix.remedy
    yield from (fault for c in (*remedy.when, *remedy.unless) if (fault := condition_fault(c)))
    quoted = {"evidence": fix.example, "around": fix.example}
    tried = [c for c in remedy.when if c.startswith(("evidence~", "around~"))]
    if missed := [c for c in tried if not condition_holds(c, quoted, {})]:
        yield f"its example {fix.example!r} does not hold {missed[0]}"
    known = {*given, *group_names_of(remedy.when)}
    texts = (remedy.do, remedy.why, *remedy.commands)
    yield from (f"nothing gives {{{n}}}" for text in texts for n in TEMPLATE_FIELD_PATTERN.findall(text) if n not in known)
    if not remedy.source:
        yield "it has no source"
