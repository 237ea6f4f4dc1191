"""Words that the text and the Markdown report share."""

from collections.abc import Sequence

from forensics.model import Finding, Report

VERDICTS = {
    "crash": "",
    "no_crash": "No crash was found in what was given.",
    "undetermined": "Nothing here proves a cause. The nearest one is shown; see what would settle it.",
}
WHO = {"user": "you", "admin": "admin"}


def percent(probability: float) -> str:
    """`97 %`; never 100 or 0, which nobody can know."""
    return f"{min(99, max(1, round(probability * 100)))} %"


def others(report: Report) -> tuple[list[Finding], list[Finding]]:
    """(symptoms, other possible or contributing causes) behind the first cause."""
    rest = report.causes[1:]
    return [f for f in rest if f.role == "symptom"], [f for f in rest if f.role != "symptom" and f.probability >= 0.03]


def place(finding: Finding) -> str:
    """`file:line` of a cause's first evidence line."""
    return f"{finding.proofs[0].source}:{finding.proofs[0].line}" if finding.proofs else ""


def links_to(report: Report) -> Sequence[str]:
    """How the events of the first incident are linked."""
    return report.incidents[0].links if report.incidents else ()
