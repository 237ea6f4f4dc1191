"""Curves as the points of a polyline, and the table of processes as shares of the largest.

Curve(points=((1, 2.0), (2, None), (3, 4.0))) -> two pieces, as nothing joins them over the reading that was lost
"""

from msgspec import Struct

from forensics.model import Curve, ProcessMemory, Proof, Report
from forensics.report.curves import first_to_last, is_wide, relevant_curves, scaled_values, value_text

# Units of the drawing, which scales to the page: five to one, so that several fit on a screen.
CHART_WIDTH, CHART_HEIGHT = 600, 120
MAX_CHARTS = 12  # as many as the report has curves (context/curves.py)
MAX_CHART_PROCESSES = 12  # chosen by hand: the largest ones; the bars of the rest would be invisible


class Chart(Struct, frozen=True):
    """One curve, drawn in CHART_WIDTH x CHART_HEIGHT. `pieces`: polylines. `lost`: x of readings that were NaN or infinite.
    `moment`: x of the line that decided, empty if that is in another source or above the first reading."""

    curve: Curve
    pieces: tuple[str, ...]
    lost: tuple[str, ...]
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

    def x(line: int) -> str:
        return f"{CHART_WIDTH * (min(line, last) - first) / max(1, last - first):.1f}"

    pieces: list[list[str]] = [[]]
    lost: list[str] = []
    for (line, _), value in zip(curve.points, values, strict=True):
        if value is None:
            lost.append(x(line))
            pieces.append([])
        else:
            share = (value - least) / (most - least) if most > least else 0.5
            pieces[-1].append(f"{x(line)},{CHART_HEIGHT - 6 - (CHART_HEIGHT - 12) * share:.1f}")
    course = first_to_last(curve) + (" (logarithmic)" if is_wide(curve) else "")
    drawn = tuple(" ".join(p) for p in pieces if p)
    high, low = value_text(max(known), curve.unit), value_text(min(known), curve.unit)
    return Chart(curve, drawn, tuple(lost), course, high, low, x(moment) if moment is not None else "")
