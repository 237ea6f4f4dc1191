"""Convert the log of Docker's json-file driver to lines `TIME text`, and join the parts of long lines.

    {"log":"Killed\\n","stream":"stderr","time":"2026-08-22T03:00:07.123456789Z"}  ->  2026-08-22T03:00:07.123456789Z Killed

Docker splits a line of more than 16 KiB into several records of its stream. Only the last of them ends with a line end.
"""

from collections.abc import Iterator
from operator import itemgetter

from msgspec import Struct, convert, json

from forensics.core import limits
from forensics.core.text import line_ends
from forensics.sources.formats.base import Format, Head, Note
from forensics.sources.formats.documents import parsed
from forensics.sources.lines import numbered_blocks
from forensics.sources.origin import Piece


class Record(Struct, gc=False):
    """One record of the file."""

    log: str
    stream: str
    time: str = ""


class Whole(Struct, gc=False):
    """The fields that are needed from a record that is one whole line."""

    log: str
    time: str


RECORD_DECODER = json.Decoder(Record)
WHOLE_DECODER = json.Decoder(Whole)
LAST_CHAR = itemgetter(slice(-1, None))  # the last character of a text; an empty string for an empty text
DOCKER_PROBED_LINES = 3  # one may be cut and one may be a part of a long line
MIN_PARTIAL_CHARS = 8_192  # characters; Docker cuts at 16 KiB


def _recognises(head: Head) -> bool:
    """Are these records from Docker? The first one may be cut, because people often copy only the end of a log."""
    records = [r for line in head.lines[:DOCKER_PROBED_LINES] if line.startswith("{") and (r := _record(line.encode()))]
    # Log collectors use the same field names, but their texts have no line end.
    return any(r.time and (r.log.endswith("\n") or len(r.log) >= MIN_PARTIAL_CHARS) for r in records)


def _record(line: bytes) -> Record | None:
    try:
        return RECORD_DECODER.decode(line)
    except RecursionError:  # records of Docker are not nested
        return None
    except ValueError:  # invalid bytes in a text, or not a record
        try:
            return convert(parsed(line), Record)
        except (ValueError, RecursionError):
            return None


def _decode(blocks: Iterator[bytes], note: Note) -> Iterator[Piece]:
    open_lines: dict[str, tuple[int, str, list[str]]] = {}
    for first, count, whole in numbered_blocks(blocks):
        text = None if open_lines else _whole_lines(whole, count)
        if text is not None:
            yield first, 1, text, count
            continue
        for number, line in enumerate(whole.split(b"\n"), first):
            yield from _joined(number, line.removesuffix(b"\r"), open_lines)
    for first, time, parts in open_lines.values():  # the container died in the middle of a line
        yield _line(first, time, parts)


def _whole_lines(block: bytes, count: int) -> bytes | None:
    """The text of a block of `count` records, if each is one whole line, as is usual; None if one of them is not."""
    try:
        found = WHOLE_DECODER.decode_lines(block)
        logs = [r.log for r in found]
        parts = [" "] * (3 * len(found))  # one list that is joined at the end is twice as fast as an f-string for each record
        parts[::3], parts[2::3] = [r.time for r in found], logs
        text = "".join(parts).encode()
    except (ValueError, RecursionError):
        return None
    if not len(found) == count == line_ends(text) or set(map(LAST_CHAR, logs)) != {"\n"}:
        return None
    return (text.replace(b"\r\n", b"\n") if b"\r" in text else text)[:-1]


def _joined(number: int, line: bytes, open_lines: dict[str, tuple[int, str, list[str]]]) -> Iterator[Piece]:
    """The line that this record completes, if any. `open_lines`: for each stream, the line of which some parts were read."""
    record = _record(line)
    if record is None:
        if line.strip():
            yield number, 0, line
        return
    first, time, parts = open_lines.pop(record.stream, (number, record.time, []))
    parts.append(record.log)
    if record.log.endswith("\n") or sum(map(len, parts)) > limits.current.joined:
        yield _line(first, time, parts)
    else:
        open_lines[record.stream] = (first, time, parts)


def _line(number: int, time: str, parts: list[str]) -> Piece:
    text = "".join(parts).rstrip("\r\n")
    return number, 0, f"{time} {text}".encode("utf-8", "replace")


SAMPLE = b'{"log":"Killed\\n","stream":"stderr","time":"2026-08-22T03:00:07.123456789Z"}\n'
FORMATS = (Format("docker json-file", _recognises, _decode, SAMPLE, rank=10),)
