"""The report as JUnit XML, for CI systems and test viewers: each incident that ended badly is a failed test case.

    crash         <failure message="A memory limit was hit (97 %)">
    undetermined  <error message="Probably: ... (62 %)">
    no_crash      a test case without either

The text of a failure holds the summary, the evidence lines and the first thing to do.
"""

import xml.etree.ElementTree as ET
from collections.abc import Iterable

from forensics.core.text import shown
from forensics.model import Report
from forensics.report.incidents import Told, told_incidents
from forensics.report.phrases import percent, titled
from forensics.report.style import Style
from forensics.report.subject import ending

MAX_JUNIT_PROOFS = 5


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
    every = told_incidents(report)
    cases = [t for t in every if t.verdict != "no_crash"] or every[:1]
    suite = ET.Element("testsuite", {"name": shown(report.case), "tests": str(len(cases))})
    for attribute, verdict in (("failures", "crash"), ("errors", "undetermined")):
        suite.set(attribute, str(sum(t.verdict == verdict for t in cases)))
    time = min((t.time for t in cases if t.time), default=None)
    if time:
        suite.set("timestamp", time.replace(microsecond=0, tzinfo=None).isoformat())
    suite.extend(_case(report, t) for t in cases)
    return suite


def _case(report: Report, told: Told) -> ET.Element:
    subject = told.subject or (str(ending(report) or "") if told.finding is report.causes[0] else "") or report.case
    case = ET.Element("testcase", {"classname": shown(report.case), "name": shown(f"incident {told.id}: {subject}", 300)})
    if told.verdict == "no_crash":
        return case
    failed = told.verdict == "crash"
    title = titled(told.verdict, told.finding)
    fault = ET.SubElement(case, "failure" if failed else "error")
    fault.set("message", f"{title} ({percent(told.finding.probability)})")
    fault.set("type", told.finding.id)
    fault.text = "\n".join(shown(line) for line in _lines(told))
    return case


def _lines(told: Told) -> list[str]:
    finding = told.finding
    found = [" ".join(finding.summary.split()), f"where: {finding.where}" if finding.where else ""]
    found += [f"{p.source}:{p.line}: {p.text}" for p in finding.evidence[:MAX_JUNIT_PROOFS]]
    found += [f"do first: {finding.remediations[0].action}"] if finding.remediations else []
    return [line for line in found if line]
