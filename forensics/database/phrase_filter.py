"""A line to the classes of phrases that it may belong to: one pass of Hyperscan over it instead of a search for each class.

"Epoch 3/10 loss 0.41"  ->  progress, and no other; whether it is progress is for the pattern of that class to say

Hyperscan reports more than a pattern finds where it cannot tell (a look behind, a look ahead), and never less: these lines may
belong to the class, the others surely do. It reads bytes, and Python's `\\s` and `\\w` know more letters than those: a line that
is not plain ASCII may belong to all classes.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import hyperscan

from forensics.core import lazy

LOOKS_AROUND = ("(?=", "(?!", "(?<=", "(?<!")
EVERY_CLASS = -1, 0  # each bit of the first is set, none of the second
SURE_CLASS_OFFSET = 1 << 8  # what Hyperscan finds by itself is reported as the place of the class and this
READ_OTHERWISE = ("{,", "(?x", "(?a", "(?L")  # what Hyperscan would take for something else
ANYTHING = "^"  # stands for a pattern that Hyperscan refuses
SEPARATORS_PATTERN = lazy.regex(r"[\x1c-\x1f]")  # blanks of Python's own


def compile_phrases(phrases: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]) -> Any:
    """A Hyperscan database that reports classes of `phrases` by their place, see SURE_CLASS_OFFSET; None for no phrases.

    It takes a second of processor, so the database's cache keeps it.
    """
    given = [
        (i, ANYTHING if any(other in pattern for other in READ_OTHERWISE) else pattern)
        for i, (_, patterns) in enumerate(phrases.values())
        for pattern in patterns
    ]
    if not given:
        return None
    try:
        return _compiled(given)
    except hyperscan.HyperscanError:
        return _compiled([(i, pattern if _is_accepted(pattern) else ANYTHING) for i, pattern in given])


def _compiled(given: Sequence[tuple[int, str]]) -> Any:
    matcher = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    matcher.compile(
        expressions=[p.encode() for _, p in given],
        ids=[i + SURE_CLASS_OFFSET * _is_found(p) for i, p in given],
        flags=[_flags(p) for _, p in given],
    )
    return matcher


def _is_found(pattern: str) -> bool:
    """Does Hyperscan find just what Python's search finds?"""
    return pattern != ANYTHING and not any(look in pattern for look in LOOKS_AROUND)


def _flags(pattern: str) -> int:
    if pattern == ANYTHING:
        return int(hyperscan.HS_FLAG_ALLOWEMPTY | hyperscan.HS_FLAG_SINGLEMATCH)
    return int(hyperscan.HS_FLAG_SINGLEMATCH | (0 if _is_found(pattern) else hyperscan.HS_FLAG_PREFILTER))


def _is_accepted(pattern: str) -> bool:
    try:
        _compiled([(0, pattern)])
    except hyperscan.HyperscanError:
        return False
    return True


def phrase_filter(matcher: Any) -> Callable[[str], tuple[int, int]]:
    """A function that gives the classes to which a text may belong, and those to which it does, bit i for class i; `matcher`: of
    compile_phrases."""
    local = threading.local()

    def append_place(place: int, _start: int, _end: int, _flags: int, places: Any) -> None:
        places.append(place)

    def possible(text: str) -> tuple[int, int]:
        if matcher is None or not text.isascii() or (not text.isprintable() and SEPARATORS_PATTERN.search(text)):
            return EVERY_CLASS
        scratch = getattr(local, "scratch", None)  # Hyperscan's working space; each thread needs its own
        if scratch is None:
            scratch = local.scratch = hyperscan.Scratch(matcher)
        places: list[int] = []
        matcher.scan(text.encode(), append_place, 0, places, scratch)  # by position, since names take twice as long
        may_be = is_one = 0
        for i in places:
            if i >= SURE_CLASS_OFFSET:
                is_one |= 1 << (i - SURE_CLASS_OFFSET)
            else:
                may_be |= 1 << i
        return may_be | is_one, is_one

    return possible
