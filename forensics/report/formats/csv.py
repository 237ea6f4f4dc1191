"""The incidents as a table for a spreadsheet: one row each, with the best line of evidence.

case,incident,verdict,time,subject,where,cause,title,probability,source,line,text,do_first
run7,1,crash,2026-11-21T08:46:17+00:00,job 4711,rank 37 on node04,host_memory.oom_cgroup,A memory limit was hit,0.97,...
"""

import csv
import io
from collections.abc import Iterable

from forensics.core.text import printable, spreadsheet_safe
from forensics.model import Report
from forensics.report.document import time_text
from forensics.report.style import Style
from forensics.report.subjects import IncidentEntry, incident_entries

CSV_COLUMNS = ("case", "incident", "verdict", "time", "subject", "where", "cause", "title", "probability", "source", "line",
               "text", "do_first")  # fmt: skip


def render(report: Report, style: Style) -> str:
    """The table with its head; a text that a spreadsheet would take for a formula begins with a quote."""
    return render_many([report], style)


def render_many(reports: Iterable[Report], _style: Style) -> str:
    """One table of the incidents of several reports."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(CSV_COLUMNS)
    for report in reports:
        for entry in incident_entries(report):
            table.writerow([spreadsheet_safe(printable(v) if isinstance(v, str) else v) for v in _row(report, entry)])
    return out.getvalue()


def _row(report: Report, entry: IncidentEntry) -> list[object]:
    finding, proof = entry.finding, entry.proof
    return [
        report.case,
        entry.id,
        entry.verdict,
        time_text(entry.time) or "",
        entry.subject,
        finding.where,
        finding.id,
        finding.title,
        round(finding.probability, 4),
        *((proof.source, proof.line, proof.text) if proof else ("", "", "")),
        entry.do_first,
    ]
