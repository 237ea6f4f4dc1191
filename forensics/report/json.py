"""The report as one JSON document, indented."""

import json

from forensics.model import Report
from forensics.report.document import document


def render(report: Report) -> str:
    """The document of schema `forensics-report/1`."""
    return json.dumps(document(report), indent=2, ensure_ascii=False) + "\n"
