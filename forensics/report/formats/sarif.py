"""The report as SARIF 2.1.0, for code scanning and log viewers: causes are rules, incidents are results.

    crash         a result of level error at the line that decides, the other evidence as related locations
    undetermined  a result of level warning
    notices       results of level note, at most MAX_SARIF_NOTES

Lines are those of the log, and `artifactLocation.uri` is the log's name.
"""

import hashlib
import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from forensics.core.text import printable
from forensics.model import Finding, Notice, Proof, Report
from forensics.report.escape import escape_controls
from forensics.report.phrases import LEVEL_OF_VERDICT
from forensics.report.style import Style
from forensics.report.subjects import IncidentEntry, incident_entries

SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
NOTE = "notice"  # the rule for notices without a cause
MAX_SARIF_NOTES = 40  # as many as the decision keeps (decision/decide.py)


def render(report: Report, style: Style) -> str:
    """One log of one run."""
    return render_many([report], style)


def render_many(reports: Iterable[Report], _style: Style) -> str:
    """One log with a run for each report."""
    log = {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [_run(r) for r in reports]}
    return escape_controls(json.dumps(log, indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def _run(report: Report) -> dict[str, Any]:
    bad = [t for t in incident_entries(report) if t.verdict in LEVEL_OF_VERDICT]
    notes = report.notices[:MAX_SARIF_NOTES]
    rules = _rules([t.finding for t in bad], notes)
    places = {rule["id"]: i for i, rule in enumerate(rules)}
    return {
        "tool": {
            "driver": {
                "name": "forensics",
                "version": printable(report.tool.get("version", "")),
                "semanticVersion": printable(report.tool.get("version", "")),
                "rules": rules,
            }
        },
        "automationDetails": {"id": f"forensics/{printable(report.case)}"},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": _notifications(report)}],
        "columnKind": "unicodeCodePoints",
        "results": [*(_result(t, places) for t in bad), *(_note(n, places) for n in notes)],
        "properties": {"verdict": report.verdict, "case": printable(report.case)},
    }


def _rules(findings: list[Finding], notices: Iterable[Notice]) -> list[dict[str, Any]]:
    rules: dict[str, dict[str, Any]] = {}
    for finding in findings:
        rule: dict[str, Any] = {"id": finding.id, "shortDescription": {"text": finding.title}}
        if finding.remediations:
            text = "\n".join(f"{a.rank}. {printable(a.action)}" for a in finding.remediations)
            rule["help"] = {"text": text}
            reference = finding.remediations[0].reference
            if reference and reference.startswith("https://"):
                rule["helpUri"] = quote(reference, safe="/:?&=#%@+~,;!()'*-._")
        rules.setdefault(finding.id, rule)
    for notice in notices:
        rules.setdefault(notice.cause or NOTE, {"id": notice.cause or NOTE, "shortDescription": {"text": "Worth knowing"}})
    return list(rules.values())


def _result(entry: IncidentEntry, places: dict[str, int]) -> dict[str, Any]:
    finding = entry.finding
    said = [printable(finding.summary) or finding.title, f"Where: {printable(finding.where)}." if finding.where else ""]
    said += [f"Do first: {printable(entry.do_first)}." if entry.do_first else ""]
    result = {
        "ruleId": finding.id,
        "ruleIndex": places[finding.id],
        "level": LEVEL_OF_VERDICT[entry.verdict],
        "rank": round(100 * finding.probability, 1),
        "message": {"text": " ".join(filter(None, said))},
        "locations": [_location(p) for p in finding.evidence[:1]],
        "relatedLocations": [_location(p, i) for i, p in enumerate(finding.evidence[1:], 1)],
        "partialFingerprints": {"incident/v1": _fingerprint(entry)},
        "properties": {
            "incident": entry.id,
            "subject": printable(entry.subject),
            "where": printable(finding.where),
            "role": finding.role,
        },
    }
    if entry.time:
        result["properties"]["time"] = entry.time.isoformat()  # type: ignore[index]
    return {name: value for name, value in result.items() if value != []}


def _note(notice: Notice, places: dict[str, int]) -> dict[str, Any]:
    rule = notice.cause or NOTE
    return {
        "ruleId": rule,
        "ruleIndex": places[rule],
        "level": "note",
        "message": {"text": printable(notice.why) or printable(notice.text) or "worth knowing"},
        "locations": [_physical(notice.source, max(1, notice.line), notice.text)],
    }


def _location(proof: Proof, number: int | None = None) -> dict[str, Any]:
    location = _physical(proof.source, proof.line, proof.text)
    if number is not None:
        location["id"] = number
        location["message"] = {"text": printable(f"{proof.weight}: {proof.signature}")}
    return location


def _physical(source: str, line: int, text: str) -> dict[str, Any]:
    region = {"startLine": line, "snippet": {"text": printable(text)}}
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(source)}, "region": region}}


def _notifications(report: Report) -> list[dict[str, Any]]:
    said = [": ".join(filter(None, (w.source, w.message or w.kind))) for w in report.warnings]
    return [{"level": "note", "message": {"text": printable(text)}} for text in dict.fromkeys(said)]


def _uri(name: str) -> str:
    """A source's name as a URI reference: a relative path unchanged, an absolute one as `file:`."""
    path = quote(name.encode("utf-8", "replace"), safe="/!$&'()*+,;=@~-._")
    return f"file://{path}" if path.startswith("/") else path


def _fingerprint(entry: IncidentEntry) -> str:
    """The fingerprint: the same for the same cause, subject and message in another log."""
    text = entry.proof.text if entry.proof else ""
    words = "".join(c for c in text if not c.isdigit())
    return hashlib.sha256("\0".join((entry.finding.id, entry.subject, words)).encode("utf-8", "replace")).hexdigest()[:32]
