r"""Rewrite a pattern (syntax of `regex`) into RE2, the engine of Go programs: no look-arounds, no bounds above 1,000.

error(?!s)(?<code>\d{1,2000}+)   ->   error(?:\d{1,}), and the veto error(?:s)

A look-around of one character at an edge of the pattern becomes a consumed character or the edge of the line, which is the same
for a search. Another one is dropped: then more lines match. Each negative one of several characters gives a veto besides.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from forensics.database.anchors import parsed

MAX_BOUND = 1000  # of a repetition, and of the product of nested ones: kMaxRepeat in RE2 and Go
CATEGORIES = {"DIGIT": r"\d", "NOT_DIGIT": r"\D", "SPACE": r"\s", "NOT_SPACE": r"\S", "WORD": r"\w", "NOT_WORD": r"\W"}
RE2_EDGES = {"END": "$", "END_STRING": r"\z", "BOUNDARY": r"\b", "NON_BOUNDARY": r"\B"}
LINE_START, LABELLED_START = "^", r"(?:^|[\]:|>)] {0,4})"  # the second: also behind what a launcher or collector writes first
SPECIAL = frozenset("\\.^$|?*+()[]{}`'\"/-&#~")
NEWLINE = ord("\n")
MAX_TEXTS = 64  # that a look-ahead refuses and that are written out one by one
ONE_CHARACTER = ("IN", "LITERAL", "NOT_LITERAL")
IGNORE_CASE = 2  # re.IGNORECASE
Items = Sequence[Any]


class NotInRe2Error(ValueError):
    """A part of a pattern has no form in RE2."""


class Rewritten(Struct, frozen=True):
    """A pattern in RE2 syntax, the vetoes that its look-arounds became, and whether some were dropped."""

    pattern: str
    vetoes: tuple[str, ...] = ()
    dropped: bool = False


def rewrite(pattern: str, start: str = LINE_START) -> Rewritten:
    """`pattern` in RE2 syntax; `start` stands for the start of a line. Raises NotInRe2Error."""
    tree = parsed(pattern)
    if not tree:
        raise NotInRe2Error("the pattern cannot be parsed")
    writer = _Writer(start)
    flags = getattr(getattr(tree, "state", None), "flags", 0) & IGNORE_CASE
    body = writer.sequence(list(tree), True, True, 1)
    vetoes = [_Writer(start).sequence(part, True, True, 1) for part in _vetoed(list(tree))]
    head = "(?i)" if flags else ""
    return Rewritten(head + body, tuple(head + veto for veto in dict.fromkeys(vetoes)), writer.dropped)


class _Writer:
    """Writes the parts of a parsed pattern. `head`, `tail`: nothing stands before or behind the part."""

    def __init__(self, start: str) -> None:
        self.start, self.dropped = start, False

    def sequence(self, items: Items, head: bool, tail: bool, times: int) -> str:
        """`items`, one behind the other; `times`: how often the repetitions around it may repeat it."""
        said = []
        last = len(items) - 1
        for i, (kind, what) in enumerate(items):
            plain = _takes_anything(items[i + 1]) if i < last else tail
            if plain and (texts := _refused_texts(str(kind), what)):
                said.append(_none_of(texts))
                continue
            said.append(self.item(str(kind), what, head, tail and i == last, times))
            head = head and not _takes_room(str(kind), what)
        return "".join(said)

    def item(self, kind: str, what: Any, head: bool, tail: bool, times: int) -> str:
        """One part."""
        if kind in ONE_CHARACTER:
            return _character(kind, what)
        if kind == "ANY":
            return "."
        if kind == "AT":
            name = str(what).removeprefix("AT_")
            return RE2_EDGES.get(name, self.start)
        if kind == "BRANCH":
            return "(?:" + "|".join(self.sequence(list(b), head, tail, times) for b in what[1]) + ")"
        if kind == "SUBPATTERN":
            return _flags(what[1], what[2]) + self.sequence(list(what[3]), head, tail, times) + ")"
        if kind == "ATOMIC_GROUP":
            return "(?:" + self.sequence(list(what), head, tail, times) + ")"
        if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            return self.repeated(kind, what, times)
        if kind in ("ASSERT", "ASSERT_NOT"):
            return self.look(kind == "ASSERT", what[0] > 0, list(what[1]), head, tail)
        raise NotInRe2Error(f"{kind.lower()} has no form in RE2")

    def repeated(self, kind: str, what: Any, times: int) -> str:
        """A repetition; one of more than MAX_BOUND, with those around it, has no upper bound."""
        least, most = int(what[0]), int(what[1])
        endless = most > MAX_BOUND  # MAXREPEAT too
        if most * times > MAX_BOUND:
            endless = True
        if least * times > MAX_BOUND:
            raise NotInRe2Error(f"at least {least} repetitions")
        inner = list(what[2])
        body = self.sequence(inner, False, False, times * max(least, 1 if endless else most, 1))
        count = {(0, True): "*", (1, True): "+"}.get((least, endless)) or f"{{{least},{'' if endless else most}}}"
        count = "?" if (least, most) == (0, 1) else f"{{{least}}}" if least == most else count
        alone = len(inner) == 1 and str(inner[0][0]) in (*ONE_CHARACTER, "ANY")
        return (body if alone else f"(?:{body})") + count + ("?" if kind == "MIN_REPEAT" else "")

    def look(self, wanted: bool, ahead: bool, inner: Items, head: bool, tail: bool) -> str:
        """A look-around: a consumed character or an edge where that says the same, else nothing."""
        at_edge = tail if ahead else head
        if at_edge and wanted:
            return "(?:" + self.sequence(inner, False, False, 1) + ")"
        if at_edge and len(inner) == 1 and str(inner[0][0]) in ONE_CHARACTER:
            return f"(?:{'$' if ahead else '^'}|{_other_than(str(inner[0][0]), inner[0][1])})"
        self.dropped = True
        return ""


def _takes_room(kind: str, what: Any) -> bool:
    return kind not in ("AT", "ASSERT", "ASSERT_NOT") and not (
        kind == "BRANCH" and all(not any(_takes_room(str(k), w) for k, w in branch) for branch in what[1])
    )


def _flags(added: int, removed: int) -> str:
    return f"(?{'i' if added & IGNORE_CASE else ''}{'-i' if removed & IGNORE_CASE else ''}:"


def _letter(code: int) -> str:
    letter = chr(code)
    if code in (9, 10):
        return "\\n" if code == 10 else "\\t"
    if letter == "`":  # LogQL quotes with it
        return r"\x60"
    if letter.isalnum() or letter in " _,:;=<>!@%":
        return letter if code < 128 else f"\\x{{{code:x}}}"
    return "\\" + letter if letter in SPECIAL and letter not in "'\"/&#~" else letter if 32 < code < 127 else f"\\x{{{code:x}}}"


def _members(what: Iterable[Any]) -> tuple[bool, str]:
    """Is a character class negated, and what is in it?"""
    negated, said = False, ""
    for kind, value in what:
        name = str(kind)
        if name == "NEGATE":
            negated = True
        elif name == "LITERAL":
            said += _letter(value)
        elif name == "RANGE":
            said += f"{_letter(value[0])}-{_letter(value[1])}"
        else:
            said += CATEGORIES[str(value).removeprefix("CATEGORY_")]
    return negated, said


def _character(kind: str, what: Any) -> str:
    if kind == "LITERAL":
        return _letter(what)
    if kind == "NOT_LITERAL":
        return rf"[^\n{_letter(what)}]" if what != NEWLINE else r"[^\n]"
    negated, said = _members(what)
    if not negated and len(what) == 1 and str(what[0][0]) == "CATEGORY":
        return said
    return rf"[^\n{said.replace(chr(92) + 'n', '')}]" if negated else f"[{said}]"


def _other_than(kind: str, what: Any) -> str:
    """A character that is not the one of this part."""
    if kind == "LITERAL":
        return f"[^{_letter(what)}]"
    if kind == "NOT_LITERAL":
        return _letter(what)
    negated, said = _members(what)
    return f"[{said}]" if negated else f"[^{said}]"


def _vetoed(items: list[Any]) -> list[list[Any]]:
    """For each negative look-around of several characters that is not repeated, what must not match.

    A(?!X)B -> AX, A(?<!X)B -> XB
    """
    return [part for _, part in _refused(items)]


def _refused(items: list[Any]) -> list[tuple[bool, list[Any]]]:
    """The same, with whether it looks ahead: then nothing behind it counts, else nothing before it."""
    found: list[tuple[bool, list[Any]]] = []
    for i, (kind, what) in enumerate(items):
        name = str(kind)
        inside: list[tuple[bool, list[Any]]] = []
        if name == "ASSERT_NOT" and not (len(what[1]) == 1 and str(what[1][0][0]) in ONE_CHARACTER):
            inside = [(what[0] > 0, list(what[1]))]
        elif name == "SUBPATTERN":
            inside = [(ahead, [(kind, (*what[:3], part))]) for ahead, part in _refused(list(what[3]))]
        elif name == "BRANCH":
            inside = [each for branch in what[1] for each in _refused(list(branch))]
        found += [(ahead, [*items[:i], *part] if ahead else [*part, *items[i + 1 :]]) for ahead, part in inside]
    return found


def _takes_anything(item: Any) -> bool:
    """Does this part take any characters of a line?"""
    kind, what = str(item[0]), item[1]
    if not kind.endswith("_REPEAT"):
        return False
    inner = list(what[2])
    if len(inner) == 1 and str(inner[0][0]) == "SUBPATTERN":
        inner = list(inner[0][1][3])
    inner = [each for each in inner if not str(each[0]).startswith("ASSERT")]
    return len(inner) == 1 and (str(inner[0][0]) == "ANY" or (str(inner[0][0]), inner[0][1]) == ("NOT_LITERAL", NEWLINE))


def _refused_texts(kind: str, what: Any) -> list[str] | None:
    """The texts that a negative look-ahead of plain texts refuses; None for another part."""
    if kind != "ASSERT_NOT" or what[0] < 0:
        return None
    texts = _texts(list(what[1]))
    return None if texts is None or "" in texts else sorted(texts)


def _texts(items: Items) -> set[str] | None:
    """All texts that a part can be; None if they are more than MAX_TEXTS."""
    made = {""}
    for kind, what in items:
        name = str(kind)
        ways: set[str] | None = None
        if name == "LITERAL":
            ways = {chr(what)}
        elif name == "IN" and all(str(k) == "LITERAL" for k, _ in what):
            ways = {chr(code) for _, code in what}
        elif name == "SUBPATTERN" and not what[1] and not what[2]:
            ways = _texts(list(what[3]))
        elif name == "BRANCH":
            branches = [_texts(list(branch)) for branch in what[1]]
            ways = None if None in branches else {text for branch in branches for text in branch or ()}
        elif name == "MAX_REPEAT" and (what[0], what[1]) == (0, 1):
            inner = _texts(list(what[2]))
            ways = None if inner is None else {"", *inner}
        if ways is None or len(made) * len(ways) > MAX_TEXTS:
            return None
        made = {text + way for text in made for way in ways}
    return made


def _none_of(texts: Sequence[str]) -> str:
    """What begins with none of `texts`: up to the first character that differs from all of them, or to the end of the line."""
    if "" in texts:
        return ""
    behind: dict[str, list[str]] = {}
    for text in texts:
        behind.setdefault(text[0], []).append(text[1:])
    ways = ["$", "[^\\n" + "".join(_letter(ord(first)) for first in behind) + "]"]
    ways += [_letter(ord(first)) + _none_of(rest) for first, rest in behind.items() if "" not in rest]
    return "(?:" + "|".join(ways) + ")"
