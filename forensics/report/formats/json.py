"""The report as one JSON document, indented."""

import json

import msgspec

from forensics.model import Report
from forensics.report.document import document
from forensics.report.escape import escape_controls
from forensics.report.style import Style


def render(report: Report, _style: Style) -> str:
    """The document of schema `forensics-report/1`."""
    # Without an indent, `json` writes in C; names of files may hold bytes that are no text, which `msgspec` takes as bytes only.
    text = escape_controls(json.dumps(document(report), ensure_ascii=False, allow_nan=False))
    return msgspec.json.format(text.encode("utf-8", "surrogatepass"), indent=2).decode("utf-8", "surrogatepass") + "\n"
