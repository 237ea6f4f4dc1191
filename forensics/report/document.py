"""A Report to the document of schema `forensics-report/1`: plain dicts, RFC 3339 times, text safe to print."""

from datetime import datetime
from typing import Any

from forensics.model import Finding, Report
from forensics.text import shown

SCHEMA = "forensics-report/1"


def when(time: datetime | None) -> str | None:
    """RFC 3339 with offset, milliseconds where there are any; None for an unknown time."""
    if time is None:
        return None
    return time.isoformat(timespec="milliseconds" if time.microsecond else "seconds")


def document(report: Report) -> dict[str, Any]:
    """The contract's document, keys in its order."""
    return {
        "schema": SCHEMA,
        "tool": dict(report.tool),
        "case": report.case,
        "verdict": report.verdict,
        "causes": [_cause(f) for f in report.causes],
        "incidents": [
            {
                "id": i.id,
                "start": when(i.start),
                "end": when(i.end),
                "causes": list(i.causes),
                "events": i.events,
                "hosts": list(i.hosts),
                "links": list(i.links),
            }
            for i in report.incidents
        ],
        "timeline": [
            {
                "time": when(m.time),
                "lane": m.lane,
                "source": m.source,
                "line": m.line,
                "event": m.event,
                "cause": m.cause,
                "role": m.role,
            }
            for m in report.timeline
        ],
        "sources": [
            {
                "name": s.name,
                "format": s.format,
                "compression": s.compression,
                "bytes": s.bytes,
                "lines": s.lines,
                "records": s.records,
                "first_time": when(s.first_time),
                "last_time": when(s.last_time),
                "clock": s.clock,
                "warnings": list(s.warnings),
            }
            for s in report.sources
        ],
        "missing": [{"what": m.what, "why": m.why, "command": m.command} for m in report.missing],
        "warnings": [{"source": w.source, "line": w.line, "kind": w.kind, "message": shown(w.message)} for w in report.warnings],
    }


def _cause(finding: Finding) -> dict[str, Any]:
    return {
        "id": finding.id,
        "title": finding.title,
        "role": finding.role,
        "probability": finding.probability,
        "summary": finding.summary,
        "evidence": [
            {
                "source": p.source,
                "line": p.line,
                "text": shown(p.text),
                "time": when(p.time),
                "time_uncertainty_s": p.uncertainty_s,
                "signature": p.signature,
                "weight": p.weight,
            }
            for p in finding.proofs
        ],
        "facts": {k: shown(v) if isinstance(v, str) else v for k, v in finding.facts.items()},
        "remediations": [
            {
                "rank": a.rank,
                "who": a.who,
                "action": a.action,
                "why": a.why,
                "commands": list(a.commands),
                "reference": a.reference,
            }
            for a in finding.advice
        ],
    }
