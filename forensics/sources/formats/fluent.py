"""Convert the records that Fluentd and Fluent Bit print to lines `TIME text`.

    2026-08-22T03:00:07+00:00<TAB>kube.train<TAB>{"log":"Killed","stream":"stderr"}          (Fluentd's files and standard output)
    [0] kube.train: [[1787367607.123456789, {}], {"log"=>"Killed", "stream"=>"stderr"}]     (Fluent Bit's standard output)
->  2026-08-22T03:00:07+00:00 Killed

Fluent Bit writes `=>` where JSON has a colon. Versions before 2.1 write no `{}` after the time.
"""

from collections.abc import Iterator

from forensics.core import lazy
from forensics.sources.formats.base import ISO_TIME, Format, Head, Note
from forensics.sources.formats.documents import parsed
from forensics.sources.formats.json_records import MIN_RECORD_SHARE, PROBED_RECORDS, text_of
from forensics.sources.formats.stamps import from_value
from forensics.sources.lines import numbered_lines
from forensics.sources.origin import Piece

TAGGED_RECORD_PATTERN = lazy.regex(
    rf"\A({ISO_TIME}(?:[.,]\d+)? ?(?:Z|[+-]\d\d:?\d\d))(?:\t| )(\S{{1,300}}?)(?:\t|: )(\{{.*\}})\s*\Z"
)
PRINTED_RECORD_PATTERN = lazy.regex(r"\A\[\d+\] (\S{1,300}): \[\[?(\d{9,10}(?:\.\d+)?)(?:, \{.*?\}\])?, (\{.*\})\]\s*\Z")
RUBY_HASH_ARROW_PATTERN = lazy.regex(r'("(?:[^"\\]|\\.)*")=>')


def _read(line: str) -> str | None:
    """`TIME text` of a record; None for a line that is not a record or has no text."""
    if found := TAGGED_RECORD_PATTERN.match(line):
        time, body = found[1], found[3]
    elif found := PRINTED_RECORD_PATTERN.match(line):
        time, body = from_value(float(found[2])) or "", RUBY_HASH_ARROW_PATTERN.sub(r"\1:", found[3])
    else:
        return None
    try:
        record = parsed(body)
    except ValueError:
        return None
    text = text_of(record) if isinstance(record, dict) else None
    return None if text is None else f"{time} {text}".rstrip("\r\n")


def _recognises(head: Head) -> bool:
    lines = head.written[:PROBED_RECORDS]
    return (
        bool(lines) and _read(lines[0]) is not None and sum(_read(x) is not None for x in lines) >= MIN_RECORD_SHARE * len(lines)
    )


def _decode(blocks: Iterator[bytes], note: Note) -> Iterator[Piece]:
    for number, raw in numbered_lines(blocks):
        text = _read(raw.decode("utf-8", "replace"))
        yield (number, 1, raw) if text is None else (number, 0, text.encode("utf-8", "replace"))


SAMPLE = b'2026-08-22T03:00:07+00:00\tkube.train\t{"log":"Killed","stream":"stderr"}\n'
FORMATS = (Format("fluent", _recognises, _decode, SAMPLE, rank=55),)
