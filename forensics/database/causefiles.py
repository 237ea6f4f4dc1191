"""Read cause files, <folder>/<family>/<cause>.yaml, and collect every fault with its path and line.

A faulty file is not loaded at all; its faults are collected so that one run shows them all. The size and number of files and the
length of patterns are limited, because a folder of signatures may come from anybody.

A cache of parsed cause files: a file that did not change is not parsed again.

    <cache>/causes/<hash of the file, of its path and of the code that reads it>.json   ->   the Cause as it was read

Only files without faults are cached. If the cache is damaged or cannot be written, files are parsed again.

Guard the gaps of a pattern: a gap does not reach over a place where the pattern begins again.

NVRM: .{0,120}?(?:failed|unable)   ->   NVRM: (?:(?!NVRM: ).){0,120}?(?:failed|unable)

Without it, a line of many beginnings costs the length of the gap at each of them: 200 ms for 8 kB, and 4 ms with it. What was
found is still found, from the last beginning before it.
"""

import difflib
import functools
import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, TypeVar, cast

from forensics.core import lazy, limits
from forensics.core.digest import sha256
from forensics.data_files import form
from forensics.data_files.cached_data import kept
from forensics.data_files.form import (
    LINE_KEY,
    BadFormError,
    Fault,
    brief,
    entries,
    key_faults,
    line_of,
    one_line,
    parse,
    text,
    texts,
    with_instead,
)
from forensics.database import anchors
from forensics.database.anchors import NoAnchorError, anchors_of
from forensics.database.entries import (
    ENDS,
    HEALTHY,
    SCOPES,
    TITLE_KEYS,
    TRAIT_NAMES,
    WEIGHT_NAMES,
    Cause,
    Ends,
    Example,
    Missing,
    Place,
    Remedy,
    Scope,
    Signature,
    Weight,
    Who,
)
from forensics.database.files import cause_files, misplaced_files
from forensics.database.message import BadMessageError, message_pattern, wordings

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


MAX_CACHED_CAUSES = 400  # causes: a few versions of each file


@functools.cache
def _reader() -> bytes:
    """A hash of the code that reads cause files, and of common.json."""
    here = Path(__file__).parent
    code = [here / f"{name}.py" for name in ("anchors", "causefiles", "entries", "message")]
    paths = sorted([*code, Path(str(form.__file__)), anchors.COMMON_FILE])
    return sha256(b"".join(sha256(p.read_bytes()).digest() for p in paths)).digest()


T = TypeVar("T")
MAX_PATTERN = 4000  # characters
CAUSE_KEYS = {
    "cause",
    *TITLE_KEYS,
    "means",
    "explains",
    "fallback",
    "ends",
    "scope",
    "traits",
    "summary",
    "signatures",
    "remedies",
    "missing",
}
SIGNATURE_KEYS = {
    *("id", "weight", "ends", "scope", "message", "any_case", "pattern", "unless", "yields_to", "since"),
    *("source", "examples", "title"),
}
REMEDY_KEYS = {"do", "who", "why", "commands", "effects", "when", "unless", "source", "confirmed", "check", "cost"}
MISSING_KEYS = {"what", "why", "command", "when", "unless"}


def read_causes(folder: Path, known: Collection[str] = (), left_out: Collection[str] = ()) -> tuple[list[Cause], list[Fault]]:
    """All causes of `folder` that could be read, and the faults of the others.

    `known`: ids of causes that another folder defines; a file about one of them needs only the key `cause`. `left_out`: files
    that are not read.
    """
    causes: list[Cause] = []
    misplaced = (str(p) for p in misplaced_files(folder))
    faults = [Fault(p, 1, "not read: a cause file is <family>/<cause>.yaml") for p in misplaced if p not in left_out]
    files = [p for p in cause_files(folder) if str(p) not in left_out]
    if len(files) > limits.current.cause_files:
        faults.append(Fault(str(folder), 1, f"{len(files)} cause files; {limits.current.cause_files} is the limit"))
        files = []
    for path in files:
        cause, found = read_cause(path, known)
        faults += found
        if cause and not found:
            causes.append(cause)
    return causes, faults


def read_cause(path: Path, known: Collection[str] = ()) -> tuple[Cause | None, list[Fault]]:
    """The cause of one file, and the faults of the file; with a fault the cause is incomplete."""
    reader = _Reader(str(path))
    cause: Cause | None = None
    try:
        if path.stat().st_size > limits.current.cause_file:
            raise BadFormError(1, f"larger than {limits.current.cause_file} bytes")
        content = path.read_bytes()
        state = (_reader(), str(path), sorted(known), sha256(content).digest())
        expected = f"{path.parent.name}.{path.stem}"
        cause = kept(
            state,
            Cause,
            lambda: reader.cause(parse(content.decode("utf-8")), expected, known),
            "causes",
            MAX_CACHED_CAUSES,
            reader.faults,
        )
    except BadFormError as bad:
        reader.fault(bad)
    except OSError as error:
        reader.fault(BadFormError(1, f"cannot be read: {error.strerror}"))
    except UnicodeDecodeError:
        reader.fault(BadFormError(1, "is not UTF-8 text"))
    return cause, reader.faults


class _Reader:
    """Reads the mappings of one file as entries. Faulty entries are left out and their faults collected."""

    def __init__(self, path: str) -> None:
        self.path, self.id = path, ""
        self.ends: Ends = "process"
        self.scope: tuple[Scope, ...] = ("any",)
        self.faults: list[Fault] = []

    def fault(self, bad: BadFormError) -> None:
        self.faults.append(Fault(self.path, bad.line, bad.what))

    def each(self, make: Callable[[Any], T], data: dict[str, Any], key: str, needed: bool) -> tuple[T, ...]:
        """The entries under `key`, those without fault."""
        made: list[T] = []
        try:
            given = entries(data, key, needed)
        except BadFormError as bad:
            self.fault(bad)
            return ()
        for entry in given:
            try:
                if not isinstance(entry, dict):
                    raise BadFormError(line_of(data, key), f"{key} holds mappings, found {brief(entry)}")
                made.append(make(entry))
            except BadFormError as bad:
                self.fault(bad)
        return tuple(made)

    def whole(self, data: Any, known: set[str], needed: set[str], line: int = 1) -> dict[str, Any]:
        """`data` with something valid for each key that is missing, so that one run tells the faults of the rest, too."""
        for bad in key_faults(data, known, needed, line):
            self.fault(bad)
        here = data[LINE_KEY]
        example = {"text": "?", "why": "?", LINE_KEY: here}
        examples = {"match": [example], "no_match": [example], LINE_KEY: here}
        instead = {"weight": "hint", "who": "user", "examples": examples, **examples}
        return with_instead({key: instead.get(key, "?") for key in needed}, data)

    def read(self, make: Callable[..., T], *given: Any, instead: T) -> T:
        """What `make` reads; where that is faulty, the fault is collected, and the rest of the entry is read."""
        try:
            return make(*given)
        except BadFormError as bad:
            self.fault(bad)
            return instead

    def place(self, data: dict[str, Any]) -> Place:
        return Place(self.path, data[LINE_KEY])

    def cause(self, data: Any, expected: str, known: Collection[str]) -> Cause:
        partial = isinstance(data, dict) and str(data.get("cause")) in known
        if known and isinstance(data, dict) and not partial and isinstance(data.get("cause"), str) and "title" not in data:
            near = difflib.get_close_matches(data["cause"], known, 1)
            meant = f"; did you mean {near[0]}?" if near else ""
            raise BadFormError(
                data[LINE_KEY], f"no cause is called {brief(data['cause'])}{meant} A new one needs a title to begin with"
            )
        data = self.whole(data, CAUSE_KEYS, {"cause"} if partial else {"cause", "title", "means"})
        self.id = expected if data["cause"] == "?" else self.read(text, data, "cause", instead=expected)
        if self.id != expected:
            self.fault(BadFormError(line_of(data, "cause"), f"cause is {brief(self.id)} but the file's path says {expected!r}"))
        self.ends = self.read(_ends, data, "process", instead="process")
        self.scope = self.read(_scope, data, ("any",), instead=("any",))
        none: tuple[str, ...] = ()
        traits = self.read(texts, data, "traits", instead=none)
        if strange := set(traits) - TRAIT_NAMES:
            listed = ", ".join(sorted(TRAIT_NAMES))
            self.fault(BadFormError(line_of(data, "traits"), f"trait {brief(min(strange))} is not one of {listed}"))
        return Cause(
            id=self.id,
            **{"title": ""} | {key: self.read(text, data, key, instead="") for key in TITLE_KEYS if key in data},
            means=self.read(one_line, data, "means", instead="") if "means" in data else "",
            explains=self.read(texts, data, "explains", instead=none),
            fallback=self.read(_truth, data, "fallback", instead=False),
            ends=self.ends,
            scope=self.scope,
            traits=traits,
            summary=self.read(_sentences, data, instead=()),
            signatures=self.each(self.signature, data, "signatures", not partial),
            remedies=self.each(self.remedy, data, "remedies", not partial and self.id != HEALTHY),
            missing=self.each(self.missing, data, "missing", False),
            place=self.place(data),
        )

    def signature(self, data: Any) -> Signature:
        if isinstance(data, dict) and "anchor" in data:
            raise BadFormError(line_of(data, "anchor"), "anchors follow from message or pattern: delete the line `anchor`")
        data = self.whole(data, SIGNATURE_KEYS, {"id", "weight", "source", "examples"})
        if data["weight"] not in WEIGHT_NAMES:
            self.fault(
                BadFormError(line_of(data, "weight"), f"weight {brief(data['weight'])} is not one of {', '.join(WEIGHT_NAMES)}")
            )
        examples = self.whole(data["examples"], {"match", "no_match"}, {"match", "no_match"}, data[LINE_KEY])
        messages, written, pattern = _wording(data)
        return Signature(
            cause=self.id,
            name=text(data, "id"),
            weight=cast(Weight, data["weight"]),
            anchors=_anchors(data, "|".join((*wordings(messages), *([written] if written else [])))),
            pattern=guarded(pattern),
            messages=messages,
            written_pattern=written,
            ends=_ends(data, "nothing" if data["weight"] == "hint" else self.ends),
            scope=_scope(data, self.scope),
            unless=tuple(map(guarded, texts(data, "unless", MAX_PATTERN))),
            yields_to=texts(data, "yields_to"),
            since=str(data.get("since", "")),
            source=text(data, "source"),
            title=text(data, "title") if "title" in data else "",
            match=self.each(self.positive, examples, "match", True),
            no_match=self.each(self.negative, examples, "no_match", True),
            place=self.place(data),
        )

    def positive(self, data: Any) -> Example:
        data = self.whole(data, {"text", "fields"}, {"text"})
        fields = data.get("fields") or {}
        if not isinstance(fields, dict):
            raise BadFormError(line_of(data, "fields"), f"fields must be names with their texts, found {brief(fields)}")
        expected = {str(k): str(v) for k, v in fields.items() if k != LINE_KEY}
        return Example(text(data, "text"), fields=expected, place=self.place(data))

    def negative(self, data: Any) -> Example:
        data = self.whole(data, {"text", "why"}, {"text", "why"})
        return Example(text(data, "text"), why=text(data, "why"), place=self.place(data))

    def remedy(self, data: Any) -> Remedy:
        data = self.whole(data, REMEDY_KEYS, {"do", "who", "why"})
        if data["who"] not in ("user", "admin"):
            self.fault(BadFormError(line_of(data, "who"), f"who {brief(data['who'])} is neither user nor admin"))
        return Remedy(
            do=one_line(data, "do"),
            who=cast(Who, data["who"]),
            why=one_line(data, "why"),
            commands=texts(data, "commands"),
            effects=texts(data, "effects"),
            when=texts(data, "when"),
            unless=texts(data, "unless"),
            source=str(data.get("source", "")),
            confirmed=confirmed_number(data),
            check=one_line(data, "check") if "check" in data else "",
            cost=one_line(data, "cost") if "cost" in data else "",
            place=self.place(data),
        )

    def missing(self, data: Any) -> Missing:
        data = self.whole(data, MISSING_KEYS, {"what", "why", "command"})
        return Missing(
            what=one_line(data, "what"),
            why=one_line(data, "why"),
            commands=texts(data, "command"),
            when=texts(data, "when"),
            unless=texts(data, "unless"),
            place=self.place(data),
        )


def confirmed_number(data: dict[str, Any]) -> int:
    """The number of people who confirmed a remedy; it needs a source."""
    number = data.get("confirmed", 0)
    if not isinstance(number, int) or isinstance(number, bool) or number < 0 or (number and not data.get("source")):
        raise BadFormError(
            line_of(data, "confirmed"), f"confirmed {brief(number)} is no number of people, or has no source beside it"
        )
    return number


def _wording(data: dict[str, Any]) -> tuple[tuple[str, ...], str, str]:
    """(messages, own pattern, pattern that finds both) of an entry; it may have messages, an own pattern, or both."""
    messages, pattern = texts(data, "message", MAX_PATTERN), ""
    if not messages and "pattern" not in data:
        raise BadFormError(data[LINE_KEY], "an entry has a message, a pattern, or both")
    if "pattern" in data:
        pattern = text(data, "pattern", MAX_PATTERN).strip()
    if not messages:
        if "any_case" in data:
            raise BadFormError(line_of(data, "any_case"), "any_case belongs to a message; a pattern says (?i)")
        return (), pattern, pattern
    if pattern.startswith("(?i)"):
        raise BadFormError(line_of(data, "pattern"), "next to a message, a pattern needs (?i:...) to ignore the case")
    try:
        return messages, pattern, message_pattern(messages, _truth(data, "any_case"), pattern)
    except BadMessageError as bad:
        raise BadFormError(line_of(data, "message"), str(bad)) from bad


def _anchors(data: dict[str, Any], pattern: str) -> tuple[str, ...]:
    try:
        return anchors_of(pattern)
    except NoAnchorError as bad:
        raise BadFormError(
            line_of(data, "pattern" if "pattern" in data else "message"), f"pattern {brief(pattern)}: {bad}"
        ) from bad


def _ends(data: dict[str, Any], usual: Ends) -> Ends:
    value = data.get("ends", usual)
    if value not in ENDS:
        raise BadFormError(line_of(data, "ends"), f"ends {brief(value)} is not one of {', '.join(ENDS)}")
    return cast(Ends, value)


def _scope(data: dict[str, Any], usual: tuple[Scope, ...]) -> tuple[Scope, ...]:
    given = texts(data, "scope") or usual
    if strange := set(given) - set(SCOPES):
        raise BadFormError(line_of(data, "scope"), f"scope {brief(min(strange))} is not one of {', '.join(SCOPES)}")
    return cast("tuple[Scope, ...]", given)


def _truth(data: dict[str, Any], key: str) -> bool:
    value = data.get(key, False)
    if not isinstance(value, bool):
        raise BadFormError(line_of(data, key), f"{key} must be true or false, found {brief(value)}")
    return value


def _sentences(data: dict[str, Any]) -> tuple[tuple[str, ...], ...]:
    given = entries(data, "summary", needed=False)
    sentences = [sentence if isinstance(sentence, list) else [sentence] for sentence in given]
    if not all(isinstance(a, str) for alternatives in sentences for a in alternatives):
        raise BadFormError(line_of(data, "summary"), "summary holds sentences or lists of alternative sentences")
    return tuple(tuple(" ".join(a.split()) for a in alternatives) for alternatives in sentences)
