"""A Report to the document of schema `forensics-report/1`: plain dicts, RFC 3339 times, text safe to print."""

from dataclasses import fields
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
        "incidents": [_plain(i) for i in report.incidents],
        "timeline": [_plain(m) for m in report.timeline],
        "sources": [_plain(s) for s in report.sources],
        "missing": [_plain(m) for m in report.missing],
        "warnings": [_plain(w) | {"message": shown(w.message)} for w in report.warnings],
    }


def _plain(value: Any) -> dict[str, Any]:
    """A flat dataclass as a dict under its own names, times written out."""
    told = {f.name: getattr(value, f.name) for f in fields(value)}
    return {k: when(v) if isinstance(v, datetime) else list(v) if isinstance(v, tuple) else v for k, v in told.items()}


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
