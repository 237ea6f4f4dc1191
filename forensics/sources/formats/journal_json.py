"""journalctl's four JSON forms to lines.

    {"__REALTIME_TIMESTAMP":"1755831607123456","_HOSTNAME":"gpu-node-7","MESSAGE":"python3 invoked oom-killer", ...}   json
    data: {...}                                                                                                     json-sse
    RS {...}                                                                                                        json-seq
    {<newline><tab>"MESSAGE" : "...", ... }                                                                         json-pretty

Values are strings, arrays of byte values where they hold control characters, arrays of those where a field came twice, and
null where they were too long to print.
"""

import json
from collections.abc import Iterator

from forensics import lazy, limits
from forensics.sources.formats.base import Format, Head, Note
from forensics.sources.formats.entry import FIELDS, Entries
from forensics.sources.lines import numbered_lines
from forensics.sources.origin import Piece

KEY = lazy.regex(r'"__REALTIME_TIMESTAMP"\s*:\s*"\d{16}"')
START = lazy.regex(r"(?:data: |\x1e)?\{")
DECODE = json.JSONDecoder().decode


def _recognises(head: Head) -> bool:
    return bool(START.match(head.first)) and bool(KEY.search(head.text[:16384]))


def decode(blocks: Iterator[bytes], note: Note) -> Iterator[Piece]:
    """Lines of the entries in `blocks`; each stood where its message stands."""
    entries = Entries()
    for number, raw in _objects(blocks):
        if not raw.startswith(b"{"):  # a remark between the entries, `-- Boot ... --`
            yield number, 0, raw
            continue
        try:
            found = DECODE(raw.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            note("damaged", "an entry of the journal could not be read", number)
            continue
        yield from entries.pieces({name: _text(v) for name in FIELDS if (v := found.get(name)) is not None}, number)


def _objects(blocks: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """The objects with the numbers of their messages' lines: one a line, or from a line that opens one to one that closes it."""
    start, parts, size = 0, list[bytes](), 0
    for number, line in numbered_lines(blocks):
        line = line.removeprefix(b"\x1e").removeprefix(b"data: ").strip()
        if parts:
            start = number if line.startswith(b'"MESSAGE"') else start
            parts.append(line)
            size += len(line)
            if line == b"}" or size > limits.current.entry:
                yield start, b"".join(parts)
                parts, size = [], 0
        elif line == b"{":
            start, parts = number, [line]
        elif line:
            yield number, line
    if parts:
        yield start, b"".join(parts)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        if value and all(isinstance(v, int) and 0 <= v < 256 for v in value):
            return bytes(value).decode("utf-8", "replace")
        return _text(value[-1]) if value else ""
    return str(value)


SAMPLE = b'{"__REALTIME_TIMESTAMP":"1755831607123456","_HOSTNAME":"gpu-node-7","MESSAGE":"text"}\n'
FORMATS = (Format("journal json", _recognises, decode, SAMPLE, "journal json", rank=10),)
