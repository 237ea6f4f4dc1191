"""Bytes through the whole pipeline, from opening to a finished report, and what must hold of any report.

The first byte chooses the report's form; the rest is what was given: several logs where it holds SEPARATOR, each read as on
standard input, so text, compressed text, an archive or a notebook.
"""

import contextlib
import io
import json
import time

from forensics import pipeline
from forensics.core.errors import SourceError
from forensics.database import Database
from forensics.model import Report, Source, Warning
from forensics.report import formats, render
from forensics.report.style import Style
from forensics.sources.stdin import stream_sources

SEPARATOR = b"\n--8<--\n"
SLOW_S = 10.0  # for some KiB; the 60 s that any input may take are for hundreds of MiB
ACTING = {*map(chr, range(32)), "\x7f", "\x9b", "\u202e", "\u2066"} - {"\n", "\t"}


class WrongError(AssertionError):
    """A report that cannot be."""


def check(data: bytes, knowledge: Database) -> None:
    """Analyse and tell `data`; raises what the program raises, and WrongError for a report that cannot be true."""
    form = sorted(formats())[data[0] % len(formats())] if data else "json"
    noted: list[Warning] = []
    given: list[Source] = []
    start = time.thread_time()
    for number, part in enumerate(data[1:].split(SEPARATOR)):
        with contextlib.suppress(SourceError):  # nothing readable: the answer to noise
            given += stream_sources(io.BytesIO(part), f"{number}.log", noted.append)
    report = pipeline.analyze(given, "case", knowledge, noted, workers=1)
    text = render(report, form, Style())
    took = time.thread_time() - start
    _possible(report, {s.name for s in given if s.origin is None})
    if ACTING & set(text):
        raise WrongError(f"{form} holds a control or direction character")
    if form == "json":
        json.loads(text)
    if took > SLOW_S:
        raise WrongError(f"took {took:.0f} s")


def _possible(report: Report, plain: set[str]) -> None:
    """`plain`: sources whose lines are counted as they stand."""
    if not report.causes or not all(0 <= c.probability <= 1 for c in report.causes):
        raise WrongError("no cause, or a probability beyond 0..1")
    lines = {s.name: s.lines for s in report.sources}
    for e in (e for c in report.causes for e in c.evidence):
        if e.line < 1 or (e.source in plain and e.line > lines[e.source]):
            raise WrongError(f"evidence in line {e.line} of {lines.get(e.source)}")
    if any(m.time and m.time.year == 1970 for m in report.timeline):
        raise WrongError("a time in 1970")
