"""The report as a piece of a page that is somebody else's: what a notebook shows for it.

Without a script and without an address that loads anything; colours are those of the page around it, dark or light.
"""

from forensics.model import Report
from forensics.report import overview
from forensics.report.consequences import consequences
from forensics.report.notices import groups
from forensics.report.page.templates import template
from forensics.report.paths import Paths
from forensics.report.phrases import (
    WHO,
    evidence_head,
    guessed,
    headline,
    percent,
    quoted,
    remedies,
    verdict,
    what_happened,
)
from forensics.report.redaction import without_secrets
from forensics.report.subject import ending

MAX_FRAGMENT_PROOFS = 6
REMEDIES = 3


def fragment(report: Report) -> str:
    """One `<div>`, secrets taken out."""
    report = without_secrets(report)
    advised = remedies(report)
    return template("fragment.html.j2").render(
        report=report,
        first=report.causes[0],
        headline=headline(report),
        odds="" if guessed(report) else percent(report.causes[0].probability),
        ending=str(ending(report) or ""),
        verdict=verdict(report),
        where=overview.where(report),
        happened=what_happened(report),
        evidence_head=evidence_head(report),
        proofs=quoted(report.causes[0], MAX_FRAGMENT_PROOFS),
        advised=advised[:REMEDIES],
        more_advice=len(advised) - REMEDIES,
        followed=consequences(report),
        notices=groups(report),
        paths=Paths.of(report),
        who=WHO,
    )
