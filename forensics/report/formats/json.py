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
    # Of thousands of sources it has megabytes, so no form of it is held longer than it is needed.
    data = escape_controls(json.dumps(document(report), ensure_ascii=False, allow_nan=False)).encode("utf-8", "surrogatepass")
    data = msgspec.json.format(data, indent=2)
    text = data.decode("utf-8", "surrogatepass")
    del data
    text += "\n"
    return text
