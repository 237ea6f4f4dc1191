"""Turn a Report into the document of schema `forensics-report/1`: plain dicts, RFC 3339 times, text safe to print."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import astuple, replace

from forensics.core.errors import UsageError
from forensics.core.text import printable
from forensics.model import Line, QuotedLine, Report
from forensics.model.ranks import RankPicture
from forensics.report.redaction.walk import changed
from forensics.report.subjects import incident_groups

REPORT_SCHEMA = "forensics-report/1"
MAX_CONTEXT_LINE_CHARS = 500  # a quarter of the limit for an evidence line: context lines are less important


def time_text(time: datetime | None) -> str | None:
    """RFC 3339 with offset, as fine as the time is; None for an unknown time."""
    if time is None:
        return None
    fine = "microseconds" if time.microsecond % 1000 else "milliseconds"
    return time.isoformat(timespec=fine if time.microsecond else "seconds")


MAX_EDGES = 4096  # of ranks that wait for others; four for each of 1,024 ranks
SOURCE_NAMES = ("source", "last_source", "name", "good", "bad")  # fields with names of files, by which a file is opened


def document(report: Report) -> dict[str, Any]:
    """The document of schema `forensics-report/1`, keys in the schema's order."""
    made: dict[str, Any] = {"schema": REPORT_SCHEMA}
    for name, value in plain(replace(report, ranks=None)).items():
        made[name] = value
        if name == "incidents":
            made["incident_groups"] = plain(tuple(incident_groups(report)))
    return made | ({"ranks": _ranks(report.ranks)} if report.ranks else {})


def plain(value: Any, field: str = "") -> Any:
    """Structs as dicts, times as text, text safe to print; names of sources are unchanged. `field`: in which it stands."""
    if isinstance(value, str):
        return value if field in SOURCE_NAMES else printable(value)
    if value is None or isinstance(value, int | float):  # most values; tested here, because a test for Mapping is slow
        return value
    if isinstance(value, tuple):
        return [plain(v, field) for v in value]
    if isinstance(value, Struct):
        if isinstance(value, Line | QuotedLine):
            value = replace(value, text=printable(value.text, MAX_CONTEXT_LINE_CHARS))
        fields = zip(value.__struct_fields__, value.__struct_encode_fields__, astuple(value), strict=True)
        return {name: plain(own, field) for field, name, own in fields}
    if isinstance(value, datetime):
        return time_text(value)
    return {k: plain(v) for k, v in value.items()} if isinstance(value, Mapping) else value


def _ranks(seen: RankPicture) -> dict[str, Any]:
    """The picture without the stacks of calls: the program's own line stands beside each. `forensics ranks -f json` has all."""
    rows = tuple(replace(row, call=replace(row.call, frames=())) if row.call else row for row in seen.rows)
    lean = changed(replace(seen, rows=rows, edges=seen.edges[:MAX_EDGES]), printable)
    made: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(lean))
    return made


def read_report(document: object, name: str) -> Report:
    """The Report in `document`, which was read from `name`; raises UsageError if it is no such document."""
    try:
        if not isinstance(document, dict) or document.get("schema") != REPORT_SCHEMA:
            raise ValueError(f"no document of schema {REPORT_SCHEMA}")
        json.dumps(document, allow_nan=False)  # raises where a number is none that JSON has
        report = msgspec.convert(document, Report, str_keys=True)
        if not report.causes:
            raise ValueError("it names no cause")
        return report
    except ValueError as error:
        raise UsageError(
            f"this is not a report: {error}", name, "give a file that `forensics analyze --format json` wrote"
        ) from error
