"""The report as one HTML file that needs nothing else: drawings inside, no address outside, nothing from a log can act.

Every text passes the template's escaping. A policy in the page forbids all scripts and styles but its own, by their hashes, and
any connection.
"""

import base64
import hashlib
import json
import re

from forensics.model import Report
from forensics.report.consequences import BESIDE, FOLLOWED, consequences, told_beside
from forensics.report.document import document
from forensics.report.escape import visible
from forensics.report.notices import groups
from forensics.report.page.charts import HEIGHT, WIDTH, bars, charts
from forensics.report.page.templates import FOLDER, template
from forensics.report.page.timeline import NAMES_OF_CLOCKS, drawings
from forensics.report.paths import Paths
from forensics.report.phrases import (
    UNUSUAL,
    WHO,
    also_possible,
    evidence_head,
    guessed,
    headline,
    notes,
    others_head,
    percent,
    quoted,
    remedies,
    times,
    verdict,
    what_happened,
)
from forensics.report.steps import steps
from forensics.report.style import Style
from forensics.report.subject import ending

PROOFS = 12


def render(report: Report, _style: Style) -> str:
    """The whole page."""
    style, script = ((FOLDER / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    paths = Paths.of(report)
    return template("page.html.j2").render(
        report=report,
        first=report.causes[0],
        happened=what_happened(report),
        verdict=verdict(report),
        headline=headline(report),
        odds="" if guessed(report) else percent(report.causes[0].probability),
        ending=str(ending(report) or ""),
        evidence_head=evidence_head(report),
        notices=groups(report),
        advised=remedies(report),
        proofs=quoted(report.causes[0], PROOFS),
        steps=steps(report),
        followed=[
            (FOLLOWED, "followed", consequences(report)),
            (BESIDE, "beside", told_beside(report)),
            (others_head(report), "others", also_possible(report)),
        ],
        consequences=FOLLOWED,
        notes=notes(report),
        unusual=UNUSUAL,
        times=times,
        drawings=drawings(report),
        clocks=NAMES_OF_CLOCKS,
        charts=charts(report),
        chart_width=WIDTH,
        chart_height=HEIGHT,
        bars=bars(report),
        paths=paths,
        who=WHO,
        style=style,
        script=script,
        policy=_policy(style, script),
        data=_data(report),
    )


def _policy(style: str, script: str) -> str:
    def digest(text: str) -> str:
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"

    return f"default-src 'none'; style-src {digest(style)}; script-src {digest(script)}; base-uri 'none'; form-action 'none'"


def _data(report: Report) -> str:
    """The document for machines, with nothing in it that could end the element it stands in."""
    text = visible(json.dumps(document(report), ensure_ascii=False, allow_nan=False))
    return re.sub(r"[<>&\u2028\u2029]", lambda m: f"\\u{ord(m[0]):04x}", text)
