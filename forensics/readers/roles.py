"""What a line that tells of a failure is, as far as the lines themselves tell it.

    KeyError: 'lr'                          below its traceback                       raised: it ended its thread of work
    train.sh: line 3: 22738 Killed  python  another's end                             reported
    ... WARNING shard 7: reset, retrying    the program says it and goes on           printed
    OSError: handle is closed               below `Exception ignored in`              teardown
          8     raise ValueError("bad")     code that a traceback quotes              source
    checking for cudnn.h... no              a test that may fail                      probe
    FAILED t.py::test_x - KeyError: 'lr'    the same error, printed again             echo

The phrases are data: signatures/readers/roles.yaml. Whether the program went on behind a line is not asked here.
"""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from msgspec import Struct

from forensics.data_files.cached_data import data_files, load_data, parsed_data
from forensics.line_formats import parse_prefix, unlabelled
from forensics.model import Line
from forensics.readers.python.exception_message import TRACEBACK_HEAD
from forensics.readers.python.frames import file_frame
from forensics.readers.python.quoted_source import is_quoted_source
from forensics.readers.python.teardown import TEARDOWN_FUNCTIONS
from forensics.readers.python.traceback import EXCEPTION_LINE_PATTERN

Role = Literal["raised", "reported", "printed", "teardown", "source", "probe", "echo"]
ROLES_FILE = "readers/roles.yaml"
WHERE = ("line", "before", "behind")
ROLES_IN_ORDER: tuple[Role, ...] = ("teardown", "probe", "echo", "reported", "printed")  # of phrases: the first that fits
MIN_REPEATED_CHARS = 12  # a shorter message may stand in two lines by chance
MAX_TRACEBACK_ROWS = 150  # between an exception and its heading, as the reader of tracebacks takes


class RolePhrase(Struct, frozen=True):
    """One phrase. `where`: the line itself, the one before its traceback, or the next one. `entry`: the line of its entry."""

    id: str
    role: Role
    where: str
    pattern: str
    match: tuple[str, ...]
    no_match: tuple[str, ...]
    entry: int

    def fits(self, text: str) -> bool:
        """Does it stand in `text`?"""
        return re.search(self.pattern, text) is not None


def role_of(line: Line, around: Sequence[Line]) -> Role | None:
    """The role of `line`; None where the lines do not tell it. `around`: its neighbours, in order; it may be among them."""
    if is_quoted_source(line, around):
        return "source"
    before = [Line(x.number, unlabelled(x.text)) for x in around if x.number < line.number]
    behind = [unlabelled(x.text) for x in around if x.number > line.number and x.text.strip()]
    own = unlabelled(line.text)
    head = _traceback_above(before)
    texts = {"line": own, "before": _before_traceback(before, head), "behind": next(iter(behind), "")}
    said = [p.role for p in _phrases() if texts[p.where] and p.fits(texts[p.where])]
    if head is not None and _is_clean_up(before[head + 1 :]):
        said.append("teardown")
    is_exception = EXCEPTION_LINE_PATTERN.match(own) is not None
    if "teardown" not in said and _is_repeated(own, before):
        said.append("echo")
    if is_exception and head is not None and not {"teardown", "reported", "printed", "echo"} & {*said}:
        return "raised"
    return next((role for role in ROLES_IN_ORDER if role in said), None)


def _traceback_above(before: Sequence[Line]) -> int | None:
    """The place of the heading of the traceback that ends above the line; None without one."""
    for i in range(len(before) - 1, max(-1, len(before) - 1 - MAX_TRACEBACK_ROWS), -1):
        text = before[i].text
        if TRACEBACK_HEAD in text:
            return i
        if text and not text[0].isspace() and not file_frame(text):
            return None
    return None


def _before_traceback(before: Sequence[Line], head: int | None) -> str:
    return before[head - 1].text if head else ""


def _is_clean_up(frames: Sequence[Line]) -> bool:
    outermost = next((f for line in frames if (f := file_frame(line.text))), None)
    return outermost is not None and outermost.function.strip() in TEARDOWN_FUNCTIONS


def _is_repeated(own: str, before: Sequence[Line]) -> bool:
    """Was the message of the line told by a line before it, of another rank, of the program or below a chain of exceptions?"""
    message = parse_prefix(own).message.strip()
    found = EXCEPTION_LINE_PATTERN.match(message)
    told = (found["exc_message"] or "").strip() if found else message
    if len(told) < MIN_REPEATED_CHARS:
        return False
    return any(told in line.text and EXCEPTION_LINE_PATTERN.match(parse_prefix(line.text).message.strip()) for line in before)


@functools.cache
def _phrases() -> tuple[RolePhrase, ...]:
    return tuple(load_data(ROLES_FILE, RolePhrase, _read))


def _read(data: Any, path: Path) -> list[RolePhrase]:
    from forensics.data_files.form import LINE_KEY, BadFormError, entries, keys, text, texts

    names = {"id", "role", "where", "pattern", "source", "examples"}
    keys(data, {"roles"}, {"roles"})
    made = []
    for entry in entries(data, "roles"):
        keys(entry, names, names, data[LINE_KEY])
        examples = entry["examples"]
        keys(examples, {"match", "no_match"}, {"match", "no_match"}, entry[LINE_KEY])
        role, where, pattern = entry["role"], entry["where"], text(entry, "pattern")
        text(entry, "source")
        if role not in get_args(Role) or where not in WHERE:
            raise BadFormError(entry[LINE_KEY], f"role must be one of {', '.join(get_args(Role))}, where of {', '.join(WHERE)}")
        try:
            re.compile(pattern)
        except re.error as error:
            raise BadFormError(entry[LINE_KEY], f"{entry['id']}: pattern: {error}") from error
        told = texts(examples, "match"), texts(examples, "no_match")
        made.append(RolePhrase(text(entry, "id"), role, where, pattern, *told, entry[LINE_KEY]))
    return made


def role_faults() -> list[Any]:
    """Every fault (data_files.form.Fault) of the phrases: of form, names used twice, examples that do not fit."""
    from forensics.data_files.form import Fault

    (path,) = data_files(ROLES_FILE)
    phrases, faults = parsed_data([path], _read)
    names: Mapping[str, int] = {p.id: sum(q.id == p.id for q in phrases) for p in phrases}
    return faults + [Fault(str(path), p.entry, f"{p.id}: {what}") for p in phrases for what in _wrong(p, names)]


def _wrong(phrase: RolePhrase, names: Mapping[str, int]) -> Iterator[str]:
    if names[phrase.id] > 1:
        yield "another phrase has this id"
    yield from (f"does not match its example {text!r}" for text in phrase.match if not phrase.fits(text))
    yield from (f"matches {text!r}, and must not" for text in phrase.no_match if phrase.fits(text))
