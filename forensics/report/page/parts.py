"""What a page shows beside its texts: curves, processes as bars, the lines around the deciding one, incidents as rows.

Curve(points=((1, 2.0), (2, None), (3, 4.0))) -> two pieces, as nothing joins them over the reading that was lost

The templates of the pages. Every text is escaped, and made safe to print by the filter `shown`.
"""

import base64
import functools
import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from forensics.core.text import MAX_QUOTED_CHARS, escaped, printable
from forensics.model import Curve, IncidentSummary, ProcessMemory, Proof, QuotedLine, Report
from forensics.report import course, overview, phrases
from forensics.report.curves import first_to_last, is_wide, relevant_curves, scaled_values, value_text
from forensics.report.overview import other_incidents
from forensics.report.paths import Paths
from forensics.report.redaction import without_secrets
from forensics.report.subjects import ending_sentence

if TYPE_CHECKING:
    from jinja2 import Environment, Template


# Units of the drawing, which scales to the page: five to one, so that several fit on a screen.
CHART_WIDTH, CHART_HEIGHT = 600, 120
CHART_MARGIN = 3  # so that a line along the edge is drawn whole
MAX_CHARTS = 12  # as many as the report has curves (context/curves.py)
MAX_CHART_PROCESSES = 12  # chosen by hand: the largest ones; the bars of the rest would be invisible


class Chart(Struct, frozen=True):
    """One curve, drawn in CHART_WIDTH x CHART_HEIGHT. `pieces`: polylines. `lost`: (x, width) of runs of readings that
    were NaN or infinite. `moment`: x of the line that decided, empty if that is in another source or above the first reading."""

    curve: Curve
    pieces: tuple[str, ...]
    lost: tuple[tuple[str, str], ...]
    course: str
    high: str
    low: str
    moment: str


class Bar(Struct, frozen=True):
    """One process. `share`: its memory in percent of the largest one's, 0 to 100."""

    process: ProcessMemory
    share: float
    held: str


def charts(report: Report) -> list[Chart]:
    """The curves that are relevant to the cause and informative, at most MAX_CHARTS."""
    decided = next(iter(report.causes[0].evidence), None) if report.verdict == "crash" else None
    return [_chart(c, decided) for c in relevant_curves(report)[:MAX_CHARTS] if any(v is not None for _, v in c.points)]


def bars(report: Report) -> list[Bar]:
    """The processes of the report, at most MAX_CHART_PROCESSES, the largest first."""
    rows = report.processes[:MAX_CHART_PROCESSES]
    most = max((p.rss_bytes for p in rows), default=0) or 1
    return [Bar(p, round(100 * p.rss_bytes / most, 1), value_text(float(p.rss_bytes), "B")) for p in rows]


def _chart(curve: Curve, decided: Proof | None) -> Chart:
    known = [v for _, v in curve.points if v is not None]
    values = scaled_values(curve)
    heights = [v for v in values if v is not None]
    least, most = min(heights), max(heights)
    first, last = curve.points[0][0], curve.points[-1][0]

    moment = decided.line if decided and decided.source == curve.source and decided.line >= first else None

    def x(line: int) -> float:
        return CHART_WIDTH * (min(line, last) - first) / max(1, last - first)

    pieces: list[str] = []
    lost: list[tuple[str, str]] = []
    places = [x(line) for line, _ in curve.points]
    for is_lost, same in groupby(range(len(places)), key=lambda i: values[i] is None):
        run = list(same)
        if is_lost:
            start = places[run[0]]
            end = places[run[-1] + 1] if run[-1] + 1 < len(places) else CHART_WIDTH
            lost.append((f"{start:.1f}", f"{max(1.0, end - start):.1f}"))
        else:
            pieces.append(" ".join(f"{places[i]:.1f},{_height(values[i], least, most):.1f}" for i in run))
    course = first_to_last(curve) + (" (logarithmic)" if is_wide(curve) else "")
    high, low = value_text(max(known), curve.unit), value_text(min(known), curve.unit)
    return Chart(curve, tuple(pieces), tuple(lost), course, high, low, f"{x(moment):.1f}" if moment is not None else "")


def _height(value: float | None, least: float, most: float) -> float:
    """The y of a value: the largest is at the top, with a margin of half a line's width."""
    share = ((value or 0.0) - least) / (most - least) if most > least else 0.5
    return CHART_HEIGHT - CHART_MARGIN - (CHART_HEIGHT - 2 * CHART_MARGIN) * share


MIN_FOLDED_LINES = 3  # chosen by hand: the heading of a fold takes as much room as two lines


class Part(Struct, frozen=True):
    """Lines that follow one another. `folded`: they are frames of libraries. `decided`: which of them decided, -1 if none did."""

    lines: tuple[QuotedLine, ...]
    folded: bool = False
    decided: int = -1


def parts_around(report: Report) -> list[Part]:
    """The lines around the first evidence line of the first cause; empty if they are not known."""
    first = next(iter(report.causes[0].evidence), None)
    if first is None or not any((x.line, x.text) == (first.line, first.text) for x in report.around):
        return []
    runs = [(library, tuple(same)) for library, same in groupby(report.around, key=lambda x: x.library)]
    joined: list[tuple[bool, tuple[QuotedLine, ...]]] = []
    for library, rows in runs:
        folded = library and len(rows) >= MIN_FOLDED_LINES
        if joined and not folded and not joined[-1][0]:
            joined[-1] = False, joined[-1][1] + rows
        else:
            joined.append((folded, rows))
    return [Part(rows, folded, _place(rows, first.line, first.text)) for folded, rows in joined]


def _place(rows: tuple[QuotedLine, ...], line: int, text: str) -> int:
    return next((i for i, x in enumerate(rows) if (x.line, x.text) == (line, text)), -1)


class Row(Struct, frozen=True):
    """One incident. `first`: the best line of its first cause, if known. `odds`: the probability as text, empty if unknown."""

    id: int
    time: datetime | None
    subject: str
    cause: str
    title: str
    odds: str
    first: Proof | None


def rows(report: Report) -> list[Row]:
    """The incidents of the report in its order, without later ones that show no bad end."""
    shown = {number for group in other_incidents(report) for number in group.ids}
    return [_row(report, i, n == 0) for n, i in enumerate(report.incidents) if n == 0 or i.id in shown]


def kinds(listed: Sequence[Row]) -> list[tuple[str, str, int]]:
    """(cause, title, number of incidents) of the incidents' causes, the most frequent first."""
    titles = {r.cause: r.title for r in listed}
    return [(cause, titles[cause], count) for cause, count in Counter(r.cause for r in listed).most_common()]


def _row(report: Report, incident: IncidentSummary, is_first: bool) -> Row:
    findings = report.causes if is_first else incident.findings
    first = findings[0] if findings else incident.candidates[0] if incident.candidates else None
    cause = first.id if first else next(iter(incident.causes), "")
    proofs = findings[0].evidence if findings else ()
    return Row(
        incident.id,
        incident.time or incident.start,
        incident.subject or ", ".join(incident.hosts),
        cause,
        first.title if first else cause,
        phrases.percent_text(first.probability) if first else "",
        proofs[0] if proofs else None,
    )


FOLDER = Path(__file__).parent
LONG_PATH_PATTERN = re.compile(r"(?<![^\s,])[^\s,]*/(?=[^/\s,]+/[^/\s,]+)")  # all but a file and its folder
CODE_PATTERN = re.compile(r"`([^`\n]+)`")  # code in a sentence; a single backtick is one of a message
BREAK_PATTERN = re.compile(r"(?<=_)(?=\w)")  # where a name may go on in the next line


def template(name: str) -> "Template":
    """The template in the file of this name."""
    return _environment().get_template(name)


def text_of(name: str) -> str:
    """A style or a script that comes with this package."""
    return (FOLDER / name).read_text(encoding="utf-8")


def policy(style: str, script: str) -> str:
    """The content security policy of a page: only its own style and script, by their hashes."""

    def digest(text: str) -> str:
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"

    return f"default-src 'none'; style-src {digest(style)}; script-src {digest(script)}; base-uri 'none'; form-action 'none'"


@functools.cache
def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: escaped(value) if isinstance(value, str) and not isinstance(value, Markup) else value,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "percent": phrases.percent_text,
        "shown": printable,
        "share": lambda value: f"{100 * value:.3f}%",
        "reference": _reference,
        "near": lambda text: LONG_PATH_PATTERN.sub("…/", text),
        "breakable": lambda text: Markup("<wbr>").join(BREAK_PATTERN.split(printable(text))),
        "quoted": lambda text, most=MAX_QUOTED_CHARS: Markup("").join(
            Markup("<code>{}</code>").format(part) if i % 2 else part
            for i, part in enumerate(CODE_PATTERN.split(printable(text, most)))
        ),
        "own": Markup,  # for the style and script of this package, and for data that was made safe before
    }
    return environment


def _reference(url: Any) -> str:
    """A URL that a click may open; empty for any other scheme."""
    return url if isinstance(url, str) and re.match(r"https?://", url) else ""


BADGES = {"crash": "ended badly", "undetermined": "not determined", "no_crash": "no crash"}


def answer(report: Report) -> dict[str, Any]:
    """What a page tells first, and what it tells all of it with."""
    return {
        "report": report,
        "first": report.causes[0],
        "happened": phrases.what_happened(report),
        "seen_before": overview.seen_before(report),
        "verdict": phrases.verdict(report),
        "badge": "end not shown" if phrases.has_open_end(report) else BADGES[report.verdict],
        "headline": phrases.headline(report),
        "odds": phrases.odds_text(report),
        "named": not phrases.is_guess(report),
        "ending": str(ending_sentence(report) or ""),
        "where": overview.location(report),
        "since": course.first_shown(report),
        "do_first": overview.do_first(report),
        "advised": phrases.remedies(report),
        "confirmed": phrases.confirmed_text,
        "evidence_head": phrases.evidence_head(report),
        "notices": overview.notice_groups(report),
        "paths": Paths.of(report),
        "who": phrases.WHO,
    }


MAX_FRAGMENT_PROOFS = 6  # chosen by hand: it is a part of another page or of a notebook; the full report is linked
MAX_FRAGMENT_REMEDIES = 3  # as many as the text report shows in full


def fragment(report: Report) -> str:
    """One `<div>`, without secrets."""
    report = without_secrets(report)
    shown = answer(report)
    more = len(shown["advised"]) - MAX_FRAGMENT_REMEDIES
    shown["advised"] = shown["advised"][:MAX_FRAGMENT_REMEDIES]
    proofs = phrases.quoted_evidence(report.causes[0], MAX_FRAGMENT_PROOFS)
    return template("fragment.html.j2").render(**shown, proofs=proofs, more_advice=more, followed=course.consequences(report))
