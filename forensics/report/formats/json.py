"""The report as one JSON document, indented."""

import json

from forensics.model import Report
from forensics.report.document import document
from forensics.report.escape import escape_controls
from forensics.report.style import Style


def render(report: Report, _style: Style) -> str:
    """The document of schema `forensics-report/1`."""
    return escape_controls(json.dumps(document(report), indent=2, ensure_ascii=False, allow_nan=False)) + "\n"
