"""Regions as the scanner makes them, from lines of a test."""

import functools

from forensics import pipeline
from forensics.database import Database
from forensics.model import Line, Region, Scan, Source, Trigger
from forensics.readers import with_texts
from forensics.readers.base import Record, with_cause


def regions(text: str, trigger: Trigger, source: str = "log") -> list[Region]:
    """A Region around each line of `text` in which an anchor of `trigger` stands."""
    lines = text.split("\n")
    found = []
    for i, line in enumerate(lines):
        if any(a.lower() in line.lower() for a in with_texts(trigger).anchors):
            before = "".join(x + "\n" for x in lines[max(0, i - trigger.before) : i]).encode()
            after = "\n".join(lines[i + 1 : i + 1 + trigger.after]).encode()
            found.append(Region(source, i + 1, line, before, after, trigger.before, trigger.after))
    return found


def scan_of(kinds: dict[str, list[Region]], totals: dict[str, int] | None = None) -> Scan:
    """A Scan without hits that holds these regions."""
    source = Source("log", lambda _warn: iter([]))
    given = {k: tuple(v) for k, v in kinds.items()}
    return Scan(source, 0, 0, (), given, (Line(1, ""),), (), totals or {k: len(v) for k, v in given.items()})


@functools.cache
def knowledge() -> Database:
    """The built-in database."""
    return pipeline.database()


def proven(record: Record | None) -> Record | None:
    """`record` with the cause that signatures/records.yaml names for its outcome."""
    return record and with_cause(record, knowledge().records)
