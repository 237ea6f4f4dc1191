"""Turn a Report into the document of schema `forensics-report/1`: plain dicts, RFC 3339 times, text safe to print."""

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

import msgspec
from msgspec.structs import replace

from forensics.core.errors import UsageError
from forensics.core.text import printable
from forensics.model import Difference, EarlierAttempt, Fields, Finding, IncidentSummary, Line, Proof, Report, SubjectSummary
from forensics.model.ranks import RankPicture
from forensics.report.redaction.walk import changed
from forensics.report.subjects import incident_groups

REPORT_SCHEMA = "forensics-report/1"
MAX_CONTEXT_LINE_CHARS = 500  # a quarter of the limit for an evidence line: context lines are less important


def time_text(time: datetime | None) -> str | None:
    """RFC 3339 with offset, as fine as the time is; None for an unknown time."""
    if time is None:
        return None
    fine = "microseconds" if time.microsecond % 1000 else "milliseconds"
    return time.isoformat(timespec=fine if time.microsecond else "seconds")


MAX_EDGES = 4096  # of ranks that wait for others; four for each of 1,024 ranks


def document(report: Report) -> dict[str, Any]:
    """The document of schema `forensics-report/1`, keys in the schema's order."""
    return {
        "schema": REPORT_SCHEMA,
        "tool": dict(report.tool),
        "case": printable(report.case),
        "verdict": report.verdict,
        "causes": [_cause(f) for f in report.causes],
        "incidents": [_incident(i) for i in report.incidents],
        "incident_groups": [plain(g) for g in incident_groups(report)],
        "timeline": [plain(m) for m in report.timeline],
        "sources": [plain(s) for s in report.sources],
        "missing": [plain(m) for m in report.missing],
        "possible": [plain(p) for p in report.possible],
        "subject": _subject(report.subject) if report.subject else None,
        "earlier_attempts": [_attempt(a) for a in report.earlier_attempts],
        "notices": [plain(n) for n in report.notices],
        "history": plain(report.history) | {"nodes": [plain(n) for n in report.history.nodes]} if report.history else None,
        "warnings": [plain(w) for w in report.warnings],
        "environment": [plain(s) for s in report.environment],
        "curves": [plain(c) | {"points": [list(p) for p in c.points]} for c in report.curves],
        "processes": [plain(p) for p in report.processes],
        "unusual": [plain(m) for m in report.unusual],
        "last_lines": [plain(m) for m in report.last_lines],
        "around": [{**plain(x), "text": printable(x.text, MAX_CONTEXT_LINE_CHARS)} for x in report.around],
        "baseline": document_of_difference(report.baseline) if report.baseline else None,
        "ranks": _ranks(report.ranks) if report.ranks else None,
    }


def plain(value: Any) -> dict[str, Any]:
    """A flat struct as a dict of its fields, times as text, text safe to print (names of sources are unchanged)."""
    return {n: _safe(getattr(value, n), n in ("source", "last_source", "name")) for n in value.__struct_fields__}


def _safe(value: Any, is_name: bool = False) -> Any:
    if isinstance(value, datetime):
        return time_text(value)
    if isinstance(value, tuple):
        return [_safe(v) for v in value]
    return printable(value) if isinstance(value, str) and not is_name else value


def _ranks(seen: RankPicture) -> dict[str, Any]:
    """The picture without the stacks of calls: the program's own line stands beside each. `forensics ranks -f json` has all."""
    rows = tuple(replace(row, call=replace(row.call, frames=())) if row.call else row for row in seen.rows)
    lean = changed(replace(seen, rows=rows, edges=seen.edges[:MAX_EDGES]), printable)
    made: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(lean))
    return made


def document_of_difference(found: Difference) -> dict[str, Any]:
    """How a bad run differs from a good one, in the schema's form."""
    return {
        "good": list(found.good),
        "bad": list(found.bad),
        "lines": found.lines,
        "known": found.known,
        "left_out": found.left_out,
        "changes": [plain(c) for c in found.changes],
        "messages": [plain(m) for m in found.messages],
        "warnings": [plain(w) for w in found.warnings],
    }


def _subject(subject: SubjectSummary) -> dict[str, Any]:
    return plain(subject) | {"ledger": [plain(a) for a in subject.ledger]}


def _incident(incident: IncidentSummary) -> dict[str, Any]:
    return plain(incident) | {
        "candidates": [plain(c) for c in incident.candidates],
        "findings": [_cause(f) for f in incident.findings],
    }


def _cause(finding: Finding) -> dict[str, Any]:
    return {
        "id": finding.id,
        "title": finding.title,
        "role": finding.role,
        "probability": finding.probability,
        "summary": printable(finding.summary),
        "evidence": [_proof(p) for p in finding.evidence],
        "facts": _facts(finding.facts),
        "remediations": [plain(a) for a in finding.remediations],
        "ledger": [plain(a) for a in finding.ledger],
        "where": printable(finding.where),
        "when": finding.when,
        "ranks": list(finding.ranks),
    }


def _attempt(attempt: EarlierAttempt) -> dict[str, Any]:
    return plain(attempt) | {"facts": _facts(attempt.facts), "changes": [plain(c) for c in attempt.changes]}


def _facts(facts: Fields) -> dict[str, Any]:
    return {k: printable(v) if isinstance(v, str) else v for k, v in facts.items()}


def _proof(proof: Proof) -> dict[str, Any]:
    return {
        "source": proof.source,
        "line": proof.line,
        "text": printable(proof.text),
        "time": time_text(proof.time),
        "time_uncertainty_s": proof.time_uncertainty_s,
        "stamped": proof.stamped,
        "earlier": proof.earlier,
        "signature": proof.signature,
        "weight": proof.weight,
        "linked_by": printable(proof.linked_by) if proof.linked_by else None,
        "matched": printable(proof.matched),
        "before": _lines(proof.before),
        "after": _lines(proof.after),
        "continued": proof.continued,
        "by_kernel": proof.by_kernel,
        "uptime_s": proof.uptime_s,
    }


def _lines(lines: Iterable[Line]) -> list[dict[str, Any]]:
    return [{"line": line.number, "text": printable(line.text, MAX_CONTEXT_LINE_CHARS)} for line in lines]


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
