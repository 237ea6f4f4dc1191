"""Recognise files that are not logs, so that they are not read: other files of a captured run, and reports of this program.

    run.json       {"schema": "forensics-run/1", ...}
    exits.jsonl    {"pid": 4713, "ppid": 4711, "comm": ..., "how": "pidfd", ...}
    memory.jsonl   {"time": "2026-08-22T03:00:07...", "monotonic_s": ..., "processes": 17, ...}
    job.times      [81920, 1911.906]
    stacks/1.txt   forensics run: stacks of pid 1 (python3)
    report.txt     A memory limit was hit   host_memory.oom_cgroup                97 %
    report.html    <meta name="generator" content="forensics">

`forensics run`, `collect` and `guard` write the files of a captured run. Their content is summarised at the end of job.log.
Stacks are read only as such, beside dumps of ranks: one that was taken shortly before a time limit does not prove a hang. A
report quotes evidence that is already in the logs.
"""

import re
from collections.abc import Iterator

from forensics.core import lazy
from forensics.sources.formats.base import Decode, Format, Note
from forensics.sources.origin import Piece

RUN_DOCUMENT_PATTERN = lazy.regex(r'\A\{\s{0,9}"schema": ?"forensics-(?:run|report)/1"')
EXIT_RECORD_PATTERN = lazy.regex(r'\A\{"pid": \d+, (?=[^\n]*"how": ")')
SAMPLE_RECORD_PATTERN = lazy.regex(r'\A\{"time": "[^"]{19,40}", "monotonic_s": ')
UNFINISHED_PATTERN = lazy.regex(rb'\A\{\s{0,9}"schema": ?"forensics-run/1",\s{0,9}"complete": ?false\b')
ZONE_PATTERN = lazy.regex(rb'"clock": ?\{[^\n}]{0,200}"timezone": ?"([^"+\n-]{0,40})([+-]\d\d)(\d\d)"')
CAPTURED_HEAD_BYTES = 16384  # `complete` is the second field that a capture writes, the clock the tenth
TIMES_PATTERN = lazy.regex(r"\A\[\d+, \d+\.\d+\]\n")
STACKS_PATTERN = lazy.regex(r"\Aforensics run: stacks of pid \d+ ")
REPORT_PATTERN = lazy.regex(  # where the title is too long, the name of the cause is on the next line
    r"\A(?:forensics report on this run\n|[A-Z][^\n]{3,110}? {3}(?:[a-z_]+\.[a-z_]+ {2,}\d+ %|\s*\d+ %\n[a-z_]+\.[a-z_]+)\n)"
)
PAGE_PATTERN = lazy.regex(
    r'\A<!DOCTYPE html>\s{0,9}<html lang="en">\s{0,9}<head>\s{0,9}<meta charset="utf-8">\s{0,9}'
    r'<meta name="generator" content="forensics">'
)


def _unfinished(blocks: Iterator[bytes], note: Note) -> Iterator[Piece]:
    """A line which says that the capture was never completed, and one with its zone; no line for a complete capture."""
    head = b""
    for block in blocks:
        head = (head + block)[:CAPTURED_HEAD_BYTES]
    if found := UNFINISHED_PATTERN.search(head):
        yield (
            head.count(b"\n", 0, found.start()) + 1,
            1,
            b"forensics run: the capture has no end: the job runs still, or both were ended together",
        )
        if zone := ZONE_PATTERN.search(head):
            line = b"forensics run: local times are UTC%s:%s (%s)" % (zone[2], zone[3], zone[1])
            yield head.count(b"\n", 0, zone.start()) + 1, 1, line


def _nothing(blocks: Iterator[bytes], _note: Note) -> Iterator[Piece]:
    for _ in blocks:
        yield from ()


def _as_it_is(blocks: Iterator[bytes], _note: Note) -> Iterator[Piece]:
    line = 1
    for block in blocks:
        yield line, 1, block.removesuffix(b"\n")
        line += block.count(b"\n")


def _format(name: str, pattern: re.Pattern[str], sample: bytes, decode: Decode = _nothing) -> Format:
    return Format(f"captured {name}", lambda head: bool(pattern.match(head.text)), decode, sample, rank=5)


FORMATS = (
    _format("run", RUN_DOCUMENT_PATTERN, b'{\n  "schema": "forensics-run/1",\n  "complete": true\n}\n', _unfinished),
    _format("exits", EXIT_RECORD_PATTERN, b'{"pid": 4713, "ppid": 4711, "comm": "python3", "how": "pidfd", "signal": 9}\n'),
    _format(
        "samples", SAMPLE_RECORD_PATTERN, b'{"time": "2026-08-22T03:00:07.120000+00:00", "monotonic_s": 12.5, "processes": 3}\n'
    ),
    _format("times", TIMES_PATTERN, b"[81920, 1911.906]\n"),
    _format("stacks", STACKS_PATTERN, b"forensics run: stacks of pid 4711 (python3)\nProcess 4711: python3\n", _as_it_is),
    _format("report", REPORT_PATTERN, b"forensics report on this run\nA memory limit was hit   host_memory.oom_cgroup   97 %\n"),
    _format(
        "page",
        PAGE_PATTERN,
        b'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="generator" content="forensics">\n',
    ),
)
