"""Decode the escapes of rsyslog, which writes a line feed inside a message as `#012`, a tab as `#011` and ESC as `#033`.

Aug 22 03:00:07 node-7 kernel: Mem-Info:#012 active_anon:7355653  ->  ... kernel: Mem-Info:
                                                                       active_anon:7355653
"""

import re
from collections.abc import Iterator

from forensics.core import lazy
from forensics.sources.formats.base import ISO_TIME, Format, Head, Note
from forensics.sources.lines import numbered_blocks
from forensics.sources.origin import Piece

SYSLOG_LINE_PATTERN = lazy.regex(rf"(?:<\d+>)?(?:\w{{3}} [ \d]\d \d\d:\d\d:\d\d|{ISO_TIME}\S*) \S+")
OCTAL_ESCAPE_PATTERN = lazy.regex(rb"#0(?:11|12|33)")
ESCAPED_LINE_PATTERN = lazy.regex(rb"^[^\n]*#0(?:11|12|33)[^\n]*", re.MULTILINE)
UNESCAPED = {b"#011": b"\t", b"#012": b"\n", b"#033": b"\x1b"}
MIN_SYSLOG_SHARE = 0.5  # of the lines; chosen by hand: raw output of a program may be between the lines of syslog


def _recognises(head: Head) -> bool:
    if "#012" not in head.text:
        return False
    lines = head.written
    return sum(bool(SYSLOG_LINE_PATTERN.match(line)) for line in lines) >= MIN_SYSLOG_SHARE * len(lines)


def _decode(blocks: Iterator[bytes], note: Note) -> Iterator[Piece]:
    for first, _, whole in numbered_blocks(blocks):
        if not OCTAL_ESCAPE_PATTERN.search(whole):
            yield first, 1, whole
            continue
        start = 0
        number = first
        for line in ESCAPED_LINE_PATTERN.finditer(whole):
            if line.start() > start:
                yield number, 1, whole[start : line.start() - 1]
                number += whole.count(b"\n", start, line.start())
            yield number, 0, OCTAL_ESCAPE_PATTERN.sub(lambda m: UNESCAPED[m[0]], line[0])
            number, start = number + 1, line.end() + 1
        if start < len(whole):
            yield number, 1, whole[start:]


SAMPLE = b"Aug 22 03:00:07 node-7 kernel: Mem-Info:#012 active_anon:7355653#012 active_file:1\n"
FORMATS = (Format("rsyslog escapes", _recognises, _decode, SAMPLE, plain=True, rank=80),)
