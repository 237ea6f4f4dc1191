"""What a case shows that speaks against a remedy: asked here alone, of every remedy that is told.

    Unset LD_LIBRARY_PATH for this program       not on Windows
    Reboot the machine                           not in a hosted session
    Take a smaller batch; evaluate in ...        of a batch of 1 only "Evaluate in ..." is left
    Put the file at /dev/dri/card0               no device is a file that somebody puts there

Each contradiction has a name: those of tables/contradictions.csv, "tool" (tables/tools.csv: it does not exist where the job ran),
the needs of tables/needs.csv (the log shows another framework, launcher or platform), and "set already" (the log shows the
setting that it gives), which is asked of what stands behind the first remedies. A clause of a remedy ends at a semicolon. A
clause that a row excludes is left out; without a clause left, or where a tool or a need is lacking, the remedy is not told.
"""

import functools

from forensics.advice.case import AROUND_FACT
from forensics.core import lazy
from forensics.database import read_rows
from forensics.database.conditions import Environment, WordRule, condition_holds, needs, rule_words, tools_available
from forensics.model import Fields

CAUSE_FACT = "of_cause"  # the id of the cause that is advised on, which shows some needs by itself: a GPU's shows a GPU
BETWEEN = "; "  # between the clauses of a remedy
OR = " || "  # between the conditions of a cell
JOINING_PATTERN = lazy.regex(r"^(?:and|or|else|then|meanwhile) ")
SETTING_PATTERN = lazy.regex(r"\b(?:[A-Z][A-Z0-9]*_[A-Z0-9_]+|[a-z]+_[a-z_]+) ?= ?\w[\w.:]*")


class Contradiction(WordRule, frozen=True):
    """A remedy with such words is excluded if one of the conditions `shown` holds."""

    name: str
    shown: tuple[str, ...]


@functools.cache
def contradictions() -> tuple[Contradiction, ...]:
    """The rows of tables/contradictions.csv."""
    rows = read_rows("contradictions")
    return tuple(Contradiction(*rule_words(row), row["contradiction"], tuple(row["shown"].split(OR))) for row in rows)


def contradiction_of(text: str, facts: Fields, environment: Environment) -> str:
    """The name of what the case shows that speaks against `text`; empty if nothing does."""
    of_case = _lacking(text, facts, environment) or _shown_against(text, facts, environment)
    return of_case or ("set already" if is_set_already(text, facts) else "")


def _lacking(text: str, facts: Fields, environment: Environment) -> str:
    """The name of what `text` speaks of and the case does not have."""
    if tools_available(text, environment) is False:
        return "tool"
    cause = str(facts.get(CAUSE_FACT, ""))
    for need in needs():
        shown = need.shown_by and need.shown_by.match(cause)
        if not shown and need.pattern.search(text) and condition_holds(need.when, facts, environment) is False:
            return need.name
    return ""


def _shown_against(text: str, facts: Fields, environment: Environment) -> str:
    """The name of the first row that excludes `text`."""
    about = (row for row in contradictions() if row.is_about(text))
    return next((row.name for row in about if any(condition_holds(c, facts, environment) for c in row.shown)), "")


def is_set_already(text: str, facts: Fields) -> bool:
    """Does the log show a setting that `text` gives? A message may also propose it: what its own words ask for is told anyway."""
    seen = _bare(str(facts.get(AROUND_FACT, "")))
    return bool(seen) and any(_bare(m[0]) in seen for m in SETTING_PATTERN.finditer(text))


def _bare(text: str) -> str:
    return text.replace(" ", "").replace('"', "").replace("'", "")


def fitting_part(text: str, facts: Fields, environment: Environment) -> str:
    """`text` without the clauses that the case contradicts; empty if none is left."""
    if _lacking(text, facts, environment):
        return ""
    parts = text.split(BETWEEN)
    kept = [part for part in parts if not _shown_against(part, facts, environment)]
    if len(kept) == len(parts):
        return text
    left = BETWEEN.join(kept)
    bare = JOINING_PATTERN.sub("", left)
    return left if text.startswith(left) else bare[:1].upper() + bare[1:]
