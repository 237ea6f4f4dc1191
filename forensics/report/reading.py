"""Read a document of schema `forensics-report/1` back into a Report, so that a saved report can be shown again.

{"schema": "forensics-report/1", "case": "run7", "verdict": "crash", "causes": [...], ...} -> Report(case="run7", ...)

The types of the model say which values are valid. Fields that later versions add are ignored; fields that earlier versions did
not write get their defaults.
"""

import json

import msgspec

from forensics.core.errors import UsageError
from forensics.model import Report
from forensics.report.document import REPORT_SCHEMA


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
