"""The report as JUnit XML, for CI systems and test viewers: each incident that ended badly is a failed test case.

    crash         <failure message="A memory limit was hit (97 %)">
    undetermined  <error message="Probably: ... (62 %)">
    no_crash      a test case without either

The text of a failure has the summary, the evidence lines and the first remedy.
"""

import xml.etree.ElementTree as ET
from collections.abc import Iterable

from forensics.core.text import printable
from forensics.model import Report
from forensics.report.phrases import percent_text, titled
from forensics.report.style import Style
from forensics.report.subjects import IncidentEntry, ending_sentence, incident_entries

MAX_JUNIT_NAME_CHARS = 300  # chosen by hand: of a test, which CI systems show in a list
MAX_JUNIT_PROOFS = 5  # as in the text report: CI systems show it in a narrow pane


def render(report: Report, style: Style) -> str:
    """One document of one test suite."""
    return render_many([report], style)


def render_many(reports: Iterable[Report], _style: Style) -> str:
    """One document with a test suite for each report."""
    suites = [_suite(r) for r in reports]
    totals = {name: str(sum(int(s.get(name, "0")) for s in suites)) for name in ("tests", "failures", "errors")}
    root = ET.Element("testsuites", {"name": "forensics", **totals})
    root.extend(suites)
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(report: Report) -> ET.Element:
    every = incident_entries(report)
    cases = [t for t in every if t.verdict != "no_crash"] or every[:1]
    suite = ET.Element("testsuite", {"name": printable(report.case), "tests": str(len(cases))})
    for attribute, verdict in (("failures", "crash"), ("errors", "undetermined")):
        suite.set(attribute, str(sum(t.verdict == verdict for t in cases)))
    time = min((t.time for t in cases if t.time), default=None)
    if time:
        suite.set("timestamp", time.replace(microsecond=0, tzinfo=None).isoformat())
    suite.extend(_case(report, t) for t in cases)
    return suite


def _case(report: Report, entry: IncidentEntry) -> ET.Element:
    subject = entry.subject or (str(ending_sentence(report) or "") if entry.finding is report.causes[0] else "") or report.case
    case = ET.Element(
        "testcase",
        {"classname": printable(report.case), "name": printable(f"incident {entry.id}: {subject}", MAX_JUNIT_NAME_CHARS)},
    )
    if entry.verdict == "no_crash":
        return case
    failed = entry.verdict == "crash"
    title = titled(entry.verdict, entry.finding)
    fault = ET.SubElement(case, "failure" if failed else "error")
    fault.set("message", f"{title} ({percent_text(entry.finding.probability)})")
    fault.set("type", entry.finding.id)
    fault.text = "\n".join(printable(line) for line in _lines(entry))
    return case


def _lines(entry: IncidentEntry) -> list[str]:
    finding = entry.finding
    found = [" ".join(finding.summary.split()), f"where: {finding.where}" if finding.where else ""]
    found += [f"{p.source}:{p.line}: {p.text}" for p in finding.evidence[:MAX_JUNIT_PROOFS]]
    found += [f"do first: {entry.do_first}"] if entry.do_first else []
    return [line for line in found if line]
