"""JSON documents to their records, each with the number of the line on which it begins.

    [                                  objects(...)  ->  (2, {"time": 1.5, ...}, ...), (3, {...}, ...)
      {"time": 1.5, "data": "text"},
      {"time": 1.6, "data": "more"}
    ]

and to their single values, each with its path and line, for documents that are one deep tree (a notebook, a pod). A document
that is cut short gives what it holds. Such a document is held in memory, `limits.document` bytes at most.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from forensics import lazy, limits
from forensics.sources.formats.base import Note

Path = tuple[str | int, ...]
# A string that is cut short reaches to the end.
TOKEN = lazy.regex(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
SPACE = lazy.regex(r"[\s,]*")


def parsed(text: str | bytes, strict: bool = True) -> Any:
    """The value of a JSON text; raises ValueError for every other one, also for one nested deeper than Python can follow."""
    try:
        return json.loads(text, strict=strict)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def whole(blocks: Iterator[bytes], note: Note) -> str:
    """All of `blocks` as text; what lies behind its limit is left out with a note."""
    parts: list[bytes] = []
    size = 0
    for block in blocks:
        parts.append(block)
        size += len(block)
        if size > limits.current.document:
            note("limit", f"a document of more than {limits.current.document >> 20} MiB; the rest was not read", None)
            break
    return b"".join(parts).decode("utf-8", "replace")


def objects(blocks: Iterator[bytes], note: Note, inside: str | None = None) -> Iterator[tuple[int, dict[str, Any], str]]:
    """The objects of a list of objects (`inside`: under this name in an outer object), or of objects in a row, each with the
    line it begins on and its own text."""
    text = whole(blocks, note)
    at = 0
    if inside is not None:
        at = text.index("[", text.index(f'"{inside}"')) + 1
    elif text.lstrip().startswith("["):
        at = text.index("[") + 1
    decoder = json.JSONDecoder()
    line, counted = 1, 0
    while True:
        at = SPACE.match(text, at).end()  # type: ignore[union-attr]  # it matches nothing as well
        if at >= len(text) or text[at] == "]":
            return
        line += text.count("\n", counted, at)
        counted = at
        try:
            found, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            note("truncated", "the document is cut short or damaged behind this line", line)
            if found := _rest(text[at:]):
                yield line, found, text[at:]
            return
        if isinstance(found, dict):
            yield line, found, text[at:end]
        at = end


def _rest(text: str) -> dict[str, Any]:
    """The values of an object that is cut short, as far as they go."""
    found: dict[str, Any] = {}
    for path, value, _ in values(text):
        inner = found
        for name in path[:-1]:
            step = inner.setdefault(str(name), {})
            inner = step if isinstance(step, dict) else {}
        if path:
            inner[str(path[-1])] = value
    return found


def values(text: str) -> Iterator[tuple[Path, Any, int]]:
    """Every single value of a JSON document with its path (names and places from 0) and line, in order; none that lies deeper
    than the limit."""
    path: list[str | int] = []
    key: str | None = None
    line, counted = 1, 0
    for token in TOKEN.finditer(text):
        mark = token[0]
        if mark in "{[":
            _enter(path, key)
            path.append(-1 if mark == "[" else "")
            key = None
        elif mark in "}]":
            if path:
                path.pop()
            key = None
        elif mark == ":":
            continue
        elif mark == ",":
            key = None
        elif path and isinstance(path[-1], str) and key is None:
            key = _value(mark)
        else:
            _enter(path, key)
            line += text.count("\n", counted, token.start())
            counted = token.start()
            if len(path) <= limits.current.depth:
                yield tuple(path), _value(mark), line


def _enter(path: list[str | int], key: str | None) -> None:
    """The next value of the innermost object or list begins."""
    if path:
        last = path[-1]
        path[-1] = last + 1 if isinstance(last, int) else str(key)


def _value(mark: str) -> Any:
    try:
        return parsed(mark, strict=False)
    except ValueError:
        if not mark.startswith('"'):
            return mark
    for cut in range(1, 7):  # the last escape may be half there
        try:
            return parsed(mark[: len(mark) - cut + 1] + '"', strict=False)
        except ValueError:
            continue
    return mark[1:]
