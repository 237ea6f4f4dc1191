"""What a failure may be where no line and no word names its cause: the likeliest causes of a setting, tables/differential.csv.

"Why does my notebook crash?" -> the setting `notebook`: memory, an exception, the order of cells, a native crash, each with the
one observation that tells it from the others, the command for it, and the first step.

Rows stand likeliest first. `words`: of a question about the setting. `share` is what a study counted, `source` is the study: the
shares of two studies count different things, and are no probabilities. `ruled_out`: what excludes it (advice/possible.py).
"""

from itertools import groupby

from msgspec import Struct

from forensics.database.tables import read_rows

ANY_SETTING = "machine"  # where nothing tells another one


class Possibility(Struct, frozen=True):
    """One thing that it may be. `causes`: ids. `share` and `source`: how often a study counted it, empty if none did. `sign`: the
    observation that tells it. `commands`: how to look. `first`: what to do first if it is so. `ruled_out`: what excludes it."""

    causes: tuple[str, ...]
    share: str
    source: str
    sign: str
    commands: tuple[str, ...]
    first: str
    ruled_out: tuple[str, ...] = ()


class Differential(Struct, frozen=True):
    """The possibilities in a setting, likeliest first. `title`: the setting in words. `words`: of a question about it."""

    setting: str
    title: str
    possibilities: tuple[Possibility, ...]
    words: str = ""


def differentials() -> list[Differential]:
    """The differential of each setting, in the order of the table."""
    settings = [list(rows) for _, rows in groupby(read_rows("differential"), lambda row: row["setting"])]
    return [Differential(r[0]["setting"], r[0]["title"], tuple(map(_possibility, r)), r[0]["words"]) for r in settings]


def _possibility(row: dict[str, str]) -> Possibility:
    commands = tuple(part.strip() for part in row["command"].split(" || ") if part)
    excluded = tuple(row["ruled_out"].split())
    return Possibility(tuple(row["causes"].split()), row["share"], row["source"], row["sign"], commands, row["first"], excluded)
