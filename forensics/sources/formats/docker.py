"""Docker's json-file log to lines, `TIME text`, the parts of long lines joined.

    {"log":"Killed\\n","stream":"stderr","time":"2026-08-22T03:00:07.123456789Z"}  ->  2026-08-22T03:00:07.123456789Z Killed

A line of more than 16 KiB comes in several records of its stream, of which only the last ends with a line end.
"""

import re
from collections.abc import Iterator
from itertools import zip_longest

from forensics import lazy, limits
from forensics.sources.formats.base import Format, Head, Note
from forensics.sources.formats.documents import parsed
from forensics.sources.lines import numbered_blocks
from forensics.sources.origin import Piece

# Whole lines without escapes, which most are: no JSON parser is needed, and it takes a tenth of the time.
PLAIN = lazy.regex(
    rb'^\{"log":"([^"\\\n]*)(?:\\r)?\\n","stream":"std(?:out|err)"(?:,"attrs":\{[^{}\n]*\})?,"time":"([^"\\\n]*)"\}\r?$',
    re.MULTILINE,
)


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
    for first, whole in numbered_blocks(blocks):
        text = None if open_lines else _whole_lines(whole)
        if text is not None:
            yield first, 1, text
            continue
        for number, line in enumerate(whole.split(b"\n"), first):
            yield from _joined(number, line.removesuffix(b"\r"), open_lines)
    for first, time, parts in open_lines.values():  # the container died in the middle of a line
        yield _line(first, time, parts)


def _whole_lines(block: bytes) -> bytes | None:
    """The text of a block in which every record is a whole line, None where one is a part or holds several."""
    found = PLAIN.split(block)
    texts = list(map(b" ".join, zip(found[2::3], found[1::3], strict=True)))
    between = found[::3]  # a line end, or the records that were not plain with the line ends around them
    between[0] = b"\n" + between[0]
    between[-1] += b"\n"
    if between.count(b"\n") == len(between):
        return b"\n".join(texts)
    done: list[bytes] = []
    for others, text in zip_longest(between, texts):
        for line in others[1:-1].split(b"\n") if len(others) > 1 else ():
            alone = _alone(line)
            if alone is None:
                return None
            done.append(alone)
        done += [] if text is None else [text]
    return b"\n".join(done)


def _alone(line: bytes) -> bytes | None:
    """The line of a record that is a whole one, what is no record as it stands, None for a part of a line."""
    record = _record(line.removesuffix(b"\r"))
    if record is None:
        return line
    text = record["log"].removesuffix("\n")
    return None if text == record["log"] or "\n" in text else _line(0, str(record.get("time", "")), [text])[2]


def _joined(number: int, line: bytes, open_lines: dict[str, tuple[int, str, list[str]]]) -> Iterator[Piece]:
    """The line that a record ends, if it ends one; `open_lines`: by stream, those of which parts came."""
    record = _record(line)
    if record is None:
        if line.strip():
            yield number, 0, line
        return
    stream, text = str(record["stream"]), record["log"]
    first, time, parts = open_lines.pop(stream, (number, str(record.get("time", "")), []))
    parts.append(text)
    if text.endswith("\n") or sum(map(len, parts)) > limits.current.joined:
        yield _line(first, time, parts)
    else:
        open_lines[stream] = (first, time, parts)


def _line(number: int, time: str, parts: list[str]) -> Piece:
    text = "".join(parts).rstrip("\r\n")
    return number, 0, f"{time} {text}".encode("utf-8", "replace")


SAMPLE = b'{"log":"Killed\\n","stream":"stderr","time":"2026-08-22T03:00:07.123456789Z"}\n'
FORMATS = (Format("docker json-file", _recognises, _decode, SAMPLE, "docker json-file", rank=10),)
