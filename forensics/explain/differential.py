"""What it may be where the words of a question name no cause: the likeliest causes in that setting, and how to tell them apart.

"Why does my notebook crash?" -> the setting `notebook`: memory, an exception, the order of cells, a native crash, each with the
one observation that tells it from the others, the command for it, and the first step.

tables/differential.csv has the rows, likeliest first, and the words of each setting. `share` is what a study counted, `source` is
the study: the shares of two studies count different things, and are no probabilities.
"""

from itertools import groupby

from msgspec import Struct

from forensics.database import read_rows
from forensics.explain.words import stems


class Possibility(Struct, frozen=True):
    """One thing that it may be. `causes`: ids. `share` and `source`: how often a study counted it, empty if none did. `sign`: the
    observation that tells it. `commands`: how to look. `first`: what to do first if it is so."""

    causes: tuple[str, ...]
    share: str
    source: str
    sign: str
    commands: tuple[str, ...]
    first: str


class Differential(Struct, frozen=True):
    """The possibilities in a setting, likeliest first. `title`: the setting in words."""

    setting: str
    title: str
    possibilities: tuple[Possibility, ...]


def differential_of(question: str) -> Differential:
    """The differential for the setting with most words in `question`; for a machine of its own if there are none."""
    asked = set(stems(question))
    settings = [list(rows) for _, rows in groupby(read_rows("differential"), lambda row: row["setting"])]
    rows = max(settings, key=lambda rows: (len(asked.intersection(stems(rows[0]["words"]))), not rows[0]["words"]))
    return Differential(rows[0]["setting"], rows[0]["title"], tuple(map(_possibility, rows)))


def _possibility(row: dict[str, str]) -> Possibility:
    commands = tuple(part.strip() for part in row["command"].split(" || ") if part)
    return Possibility(tuple(row["causes"].split()), row["share"], row["source"], row["sign"], commands, row["first"])
