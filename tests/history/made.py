"""Incidents and reports for the tests of the history."""

from datetime import UTC, datetime, timedelta

from forensics.history.fingerprint import Incident
from forensics.model import Finding, IncidentSummary, Proof, Report, SubjectSummary

START = datetime(2026, 10, 3, 8, 0, tzinfo=UTC)


def report(
    text: str = "ValueError: lr 0.5 outside the table",
    day: int = 0,
    cause: str = "code.exception",
    verdict: str = "crash",
    case: str = "run7",
    **facts: str | int,
) -> Report:
    when = START + timedelta(days=day)
    told = {"file": "/home/alice/proj/train.py", "function": "step", "line_no": 5, **facts}
    proof = Proof(
        source="train.log", line=120 + day, text=text, time=when, time_uncertainty_s=1.0, signature="traceback", weight="strong"
    )
    finding = Finding(cause, "A title", "root", 0.9, "It broke.", (proof,), told, ())
    hosts = (str(facts["host"]),) if "host" in facts else ()
    return Report(
        tool={"name": "forensics", "version": "1", "signatures": "", "model": ""},
        case=case,
        verdict=verdict,  # type: ignore[arg-type]
        causes=(finding,),
        incidents=(IncidentSummary(1, when, when, (cause,), 1, hosts, ()),),
        timeline=(),
        sources=(),
        missing=(),
        warnings=(),
        subject=SubjectSummary("job", "train.log", 1, 1, "failed", ""),
    )


def incident(number: int, **changes: object) -> Incident:
    told: dict[str, object] = {
        "key": f"key{number}", "time": int(START.timestamp()) + number, "dated": True, "added": 0, "case": f"case{number}",
        "verdict": "crash", "cause": "gpu_hardware.ecc", "title": "ECC", "probability": 0.9, "exact": "e", "similar": "s", "line": "x",
        "node": "gpu-1", "job": str(number),
    }  # fmt: skip
    return Incident(**{**told, **changes})  # type: ignore[arg-type]
