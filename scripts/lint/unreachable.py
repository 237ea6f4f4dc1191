"""Wordings of a signature that are never needed or can never match.

messages: ['lost its lease', 'node lost its lease']   ->   the second is never needed: it contains the first
message: 'lost its lease'   unless: ['lease']         ->   it is always vetoed

Parts of a pattern that can never match, or that never change the result.

'lost|lost its lease'             ->   the second is never needed: it contains the first
'a lease(?: ended| ended early)'  ->   the second is never tried: wherever it could match, the first does
'lost (?:^its)? lease'            ->   ^ comes after other characters

Only certain faults are reported: literal texts of the pattern, and positions at which a condition can never be true.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import regex

from forensics.core import lazy
from forensics.database.anchors import parsed
from forensics.database.entries import Signature
from forensics.database.message import Hole, message_parts

WORD_CHAR_PATTERN = lazy.regex(r"\w")
REPEAT_ITEMS = frozenset(("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"))
Item = tuple[Any, Any]


def dead_branches(pattern: str) -> Iterator[str]:
    """The faults of `pattern` (syntax of `regex`), one message for each part that can be left out."""
    tree = parsed(pattern)
    alternatives = _alternatives(tree)
    texts = [_exact(a) for a in alternatives]
    for i, alternative in enumerate(alternatives):
        held = _plain_runs(alternative)
        for j, text in enumerate(texts):
            is_another = i != j and (texts[i] != text or j < i)
            if text and is_another and any(text in run for run in held) and not _has_groups(alternative):
                yield f"alternative {''.join(held)[:60]!r} is never needed: it contains {text!r}"
                break
    for alternative in alternatives:
        yield from _impossible(alternative, behind_text=False)
        if len(alternatives) > 1:
            yield from _never_tried(alternative)
    if len(alternatives) == 1:
        yield from _never_tried(tree)


def _alternatives(tree: Sequence[Item]) -> list[list[Item]]:
    """The branches of a pattern that consists of one choice, also inside groups; else the pattern itself."""
    items = list(tree)
    while len(items) == 1 and str(items[0][0]) == "SUBPATTERN" and items[0][1][0] is None and not any(items[0][1][1:3]):
        items = list(items[0][1][3])
    if len(items) == 1 and str(items[0][0]) == "BRANCH":
        return [list(b) for b in items[0][1][1]]
    return [items]


def _exact(items: Sequence[Item]) -> str | None:
    """The only text that `items` match; None if they may match other texts or depend on the text around them."""
    if all(str(name) == "LITERAL" for name, _ in items):
        return "".join(chr(code) for _, code in items)
    return None


def _plain_runs(items: Sequence[Item]) -> list[str]:
    """The literal texts that every match of `items` contains, each as long as possible."""
    runs, run = [], ""
    for name, what in items:
        if str(name) == "LITERAL":
            run += chr(what)
        else:
            runs.append(run)
            run = ""
    return [r for r in (*runs, run) if r]


def _has_groups(items: Sequence[Item]) -> bool:
    """Do `items` have a named group, which gives a field?"""
    for name, what in items:
        kind = str(name)
        if kind == "SUBPATTERN" and (what[0] is not None or _has_groups(what[3])):
            return True
        if kind == "BRANCH" and any(map(_has_groups, what[1])):
            return True
        if kind in REPEAT_ITEMS and _has_groups(what[2]):
            return True
    return False


def _impossible(items: Sequence[Item], behind_text: bool) -> Iterator[str]:
    """Conditions that are never true: `^` after other characters, `$` before others, `\\b` inside a word."""
    for at, (name, what) in enumerate(items):
        kind = str(name)
        if kind == "AT":
            yield from _impossible_place(items, at, str(what), behind_text)
        elif kind == "BRANCH":
            for branch in what[1]:
                yield from _impossible(branch, behind_text)
        elif kind == "SUBPATTERN":
            yield from _impossible(what[3], behind_text)
        elif kind in REPEAT_ITEMS:
            yield from _impossible(what[2], behind_text)
        behind_text = behind_text or _least_width([items[at]]) > 0


def _impossible_place(items: Sequence[Item], at: int, place: str, behind_text: bool) -> Iterator[str]:
    if place == "AT_BEGINNING" and behind_text:
        yield "^ comes after other characters: nothing can match there"
    elif place == "AT_END" and _least_width(items[at + 1 :]) > 0:
        yield "$ comes before other characters: nothing can match there"
    elif place == "AT_BOUNDARY" and 0 < at < len(items) - 1:
        before, after = items[at - 1], items[at + 1]
        if str(before[0]) == str(after[0]) == "LITERAL" and _is_word_char(before[1]) == _is_word_char(after[1]):
            yield f"\\b is between {chr(before[1])!r} and {chr(after[1])!r}: nothing can match there"


def _is_word_char(code: int) -> bool:
    return WORD_CHAR_PATTERN.fullmatch(chr(code)) is not None


def _least_width(items: Sequence[Item]) -> int:
    """The minimum number of characters that `items` match."""
    width = 0
    for name, what in items:
        kind = str(name)
        if kind in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
            width += 1
        elif kind == "BRANCH":
            width += min(map(_least_width, what[1]))
        elif kind == "SUBPATTERN":
            width += _least_width(what[3])
        elif kind == "ATOMIC_GROUP":
            width += _least_width(what)
        elif kind in REPEAT_ITEMS:
            width += int(what[0]) * _least_width(what[2])
    return width


def _never_tried(items: Sequence[Item]) -> Iterator[str]:
    """Branches at the end of a pattern that are never tried, because an earlier branch is a prefix of their text."""
    if not items:
        return
    name, what = items[-1]
    if str(name) == "SUBPATTERN":
        yield from _never_tried(what[3])
    elif str(name) == "BRANCH":
        texts = [_exact(b) for b in what[1]]
        for i, text in enumerate(texts):
            earlier = next((t for t in texts[:i] if text is not None and t is not None and text.startswith(t)), None)
            if earlier is not None:
                yield f"{text!r} is never tried: {earlier!r} before it matches wherever it could"
        for branch in what[1]:
            yield from _never_tried(branch)


SAMPLE_OF_HOLE = {
    "int": "7",
    "count": "7",
    "number": "7",
    "rank": "7",
    "hex": "7f",
    "size": "7 GiB",
    "pci": "0000:3b:00.0",
    "quoted": "'x'",
}


def never_fires(signature: Signature) -> Iterator[str]:
    """The faults of the wordings of `signature`, one message for each wording that can be left out."""
    plain = {m: next(iter(message_parts(m))) for m in signature.messages if _is_plain(m)}
    for message in signature.messages:
        within = next((m for m, text in plain.items() if m != message and str(text) in example_of(message)), None)
        if within is not None and _is_plain(message):
            yield f"wording {message!r} is never needed: it contains {within!r}"
        veto = next((u for u in signature.unless if regex.search(u, example_of(message))), None)
        if veto is not None:
            yield f"wording {message!r} can never match: it contains the veto {veto!r} of `unless`"
    for pattern in (signature.written_pattern, *signature.unless):
        yield from dead_branches(pattern)


def example_of(message: str) -> str:
    """A line with `message`, with a simple value in each of its holes."""
    made = []
    for part in message_parts(message):
        if isinstance(part, Hole):
            made.append(
                part.choices[0]
                if part.choices
                else SAMPLE_OF_HOLE.get(part.type, "x" if part.type not in ("text", "rest") else "")
            )
        else:
            made.append(part)
    return "".join(made)


def _is_plain(message: str) -> bool:
    return all(isinstance(p, str) for p in message_parts(message))
