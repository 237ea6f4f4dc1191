"""Alternatives of a pattern in which no anchor of its signature stands: the scanner never asks for them.

anchor: [lost its lease]    pattern: 'lost its lease|was fenced by (?P<node>\\S+)'    ->    'was fenced by …' is out of reach

What varies may hold an anchor all the same, as may the line around the match, so this is a note and not a fault.
"""

import importlib
import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Any

from forensics import lazy
from forensics.database.entries import Signature

ANYTHING = "\0"  # stands for what varies
MOST = 3000  # ways through a pattern; more differ in details
SHOWN = 3
NAMED = lazy.regex(r"\(\?P<\w+>")
REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")


def out_of_reach(signature: Signature) -> Iterator[str]:
    """What is noted of `signature`: one text with a few of the alternatives that no anchor calls for, or nothing."""
    anchors = [a.lower() for a in signature.anchors]
    lost = [way for way in dict.fromkeys(ways(signature.pattern)) if not _holds(way, anchors)]
    if lost:
        shown = ", ".join(repr(way.replace(ANYTHING, "…")) for way in lost[:SHOWN])
        yield f"no anchor stands in {len(lost)} of its alternatives, which may never be looked for: {shown}"


def _holds(way: str, anchors: Sequence[str]) -> bool:
    """Does one of `anchors` stand in `way`, where what varies may be nothing or a space?"""
    texts = {way, way.replace(ANYTHING, ""), way.replace(ANYTHING, " ")}
    return any(anchor in text for text in texts for anchor in anchors)


def _is_text(way: str) -> bool:
    return bool(way.strip(ANYTHING))


def ways(pattern: str) -> Iterator[str]:
    """The texts that `pattern` asks for, in lower case, one for each way through its alternatives, what varies as ANYTHING.

    None of a pattern that only `regex` can read, as with `\\p{L}`.
    """
    try:
        tree = _parser().parse(NAMED.sub("(", pattern))  # `regex` lets two groups have one name
    except (re.error, RecursionError):
        return
    for way in islice(_through(tree), MOST):
        yield way.lower()


@cache
def _parser() -> Any:
    return importlib.import_module("re._parser")  # the standard library's own; it has no public one


def _through(items: Sequence[Any]) -> Iterator[str]:
    """Every way through `items`, one behind the other."""
    if not items:
        yield ""
        return
    for first in _of(*items[0]):
        for rest in _through(items[1:]):
            yield first + rest


def _of(kind: Any, what: Any) -> Iterator[str]:
    """Every way through one item of a parsed pattern."""
    name = str(kind)
    if name == "LITERAL":
        yield chr(what)
    elif name == "BRANCH":
        for branch in what[1]:
            yield from _through(list(branch))
    elif name in ("SUBPATTERN", "ATOMIC_GROUP"):
        yield from _through(list(what[-1] if name == "SUBPATTERN" else what))
    elif name in REPEATS:
        least, _, inside = what
        told = list(islice(_through(list(inside)), MOST))
        yield from told if least else ["" if any(map(_is_text, told)) else ANYTHING, *filter(_is_text, told)]
    elif name == "IN" and len(folded := {chr(c).lower() for k, c in what if str(k) == "LITERAL"}) == 1 and len(what) <= 2:
        yield from folded  # [Ff]
    elif name in ("AT", "ASSERT", "ASSERT_NOT"):
        yield ""
    else:
        yield ANYTHING
