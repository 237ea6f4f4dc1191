"""Split JSON documents into their records, each with the number of the line on which it begins.

    [                                  objects(...)  ->  (2, {"time": 1.5, ...}, ...), (3, {...}, ...)
      {"time": 1.5, "data": "text"},
      {"time": 1.6, "data": "more"}
    ]

A document that is one deep tree (a notebook, a pod) is split into single values, each with its path and line. Both ways read
block by block, and return the content of a truncated document up to its end.
"""

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from forensics.core import lazy, limits
from forensics.sources.formats.base import Note

Path = tuple[str | int, ...]
# A truncated string extends to the end of the data.
JSON_TOKEN_PATTERN = lazy.regex(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
# Whole strings of a list that follow each other: inside an object a colon stands between two of them.
STRINGS_PATTERN = lazy.regex(rb'(?:"[^"\\]*+(?:\\.[^"\\]*+)*+",\s*+){4,}+', re.DOTALL)
SEPARATORS_BETWEEN_DOCUMENTS_PATTERN = lazy.regex(r"[\s,]*")
MAX_STRING_PART_BYTES = 4 << 20  # bytes; a longer string is returned in several parts
QUOTE, OPENS_LIST = b'"['
LEAVES_LIST = b"{}]:"  # or the list that is left may be one in an object
MAX_ESCAPE_BYTES = 6  # bytes of the longest escape, such as \\u00e9


class Strings(msgspec.Struct, frozen=True):
    """Strings of a list that follow each other, each `step` lines behind the one before it."""

    texts: list[str]
    step: int


def parsed(text: str | bytes) -> Any:
    """The value of a JSON text. Raises ValueError for invalid JSON, and for JSON that is nested too deeply for Python."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _lenient_decoder() -> "json.JSONDecoder":
    return json.JSONDecoder(strict=False)  # accepts control characters inside strings


def single(text: str) -> Any:
    """The value of a JSON text that is neither an object nor a list. Raises ValueError for invalid JSON."""
    return _lenient_decoder().decode(text)


def whole(blocks: Iterator[bytes], note: Note) -> str:
    """All of `blocks`, a short document, as text. What follows after the size limit of an entry is left out, with a note."""
    parts: list[bytes] = []
    size = 0
    for block in blocks:
        parts.append(block)
        size += len(block)
        if size > limits.current.entry:
            note("limit", f"a document of more than {limits.current.entry >> 20} MiB; the rest was not read", None)
            break
    return b"".join(parts).decode("utf-8", "replace")


class _Text:
    """The text of `blocks`, read only as far as needed. `at`: the current position in `text`; `line`: its line number."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self.blocks = blocks
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.text, self.at, self.line = "", 0, 1

    def more(self, size: int) -> bool:
        """Read at least `size` more bytes, if there are so many; False at the end of the input."""
        parts = [self.text[self.at :]]
        self.at, read = 0, 0
        while read < size and (block := next(self.blocks, None)) is not None:
            parts.append(self.decoder.decode(block))
            read += len(block)
        self.text = "".join(parts)
        return read > 0

    def to(self, at: int) -> None:
        """Move to the position `at` and count the lines on the way."""
        self.line += self.text.count("\n", self.at, at)
        self.at = at

    def past(self, mark: str) -> None:
        """Move behind the next `mark`, or to the end if there is none."""
        while (found := self.text.find(mark, self.at)) < 0:
            self.to(max(self.at, len(self.text) - len(mark)))
            if not self.more(1):
                self.to(len(self.text))
                return
        self.to(found + len(mark))

    def begun(self) -> bool:
        """Move to the next object or value; False at the end of the list or of the text."""
        while True:
            self.to(SEPARATORS_BETWEEN_DOCUMENTS_PATTERN.match(self.text, self.at).end())  # type: ignore[union-attr]  # it also matches the empty string
            if self.at < len(self.text):
                return self.text[self.at] != "]"
            if not self.more(1):
                return False


def objects(blocks: Iterator[bytes], note: Note, inside: str | None = None) -> Iterator[tuple[int, dict[str, Any], str]]:
    """The objects of a list, or objects that follow each other, each with the line on which it begins and its own text.

    `inside`: the list is the value of this name in an outer object.
    """
    text = _Text(_bounded(blocks, note))
    if inside is not None:
        text.past(f'"{inside}"')
        text.past("[")
    elif text.begun() and text.text[text.at] == "[":
        text.past("[")
    decoder = json.JSONDecoder()
    for _ in range(limits.current.values):
        if not text.begun():
            return
        try:
            found, end = decoder.raw_decode(text.text, text.at)
            if end == len(text.text) and text.more(1):  # a number may continue in the next block
                continue
        except (ValueError, RecursionError):
            waiting = len(text.text) - text.at
            if waiting < limits.current.entry and text.more(max(waiting, 1)):
                continue
            note("truncated", "the document is cut short or damaged after this line", text.line)
            if rest := _rest(text.text[text.at :]):
                yield text.line, rest, text.text[text.at :]
            return
        if isinstance(found, list):
            found = fields_of(found)
        if isinstance(found, dict):
            yield text.line, found, text.text[text.at : end]
        text.to(end)
    note("limit", f"more than {limits.current.values:,} values; the rest was not read", text.line)


def fields_of(record: list[Any]) -> dict[str, Any]:
    """A record as CloudWatch Insights writes it, `[{"field": "@message", "value": "Killed"}, ...]`, by its fields."""
    return {str(f["field"]): f.get("value") for f in record if isinstance(f, dict) and "field" in f}


def _bounded(blocks: Iterator[bytes], note: Note) -> Iterator[bytes]:
    size = 0
    for block in blocks:
        yield block
        size += len(block)
        if size > limits.current.document:
            note("limit", f"a document of more than {limits.current.document >> 20} MiB; the rest was not read", None)
            return


def _rest(text: str) -> dict[str, Any]:
    """The values of a truncated object, up to the point where it ends."""
    found: dict[str, Any] = {}
    for path, value, _ in values(iter([text.encode("utf-8", "replace")]), lambda *_: None):
        inner = found
        for name in path[:-1]:
            step = inner.setdefault(str(name), {})
            inner = step if isinstance(step, dict) else {}
        if path:
            inner[str(path[-1])] = value
    return found


def values(blocks: Iterator[bytes], note: Note) -> Iterator[tuple[Path, Any, int]]:
    """Every scalar of a JSON document, in order, with its path (names, and indices from 0) and line.

    Values that are nested deeper than the limit are left out. A string of more than MAX_STRING_PART_BYTES is returned in several
    parts, one after the other.
    """
    for path, value, line in values_and_strings(blocks, note):
        if isinstance(value, Strings):
            for i, text in enumerate(value.texts):
                yield (*path[:-1], path[-1] + i), text, line + i * value.step  # type: ignore[operator]  # an index
        else:
            yield path, value, line


def values_and_strings(blocks: Iterator[bytes], note: Note) -> Iterator[tuple[Path, Any, int]]:
    """The same, but many strings of a list at once as Strings, with the path and the line of the first one."""
    path: list[str | int] = []
    key: str | None = None
    deeper = 0
    for mark, line in _tokens(_bounded(blocks, note), note):
        if isinstance(mark, Strings):
            if not deeper:
                _enter(path, key)
                yield tuple(path), mark, line
                path[-1] = path[-1] + len(mark.texts) - 1  # type: ignore[operator]  # an index: strings that follow each other are a list's
        elif mark in b"{[":
            if deeper or len(path) >= limits.current.depth:
                deeper += 1
                continue
            _enter(path, key)
            path.append(-1 if mark == b"[" else "")
            key = None
        elif mark in b"}]":
            if deeper:
                deeper -= 1
            elif path:
                path.pop()
            key = None
        elif deeper or mark == b":":
            continue
        elif mark == b",":
            key = None
        elif path and isinstance(path[-1], str) and key is None:
            key = _value(mark)
        else:
            _enter(path, key)
            yield tuple(path), _value(mark), line


def _tokens(blocks: Iterator[bytes], note: Note) -> Iterator[tuple[bytes | Strings, int]]:
    """The tokens of a document (strings, other scalars and punctuation), each with its line. Strings of a list that follow each
    other come as one, without the commas between and behind them."""
    rest, line, left, pieces = b"", 1, limits.current.values, _Pieces()
    for block in blocks:
        data = rest + block
        counted, cut = 0, len(data)
        for token, strings in pieces.of(data):
            start = token.start()
            line += data.count(b"\n", counted, start)
            counted = start
            if token.end() == len(data) and not strings:  # it may continue in the next block
                cut = start
                break
            yield strings or token[0], line
            left -= 2 * len(strings.texts) if strings else 1
            if left <= 0:
                note("limit", f"more than {limits.current.values:,} values and marks; the rest was not read", line)
                return
        line += data.count(b"\n", counted, cut)
        rest = data[cut:]
        if len(rest) > MAX_STRING_PART_BYTES:
            at = _part(rest)
            yield (rest[:at] + b'"' if rest[:1] == b'"' else rest[:at]), line
            line += rest.count(b"\n", 0, at)
            rest = b'"' + rest[at:] if rest[:1] == b'"' else rest[at:]
    yield from ((token[0], line) for token in JSON_TOKEN_PATTERN.finditer(rest))


class _Pieces:
    """Divides block after block into tokens. `in_list`: the next value is one of a list."""

    def __init__(self) -> None:
        self.in_list = False

    def of(self, data: bytes) -> Iterator[tuple[re.Match[bytes], Strings | None]]:
        """The tokens of `data`, and in the place of many strings of a list one match for all of them."""
        at = tried = 0  # up to `tried` there are no such strings
        while True:
            for token in JSON_TOKEN_PATTERN.finditer(data, at):
                start = token.start()
                if self.in_list and data[start] == QUOTE and start >= tried and (found := STRINGS_PATTERN.match(data, start)):
                    tried = found.end()
                    if strings := _strings(found):
                        yield found, strings
                        at = tried
                        break
                yield token, None
                self.in_list = data[start] == OPENS_LIST or (self.in_list and data[start] not in LEAVES_LIST)
            else:
                return


def _strings(found: re.Match[bytes]) -> Strings | None:
    """The strings of a match of STRINGS_PATTERN; None where they are no strict JSON, or not equally many lines apart."""
    text = found[0].rstrip()
    try:
        texts = msgspec.json.decode(b"[%b]" % text[:-1], type=list[str])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    lines = text.count(b"\n")
    if lines and not (lines == len(texts) - 1 == text.count(b",\n")):
        return None
    return Strings(texts, min(1, lines))


def _part(text: bytes) -> int:
    """Where to split a string that is too long: at MAX_STRING_PART_BYTES, or just before an escape or a character that this
    position would split."""
    at = MAX_STRING_PART_BYTES
    slash = text.rfind(b"\\", at - MAX_ESCAPE_BYTES, at)
    if slash >= 0:
        run = slash + 1 - len(text[: slash + 1].rstrip(b"\\"))
        length = MAX_ESCAPE_BYTES if text[slash + 1 : slash + 2] == b"u" else 2
        if run % 2 and slash + length > at:
            return slash
    return next((at - i for i in range(4) if text[at - i] & 0xC0 != 0x80), at)


def _enter(path: list[str | int], key: str | None) -> None:
    """Set the last element of `path` for the next value of the innermost object (its key) or list (its index)."""
    if path:
        last = path[-1]
        path[-1] = last + 1 if isinstance(last, int) else str(key)


def _value(mark: bytes) -> Any:
    text = mark.decode("utf-8", "replace")
    if text[0] == '"' == text[-1] and "\\" not in text and len(text) > 1:  # usual case: no escape, so no decoding is needed
        return text[1:-1]
    try:
        if text[0] == '"':  # without the search for blanks around it
            value, end = _lenient_decoder().raw_decode(text)
            return value if end == len(text) else single(text)
        return single(text)
    except ValueError:
        if not text.startswith('"'):
            return text
    for cut in range(1, 7):  # the last escape may be incomplete
        try:
            return single(text[: len(text) - cut + 1] + '"')
        except ValueError:
            continue
    return text[1:]
