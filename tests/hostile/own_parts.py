"""Texts that are bad for a pattern, made of its own parts: what it repeats, repeated; what begins it, begun again and again.

r"step (\\d+)\\s*:"   ->   "step 000000...", "step 0      ...", "step step step ...", "step 0: step 0: ...", each with an end that fits nothing
"""

from collections.abc import Iterator, Sequence
from typing import Any

from forensics.database.anchors import parsed

MANY = 8  # a part that may stand so often is repeated
MAX_LETTERS = 5  # of a class that are tried one by one
MAX_UNITS = 40  # of a pattern
LETTERS = "a0 /=.:-_'\"([{<,;|#A\t"  # what classes are tried with; the first that fits stands for the class
OF_CATEGORY = {"DIGIT": str.isdigit, "SPACE": str.isspace, "WORD": lambda c: c.isalnum() or c == "_"}
REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
Item = tuple[Any, Any]


def bad_texts(pattern: str, size: int) -> Iterator[str]:
    """Texts of about `size` characters."""
    for before, unit in dict.fromkeys(_units(parsed(pattern))):
        yield before + unit * (size // len(unit)) + "\0"


def _units(items: Sequence[Item]) -> list[tuple[str, str]]:
    """(what stands before, what is repeated)"""
    found = list(_inside(list(items), ""))
    whole = _sample(items)
    found += [("", before + unit) for before, unit in found if before] + [("", whole)]
    return [(before, unit) for before, unit in found if unit][:MAX_UNITS]


def _inside(items: list[Item], before: str) -> Iterator[tuple[str, str]]:
    for place, (kind, what) in enumerate(items):
        name = str(kind)
        if name in REPEATS:
            if what[1] >= MANY:
                behind = _sample(items[place + 1 : place + 2])[:1]
                yield from ((before, unit) for unit in (*_samples(what[2]), behind))
            yield from _inside(list(what[2]), before)
        elif name == "BRANCH":
            for branch in what[1]:
                yield from _inside(list(branch), before)
        elif name in ("SUBPATTERN", "ATOMIC_GROUP"):
            yield from _inside(list(what[-1] if name == "SUBPATTERN" else what), before)
        elif name in ("ASSERT", "ASSERT_NOT"):
            yield from _inside(list(what[1]), before)
        before += _sample([(kind, what)])


def _samples(items: Sequence[Item]) -> list[str]:
    """Texts that the items match: one, or one for each letter of a class and each way of alternatives."""
    if len(items) == 1 and str(items[0][0]) in ("IN", "ANY", "NOT_LITERAL"):
        return _letters(*items[0])
    if len(items) == 1 and str(items[0][0]) == "BRANCH":
        return [_sample(branch) for branch in items[0][1][1]][:MAX_LETTERS]
    if len(items) == 1 and str(items[0][0]) == "SUBPATTERN":
        return _samples(items[0][1][-1])
    return [_sample(items)]


def _sample(items: Sequence[Item]) -> str:
    """A text that the items match, with what is optional."""
    made = ""
    for kind, what in items:
        name = str(kind)
        if name == "LITERAL":
            made += chr(what)
        elif name in ("IN", "ANY", "NOT_LITERAL"):
            made += next(iter(_letters(kind, what)), "")
        elif name == "BRANCH":
            made += _sample(what[1][0])
        elif name in ("SUBPATTERN", "ATOMIC_GROUP"):
            made += _sample(what[-1] if name == "SUBPATTERN" else what)
        elif name in REPEATS:
            made += _sample(what[2]) * max(1, min(what[0], MANY))
    return made


def _letters(kind: Any, what: Any) -> list[str]:
    """Letters that a class matches."""
    name = str(kind)
    if name == "ANY":
        return ["a", " "]
    if name == "NOT_LITERAL":
        return [c for c in LETTERS if ord(c) != what][:2]
    negated = any(str(k) == "NEGATE" for k, _ in what)
    own = [chr(w) for k, w in what if str(k) == "LITERAL"] + [chr(w[0]) for k, w in what if str(k) == "RANGE"]
    return [c for c in dict.fromkeys((*own, *LETTERS)) if _fits(c, what) != negated][:MAX_LETTERS]


def _fits(letter: str, what: Sequence[Item]) -> bool:
    for kind, code in what:
        name = str(kind)
        if name == "LITERAL" and ord(letter) == code:
            return True
        if name == "RANGE" and code[0] <= ord(letter) <= code[1]:
            return True
        if name == "CATEGORY":
            word = str(code).removeprefix("CATEGORY_")
            if OF_CATEGORY[word.removeprefix("NOT_")](letter) != word.startswith("NOT_"):
                return True
    return False
