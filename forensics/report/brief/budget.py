"""Choose what fits into a budget of tokens: the items of most worth first, each in its longest form that fits, no line twice.

With the package tiktoken, and its vocabulary `o200k_base` in the folder TIKTOKEN_CACHE_DIR, they are counted. Nothing is loaded
from elsewhere.
Else this rule holds: a token for six letters of a word or a part of it (`loadData` has two), for three digits, for four equal
signs, for two bytes of other scripts, for blanks unless they are a single one; and a tenth more. Measured with three
vocabularies on 529 briefs of public logs in each of three sizes it counts a fifth too much in the median and never 8 % too few.
"""

import functools
import importlib
import importlib.util
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct

from forensics.core import lazy

Voice = Literal["own", "logged", "command"]  # whose words: this program's, a log's, a command that this program proposes
Place = tuple[str, int]
Count = Callable[[str], int]
FENCE_TOKENS = 8  # two rows of backticks with the name of a language, and two line ends


class Item(Struct, frozen=True):
    """Some rows of the brief. `worth`: 0 is taken first. `forms`: its rows, the longest form first; in each form.

    `share`: how much of the whole budget a form may take before a shorter one is used. `place`, `text`: of the line that it
    quotes; a line stands in the brief once. `again`: the row where it stands elsewhere already; empty for none.
    """

    worth: int
    forms: tuple[tuple[str, ...], ...]
    voice: Voice = "logged"
    share: float = 0.15
    place: Place | None = None
    text: str = ""
    again: str = ""


class Section(Struct, frozen=True):
    """Items below one heading, in reading order."""

    head: str
    items: tuple[Item, ...]


class Chosen(Struct):
    """Rows of one item that were taken: of the section and the item with these numbers."""

    section: int
    item: int
    voice: Voice
    rows: tuple[str, ...]


def choose(sections: Sequence[Section], budget: int, count: Count) -> list[Chosen]:
    """The rows that fit into `budget` tokens, in reading order."""
    order = sorted(
        ((item.worth, s, i) for s, section in enumerate(sections) for i, item in enumerate(section.items)), key=lambda x: x
    )
    taken: list[Chosen] = []
    seen: set[Place | str] = set()
    left = budget
    for _, s, i in order:
        item = sections[s].items[i]
        known = {key for key in (item.place, item.text) if key} & seen
        forms = ((item.again,),) if known and item.again else () if known else item.forms
        extra = _overhead(taken, s, item, sections[s].head, count)
        rows, cost = _longest(forms, min(left - extra, int(item.share * budget)), left - extra, count)
        if rows is None:
            continue
        taken.append(Chosen(s, i, item.voice, rows))
        seen |= {key for key in (item.place, item.text) if key}
        left -= cost + extra
    return sorted(taken, key=lambda c: (c.section, c.item))


def _overhead(taken: Sequence[Chosen], section: int, item: Item, head: str, count: Count) -> int:
    """What the heading and the fence cost that an item needs in addition."""
    beside = [c for c in taken if c.section == section]
    fence = item.voice != "own" and not any(c.voice == item.voice for c in beside)
    return (0 if beside else count(f"\n## {head}\n")) + FENCE_TOKENS * fence


def _longest(forms: Sequence[tuple[str, ...]], most: int, room: int, count: Count) -> tuple[tuple[str, ...] | None, int]:
    """The longest form within `most` tokens; the shortest one if it is at least within `room`. None if nothing fits."""
    for rows in forms:
        cost = count("\n".join(rows) + "\n")
        if cost <= (room if rows is forms[-1] else most):
            return rows, cost
    return None, 0


TOKEN_PIECES = lazy.regex(r"(?s)([A-Z]?[a-z]+|[A-Z]+)|(\d+)|(\s+)|(?P<other>[^\x00-\x7f]+)|(.)\5*")
SHARES = (6, 3, 1 << 30, 2, 4)  # letters, digits, blanks, bytes of other scripts, equal signs: of each so many are a token
MARGIN = 1.1  # the rule alone counts too few tokens in one log of twenty
VOCABULARY = "o200k_base"
KEPT_AS = "fb374d419588a4632f3f557e76b4b70aebbca790"  # the name under which tiktoken keeps it


def count_tokens(text: str) -> int:
    """How many tokens `text` has, by the vocabulary if it is there, else by the rule."""
    encode = _encoder()
    return len(encode(text)) if encode else counted_by_rule(text)


def counted_by_rule(text: str) -> int:
    """How many tokens the rule counts."""
    whole = 0
    for found in TOKEN_PIECES.finditer(text):
        kind, piece = (found.lastindex or 1) - 1, found[0]
        if piece != " ":
            whole += -(-len(piece.encode("utf-8", "surrogatepass") if found["other"] else piece) // SHARES[kind])
    return -int(-whole * MARGIN // 1)


@functools.cache
def _encoder() -> Callable[[str], list[int]] | None:
    """The encoder of tiktoken; None without the package or without the file of its vocabulary, which it would download."""
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", "")
    if not folder or not Path(folder, KEPT_AS).is_file() or importlib.util.find_spec("tiktoken") is None:
        return None
    vocabulary = importlib.import_module("tiktoken").get_encoding(VOCABULARY)
    return lambda text: list(vocabulary.encode(text, disallowed_special=()))
