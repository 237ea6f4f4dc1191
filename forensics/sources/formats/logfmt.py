"""Convert logfmt (containerd, Docker, Prometheus exporters) to lines: the time, the level, the message, then other fields.

time="2017-02-01T17:58:34.99-08:00" level=error msg="task exited\\n status 137" id=ab3f
->  2017-02-01T17:58:34.99-08:00 ERROR task exited
     status 137 id=ab3f
"""

from collections.abc import Iterator

from forensics.core import lazy
from forensics.sources.formats.base import Format, Head, Note
from forensics.sources.formats.documents import single
from forensics.sources.formats.json_records import MIN_RECORD_SHARE
from forensics.sources.formats.stamps import from_value
from forensics.sources.lines import numbered_lines
from forensics.sources.origin import Piece

LOGFMT_PAIR_PATTERN = lazy.regex(r'(?<![\w.@-])([\w.@-]{1,200})=("(?:[^"\\]|\\.)*"|[^\s"]*)')
LOGFMT_LINE_PATTERN = lazy.regex(r'(?:time|ts|t)="?\d{4}-\d\d-\d\dT[^ ]+ (?:[^\s=]+=\S+ )*(?:level|lvl|msg)=')
LEVEL_OF_WORD = {
    "debug": "DEBUG",
    "info": "INFO",
    "warn": "WARN",
    "warning": "WARNING",
    "error": "ERROR",
    "fatal": "FATAL",
    "panic": "FATAL",
}


def _recognises(head: Head) -> bool:
    if not LOGFMT_LINE_PATTERN.match(head.first):
        return False
    lines = head.written[:200]
    return sum(bool(LOGFMT_LINE_PATTERN.match(x)) for x in lines) >= MIN_RECORD_SHARE * len(lines)


def _decode(blocks: Iterator[bytes], note: Note) -> Iterator[Piece]:
    for number, raw in numbered_lines(blocks):
        line = raw.decode("utf-8", "replace")
        if not LOGFMT_LINE_PATTERN.match(line):
            yield number, 1, raw
            continue
        found = {name: _bare(value) for name, value in LOGFMT_PAIR_PATTERN.findall(line)}
        time = from_value(next((found.pop(n) for n in ("time", "ts", "t") if n in found), ""))
        level = LEVEL_OF_WORD.get(next((found.pop(n) for n in ("level", "lvl") if n in found), "").lower(), "")
        message = found.pop("msg", "")
        rest = " ".join(f"{name}={value}" for name, value in found.items())
        yield number, 0, " ".join(p for p in (time, level, message, rest) if p).encode("utf-8", "replace")


def _bare(value: str) -> str:
    if not value.startswith('"'):
        return value
    try:
        return str(single(value))
    except ValueError:
        return value.strip('"')


SAMPLE = b'time="2017-02-01T17:58:34.999999999-08:00" level=error msg="test log line1"\n'
FORMATS = (Format("logfmt", _recognises, _decode, SAMPLE, rank=50),)
