"""The pattern of a message that is written as plain text with holes for its variable parts.

'Error: No such option: {argument}'                      ->  'Error: No such option: (?P<argument>\\S{1,300})'
'Killed process {pid} ({task:text}) total-vm:{vm_kb}kB'  ->  'Killed process (?P<pid>-?\\d{1,20}) \\((?P<task>.{0,300}?)\\) ...'

A hole is {type}, {field} or {field:type}, and a choice is {one|other} or {field=one|other}, of which one may be empty; `{{` and
`}}` are braces. A field becomes a fact of the report. The message may be anywhere in a line, but it does not begin or end
inside a word or a number, unless it begins or ends with a hole.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from forensics.core import lazy

# The pattern of each type of hole. The first type matches as little as possible before the text that follows it, and the rest
# of the line at the end of a message. All are bounded, so that no line can make the search slow.
UP_TO: Mapping[str, str] = {
    "word": r"\S{1,300}",
    "path": r"[^\s'\"]{1,400}",
    "text": r".{0,160}",
    "texts": r".{0,320}",
    "rest": r".{0,2000}",
}
SHAPES: Mapping[str, str] = {
    "int": r"-?\d{1,20}",
    "count": r"[1-9]\d{0,19}",
    "blanks": r"\s{1,100}",
    "number": r"[-+]?\d[\d.,]{0,20}(?:[eE][-+]?\d{1,3})?",
    "hex": r"(?:0[xX])?[0-9a-fA-F]{1,32}",
    "size": r"\d[\d.,]{0,20} ?(?:[kKMGTP]i?)?(?:[bB](?:ytes?)?)?",
    "name": r"\w[\w.-]{0,200}",
    "pci": r"(?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\.[0-9a-fA-F])?",
    "addr": r"[\w.:%\[\]-]{0,200}[\w\]]",
    "rank": r"\d{1,7}",
}
FIRST_CHAR_SHAPES: Mapping[str, str] = {
    "name": r"\w[\w.-]{0,80}",
    "word": r"\S{1,80}",
    "path": r"[^\s'\"]{1,120}",
}  # it is tried from each token of a line
QUOTED_TYPE = "quoted"
TYPES = frozenset((*UP_TO, *SHAPES, QUOTED_TYPE)) - {"texts"}
OWN_FIELD = frozenset(("path", "pci", "addr", "rank"))  # types that are a field's name, too
# Fields with a default type; all others are a word.
USUAL: Mapping[str, str] = {
    **dict.fromkeys(("pid", "uid", "exit_code", "signal", "local_rank", "world_size", "seq", "xid", "sxid", "cuda_error"), "int"),
    **dict.fromkeys(("step_no", "epoch", "cpu", "line_no", "source_line", "gpu"), "int"),
    **dict.fromkeys(("file", "library", "source_file", "cuda_file", "limit_path", "cgroup"), "path"),
    "peer": "addr",
    "exc_message": "rest",
}
UNIT_SUFFIXES = ("_kb", "_kib", "_mb", "_mib", "_gb", "_gib", "_bytes", "_pages", "_ms", "_s")
CHOICE = lazy.regex(r"([a-z]\w*=)?")
HOLE = lazy.regex(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
FIELD_NAME_PATTERN = lazy.regex(r"[a-z]\w*")
# Behind a letter no word begins, but a `\n` of a quoted text may stand in front of one.
WORD_START, WORD_END = r"(?:(?<![A-Za-z])|(?<=\\[nrt]))", r"(?![A-Za-z])"
TOKEN_START, NAME_START = r"(?<![\w./-])", r"(?<![\w.-])"
NUMBER_START, NUMBER_END = r"(?<!\d)", r"(?!\d)"


class BadMessageError(ValueError):
    """A message has a syntax error; the text says which."""


class Hole(Struct, frozen=True):
    """A variable part of a message. `field`: the fact that it becomes; empty if it is not needed.

    `type`: one of TYPES; empty for one of `choices`.
    """

    field: str
    type: str = ""
    choices: tuple[str, ...] = ()


Part = str | Hole
ANY_TEXT, LONG_TEXT = Hole("", "text"), Hole("", "texts")


def message_parts(message: str) -> Iterator[Part]:
    """The plain texts and holes of `message`, in order; raises BadMessageError."""
    plain, at = "", 0
    for found in HOLE.finditer(message):
        plain, at = plain + message[at : found.start()], found.end()
        if found[0] in ("{{", "}}"):
            plain += found[0][0]
            continue
        if found[1] is None:
            raise BadMessageError(f"a single {found[0]} in {message!r}; write {found[0] * 2} for a brace")
        if plain:
            yield plain
            plain = ""
        yield _hole(found[1])
    if plain + message[at:]:
        yield plain + message[at:]


def _hole(written: str) -> Hole:
    chosen = CHOICE.match(written)
    if chosen and (chosen[1] or "|" in written):
        return Hole((chosen[1] or "=")[:-1], "", tuple(written[len(chosen[0]) :].split("|")))
    field, _, kind = written.partition(":")
    if not kind and field in TYPES:
        return Hole(field if field in OWN_FIELD else "", field)
    if not FIELD_NAME_PATTERN.fullmatch(field):
        raise BadMessageError(f"{{{written}}} is no hole: write {{type}}, {{field}} or {{field:type}}")
    kind = kind or USUAL.get(field) or ("int" if field.endswith(UNIT_SUFFIXES) else "size" if field.endswith("_size") else "word")
    if kind not in TYPES:
        raise BadMessageError(f"{{{written}}}: {kind} is no type of a hole; known are {', '.join(sorted(TYPES))}")
    return Hole(field, kind)


def message_pattern(messages: Iterable[str], any_case: bool = False, alternative: str = "") -> str:
    """The pattern (syntax of `regex`) that finds any of `messages`, of which the case may not matter; raises BadMessageError.

    `alternative`: a pattern for lines that no message can describe; the messages are tried first.
    """
    found = "|".join(_with_one_start(wordings(messages)))
    if not alternative:
        return f"(?i){found}" if any_case else found
    return f"(?i:{found})|{alternative}" if any_case else f"{found}|{alternative}"


def wordings(messages: Iterable[str]) -> list[str]:
    """A pattern for each of `messages`; raises BadMessageError."""
    return [_pattern(m) for m in messages]


def _with_one_start(patterns: Iterable[str]) -> Iterator[str]:
    """`patterns` in order; consecutive ones that begin at a word share the test for it: ten times as fast on long lines."""
    for at_word, some in itertools.groupby(patterns, lambda p: p.startswith(WORD_START)):
        group = list(some)
        if at_word and len(group) > 1:
            rest = [p[len(WORD_START) :] for p in group]
            yield f"{_first_letters(rest)}{WORD_START}(?:{'|'.join(rest)})"
        else:
            yield from group


def _first_letters(patterns: Sequence[str]) -> str:
    """A look ahead at the letters that the patterns begin with: elsewhere none is tried. Empty if one of them is not known."""
    firsts = {p[0] for p in patterns}
    return f"(?=[{''.join(sorted(firsts))}])" if all(c.isascii() and c.isalpha() for c in firsts) else ""


def _pattern(message: str) -> str:
    made = _joined(message_parts(message))
    if not any(isinstance(p, str) and p.strip() for p in made) and not any(isinstance(p, Hole) and p.choices for p in made):
        raise BadMessageError(f"{message!r} holds no text of its own")
    found = [_escaped(p) if isinstance(p, str) else _taken(p, i == 0, made[i + 1 : i + 2]) for i, p in enumerate(made)]
    first, last = {t[:1] for t in _texts(made[0])}, {t[-1:] for t in _texts(made[-1])}
    start = WORD_START if _are_letters(first) else NUMBER_START if _are_digits(first) else ""
    if isinstance(made[0], Hole) and made[0].type in ("word", "path", "name"):
        start = NAME_START if made[0].type == "name" else TOKEN_START  # not tried again from each of its letters
    end = WORD_END if _are_letters(last) else NUMBER_END if _are_digits(last) else ""
    return start + "".join(found) + end


def _texts(part: Part) -> tuple[str, ...]:
    """What stands there where it is known."""
    return (part,) if isinstance(part, str) else part.choices


def _joined(parts: Iterable[Part]) -> list[Part]:
    """`parts` with neighbouring holes for any text as one: two of them could be divided between them in many ways."""
    made: list[Part] = []
    for part in parts:
        if part == ANY_TEXT and made and isinstance(made[-1], Hole) and made[-1] in (ANY_TEXT, LONG_TEXT):
            made[-1] = LONG_TEXT
        else:
            made.append(part)
    return made


def _taken(hole: Hole, is_first: bool, following: Sequence[Part]) -> str:
    if hole.type == QUOTED_TYPE:
        inside = f"(?P<{hole.field}>[^'\"`]{{0,300}})" if hole.field else "[^'\"`]{0,300}"
        return f"['\"`]{inside}['\"`]"
    if hole.choices:
        taken = "|".join(map(_escaped, hole.choices))
        return f"(?P<{hole.field}>{taken})" if hole.field else f"(?:{taken})"
    taken = SHAPES.get(hole.type) or UP_TO[hole.type]
    if is_first and hole.type in FIRST_CHAR_SHAPES:
        ends = bool(following) and str(following[0]).startswith(" ") and hole.type != "name"  # nothing of it need be given back
        taken = FIRST_CHAR_SHAPES[hole.type] + ("+" if ends else "?" if hole.type != "name" else "")
    elif hole.type in UP_TO and following:
        taken += "?"
    return f"(?P<{hole.field}>{taken})" if hole.field else taken


def _escaped(text: str) -> str:
    return "".join("\\" + c if c in r"\.^$*+?{}[]|()" else c for c in text)


def _are_letters(chars: set[str]) -> bool:
    return bool(chars) and all(c.isascii() and c.isalpha() for c in chars)


def _are_digits(chars: set[str]) -> bool:
    return bool(chars) and all(c.isascii() and c.isdigit() for c in chars)
