"""What a case shows that speaks against a remedy by its words: tables/contradictions.csv.

    Unset LD_LIBRARY_PATH for this program       not on Windows
    Reboot the machine                           not in a hosted session
    Take a smaller batch; evaluate in ...        of a batch of 1 only "Evaluate in ..." is left

A clause of a remedy ends at a semicolon. A clause whose words the case contradicts is left out; without a clause left the
remedy is not told.
"""

import functools
import re

from msgspec import Struct

from forensics.core import lazy
from forensics.database.conditions import Environment, condition_holds
from forensics.database.csv_tables import read_rows
from forensics.model import Fields

BETWEEN = "; "  # between the clauses of a remedy
OR = " || "  # between the conditions of a cell
JOINING_PATTERN = lazy.regex(r"^(?:and|or|else|then|meanwhile) ")


class Contradiction(Struct, frozen=True):
    """A row: the words of remedies, words beside which they apply all the same, and conditions one of which excludes them."""

    words: re.Pattern[str]
    settled: re.Pattern[str] | None
    shown: tuple[str, ...]

    def is_about(self, text: str) -> bool:
        """Are its words in `text`, and none that settles it?"""
        return bool(self.words.search(text)) and not (self.settled and self.settled.search(text))

    def is_shown(self, known: Fields, environment: Environment) -> bool:
        """Does the case show it?"""
        return any(condition_holds(c, known, environment) for c in self.shown)


@functools.cache
def contradictions() -> tuple[Contradiction, ...]:
    """The rows of tables/contradictions.csv."""
    return tuple(
        Contradiction(
            lazy.regex(row["words"]),
            lazy.regex(row["settled"]) if row["settled"] else None,
            tuple(row["shown"].split(OR)),
        )
        for row in read_rows("contradictions")
    )


def fitting_part(text: str, known: Fields, environment: Environment) -> str:
    """`text` without the clauses that the case contradicts; empty if none is left."""
    rows = [row for row in contradictions() if row.is_shown(known, environment)]
    if not any(row.is_about(text) for row in rows):
        return text
    kept = BETWEEN.join(part for part in text.split(BETWEEN) if not any(row.is_about(part) for row in rows))
    bare = JOINING_PATTERN.sub("", kept)
    return kept if text.startswith(kept) else bare[:1].upper() + bare[1:]
