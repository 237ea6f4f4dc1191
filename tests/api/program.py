"""A program that uses the API, for mypy --strict; nothing runs it."""

from datetime import UTC, datetime
from pathlib import Path

import forensics
from forensics import Knowledge, Report, analyze


def main(folder: Path) -> dict[str, float]:
    knowledge = Knowledge([folder / "signatures"])
    report: Report = analyze(folder, knowledge=knowledge, workers=2, job="4711", since=datetime(2026, 3, 1, tzinfo=UTC))
    found: dict[str, float] = {}
    for cause in report.causes:
        found[cause.id] = cause.probability
        for line in cause.evidence:
            print(line.source, line.line, line.text, line.time, line.time_uncertainty_s, line.linked_by)
        for remediation in cause.remediations:
            print(remediation.rank, remediation.action, remediation.commands)
    (folder / "report.html").write_text(report.redacted().to_html(), encoding="utf-8")
    print(report.to_json(), report.to_markdown(max_chars=8000), report.to_text(80), report.to_dict()["case"], report.verdict)
    print(forensics.Report.from_dict(report.to_dict()), report.to_frame("series"), forensics.__version__)
    try:
        analyze(["a.log", folder / "b.log"], signatures=[folder], until="-2h", pid=4711, last=True, baseline=["good.log"])
    except forensics.ForensicsError as error:
        print(error.what, error.where, error.advice)
    return found
