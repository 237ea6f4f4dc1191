"""The report as one HTML file without external parts: drawings are inline, and nothing from a log is interpreted.

Every text is escaped by the template. A content security policy in the page allows only its own script and style, by their
hashes, and no connection.
"""

import base64
import json
import zlib
from typing import Any

from forensics.model import Finding, Report
from forensics.report import course, overview, phrases
from forensics.report.course import FOLLOWED, UNCONFIRMED, consequences, course_steps, unconfirmed_consequences
from forensics.report.curves import relevant_curves
from forensics.report.difference import BASELINE_HEAD, baseline_rows
from forensics.report.document import document
from forensics.report.escape import escape_controls
from forensics.report.formats import brief, issue
from forensics.report.page.parts import (
    CHART_HEIGHT,
    CHART_WIDTH,
    answer,
    bars,
    charts,
    kinds,
    parts_around,
    policy,
    rows,
    template,
    text_of,
)
from forensics.report.page.rank_lanes import rank_lanes
from forensics.report.page.timeline import MARK_SHAPES, NAMES_OF_CLOCKS, Drawing, drawings
from forensics.report.style import Style

MAX_TICKET_CHARS = 12_000  # chosen by hand: two screens; `-f issue` writes a longer one
WEIGHTS = {"proof": "proves it", "strong": "strongly supports it", "hint": "a hint"}
MAX_MOMENTS = 150  # chosen by hand: of a table to look through; the report as JSON has all
MAX_HTML_PROOFS = 12  # as many as the evidence of a cause has (advice/evidence.py)


def render(report: Report, _style: Style) -> str:
    """The whole page."""
    style = text_of("page.css") + text_of("report.css")
    script = text_of("page.js") + text_of("table.js").replace('"use strict";\n', "")
    return template("page.html.j2").render(
        **answer(report),
        **_evidence(report),
        **_incidents(report),
        brief=brief.render(report, Style()).splitlines(),
        ticket=issue.render(report, Style(max_chars=MAX_TICKET_CHARS)).splitlines(),
        steps=course_steps(report),
        followed=[
            (FOLLOWED, "followed", consequences(report)),
            (UNCONFIRMED, "beside", unconfirmed_consequences(report)),
            (phrases.others_head(report), "others", phrases.also_possible(report)),
        ],
        baseline=(BASELINE_HEAD, *baseline_rows(report)),
        possible=phrases.possible_shown(report),
        excluded=phrases.excluded(report),
        notes=phrases.warning_notes(report),
        unusual=phrases.UNUSUAL,
        to_read=phrases.lines_to_read(report),
        times=phrases.repetition_text,
        charts=charts(report),
        chart_width=CHART_WIDTH,
        chart_height=CHART_HEIGHT,
        bars=bars(report),
        attempts=course,
        max_moments=MAX_MOMENTS,
        style=style,
        script=script,
        policy=policy(style, script),
        data=_data(report),
    )


def _evidence(report: Report) -> dict[str, Any]:
    """The evidence lines and the timeline. `targets`: the anchor of each line; `marked`: the number of the mark of a line."""
    proofs, drawn = phrases.quoted_evidence(report.causes[0], MAX_HTML_PROOFS), drawings(report)
    first = next(iter(report.causes[0].evidence), None)
    return {
        "proofs": proofs,
        "best": next((i for i, p in enumerate(proofs) if p == first), 0),
        "around": parts_around(report),
        "decided": report.verdict == "crash",
        "weights": WEIGHTS,
        "targets": {(p.source, p.line): f"e{i}" for i, p in enumerate(proofs)},
        "numbers_decide": bool(relevant_curves(report)),
        "marked": _marked(drawn, report.causes[0]),
        "drawings": drawn,
        "shapes": MARK_SHAPES,
        "drawn_roles": {m.role for d in drawn for m in d.marks},
        "ranks": rank_lanes(report.ranks) if report.ranks else "",
        "clocks": NAMES_OF_CLOCKS,
    }


def _incidents(report: Report) -> dict[str, Any]:
    listed = rows(report)
    folded = [overview.group_text(g) for g in overview.other_incidents(report) if len(g.ids) > 1]
    return {
        "incidents": listed,
        "shown_time": lambda time: course.clock_text(time, "", report),
        "kinds": kinds(listed),
        "folded": folded,
        "quiet": overview.quiet_incidents(report),
    }


def _marked(drawn: list[Drawing], finding: Finding) -> dict[tuple[str, int], int]:
    """The number of the mark for each line of a cause: its own one, or the first one of the cause in the same source."""
    marks = [m for d in drawn for m in d.marks if m.role != "noise"]
    found: dict[tuple[str, int], int] = {}
    for proof in finding.evidence:
        near = [m for m in marks if m.moment.source == proof.source and m.moment.cause == finding.id]
        own = [m for m in marks if (m.moment.source, m.moment.line) == (proof.source, proof.line)]
        if own or near:
            found[proof.source, proof.line] = (own or near)[0].number
    return found


def _data(report: Report) -> str:
    """The JSON document, compressed: it would be half of the page. No character of it means anything in HTML."""
    text = escape_controls(json.dumps(document(report), ensure_ascii=False, allow_nan=False))
    return base64.b64encode(zlib.compress(text.encode("utf-8", "replace"))).decode()
