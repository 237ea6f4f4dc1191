"""Guard the gaps of a pattern: a gap does not reach over a place where the pattern begins again.

NVRM: .{0,120}?(?:failed|unable)   ->   NVRM: (?:(?!NVRM: ).){0,120}?(?:failed|unable)

Without it, a line of many beginnings costs the length of the gap at each of them: 200 ms for 8 kB, and 4 ms with it. What was
found is still found, from the last beginning before it.
"""

import re

from forensics.core import lazy

MIN_GAP = 20  # characters; a shorter gap costs less than its guard
MIN_PLAIN_CHARS = 3  # of a beginning, in a row: a shorter one stands in the gaps of many messages
GAP = lazy.regex(r"(?:\.|\[\^\\n\])\{\d+,(\d+)\}(\??)(?!\+)")
NAMED = lazy.regex(r"\(\?P<\w+>")
FLAGS = lazy.regex(r"\(\?[a-zA-Z]+\)")
OPENED = lazy.regex(r"\((?:\?(?:P<\w+>|<?[=!]|>|[a-zA-Z]*:))?")
PLAIN = lazy.regex(rf"(?:[A-Za-z_ :'\"`,/#%&;<>@~-]|\\[\[\].(){{}}*+?|]){{{MIN_PLAIN_CHARS},}}(?![?*{{])")
REFERENCE = lazy.regex(r"\\[1-9]|\(\?P=|\(\?\(")


def guarded(pattern: str) -> str:
    """`pattern` with a guard in each gap behind a plain text."""
    if REFERENCE.search(pattern):
        return pattern
    made: list[str] = []
    open_groups = [_Group(0)]
    at = 0
    while at < len(pattern):
        group = open_groups[-1]
        gap = GAP.match(pattern, at)
        if gap and int(gap[1]) >= MIN_GAP and not group.negated:
            group.guard = group.guard or _guard("".join(g.begun for g in open_groups))
            made.append(_gap(gap, group.guard) if group.guard and _goes_on(pattern[gap.end() :]) else gap[0])
            at = gap.end()
            continue
        item = pattern[at : at + _item_length(pattern, at)]
        made.append(item)
        at += len(item)
        if item == ")" and len(open_groups) > 1:
            inner = open_groups.pop()
            group = open_groups[-1]
            group.begun += "".join(made[inner.start :])
            group.guard = group.guard or inner.guard
        elif item == "|":
            group.begun, group.guard = "", group.guard_before
        elif item.startswith("(") and not FLAGS.fullmatch(item):
            negated = group.negated or item in ("(?!", "(?<!")
            open_groups.append(_Group(len(made) - 1, group.guard, negated))
        elif not FLAGS.fullmatch(item):
            group.begun += item
    return "".join(made)


class _Group:
    """An open group: where it starts in the new pattern, what was read of its alternative, the guard of the gaps in it.

    `negated`: in a look around that must fail, where a guard would make it fail more often.
    """

    def __init__(self, start: int, guard: str = "", negated: bool = False) -> None:
        self.start, self.begun, self.guard, self.guard_before = start, "", guard, guard
        self.negated = negated


def _gap(gap: re.Match[str], guard: str) -> str:
    what, brace, times = gap[0].rpartition("{")
    return f"(?:{guard}{what}){brace}{times}"


def _goes_on(rest: str) -> bool:
    """Does something follow the gap in its alternative?"""
    return not rest.lstrip(")").startswith(("|", "?", "*")) and bool(rest.lstrip(")"))


def _guard(begun: str) -> str:
    """A look ahead that fails where `begun` matches again; empty if there is no plain text in it."""
    return f"(?!{NAMED.sub('(?:', begun)})" if PLAIN.search(OPENED.sub("(?:", begun)) else ""


def _item_length(pattern: str, at: int) -> int:
    """The length of the escape, class, flags, opening of a group or single character at `at`."""
    char = pattern[at]
    if char == "\\":
        return 2
    if char == "[":
        end = at + (2 if pattern.startswith("[^", at) else 1)
        end += pattern.startswith("]", end)
        while end < len(pattern) and pattern[end] != "]":
            end += 2 if pattern[end] == "\\" else 1
        return end + 1 - at
    if char == "(":
        flags = FLAGS.match(pattern, at)
        opened = flags or OPENED.match(pattern, at)
        return len(opened[0]) if opened else 1
    return 1
