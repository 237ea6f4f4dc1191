"""The report as a part of another page, as a notebook shows it.

Without a script and without an address that loads anything; colours are those of the page around it, dark or light.
"""

from forensics.model import Report
from forensics.report import overview
from forensics.report.consequences import consequences
from forensics.report.notices import notice_groups
from forensics.report.page.templates import template
from forensics.report.paths import Paths
from forensics.report.phrases import (
    WHO,
    evidence_head,
    headline,
    odds_text,
    quoted_evidence,
    remedies,
    verdict,
    what_happened,
)
from forensics.report.redaction import without_secrets
from forensics.report.subject_line import ending_sentence

MAX_FRAGMENT_PROOFS = 6  # chosen by hand: it is a part of another page or of a notebook; the full report is linked
MAX_FRAGMENT_REMEDIES = 3  # as many as the text report shows in full


def fragment(report: Report) -> str:
    """One `<div>`, without secrets."""
    report = without_secrets(report)
    advised = remedies(report)
    return template("fragment.html.j2").render(
        report=report,
        first=report.causes[0],
        headline=headline(report),
        odds=odds_text(report),
        ending=str(ending_sentence(report) or ""),
        verdict=verdict(report),
        where=overview.location(report),
        happened=what_happened(report),
        evidence_head=evidence_head(report),
        proofs=quoted_evidence(report.causes[0], MAX_FRAGMENT_PROOFS),
        advised=advised[:MAX_FRAGMENT_REMEDIES],
        more_advice=len(advised) - MAX_FRAGMENT_REMEDIES,
        followed=consequences(report),
        notices=notice_groups(report),
        paths=Paths.of(report),
        who=WHO,
    )
