"""Docker's json-file log to lines, `TIME text`, the parts of long lines joined.

    {"log":"Killed\\n","stream":"stderr","time":"2026-08-22T03:00:07.123456789Z"}  ->  2026-08-22T03:00:07.123456789Z Killed

A line of more than 16 KiB comes in several records of its stream, of which only the last ends with a line end.
"""

from collections.abc import Iterator

from forensics import lazy, limits
from forensics.sources.formats.base import Format, Head, Note
from forensics.sources.formats.documents import parsed
from forensics.sources.lines import numbered_lines
from forensics.sources.origin import Piece

# A whole line without escapes, which most are: no JSON parser is needed, and it takes a tenth of the time.
PLAIN = lazy.regex(rb'\{"log":"([^"\\]*)(?:\\r)?\\n","stream":"std(?:out|err)","time":"([^"\\]*)"\}$')


def _recognises(head: Head) -> bool:
    """The first record may be cut: the end of a log is what people copy."""
    records = (_record(line.encode()) for line in head.lines[:3] if line.startswith("{"))
    return any(record is not None and "time" in record for record in records)


def _record(line: bytes) -> dict[str, str] | None:
    try:
        found = parsed(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and isinstance(found.get("log"), str) and "stream" in found else None


def _decode(blocks: Iterator[bytes], note: Note) -> Iterator[Piece]:
    open_lines: dict[str, tuple[int, str, list[str]]] = {}
    for number, line in numbered_lines(blocks):
        plain = PLAIN.match(line)
        if plain and not open_lines:
            yield number, 0, b"%b %b" % (plain[2], plain[1])
            continue
        record = _record(line)
        if record is None:
            if line.strip():
                yield number, 0, line
            continue
        stream, text = str(record["stream"]), record["log"]
        first, time, parts = open_lines.pop(stream, (number, str(record.get("time", "")), []))
        parts.append(text)
        if text.endswith("\n") or sum(map(len, parts)) > limits.current.joined:
            yield _line(first, time, parts)
        else:
            open_lines[stream] = (first, time, parts)
    for first, time, parts in open_lines.values():  # the container died in the middle of a line
        yield _line(first, time, parts)


def _line(number: int, time: str, parts: list[str]) -> Piece:
    text = "".join(parts).rstrip("\r\n")
    return number, 0, f"{time} {text}".encode("utf-8", "replace")


SAMPLE = b'{"log":"Killed\\n","stream":"stderr","time":"2026-08-22T03:00:07.123456789Z"}\n'
FORMATS = (Format("docker json-file", _recognises, _decode, SAMPLE, "docker json-file", rank=10),)
