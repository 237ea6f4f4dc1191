"""The timeline as a picture for a paper or a slide: one row a source, marks by role, curves below on the same page."""

from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Any

from forensics.core.pictures import check_picture_suffix, draw_picture
from forensics.core.text import printable
from forensics.model import Report, TimelineEntry
from forensics.report.curves import relevant_curves
from forensics.report.paths import Paths
from forensics.report.phrases import percent_text
from forensics.report.redaction import without_secrets

ROLES = {  # colours that differ in lightness, too, and shapes that differ in print
    "root": ("s", "#b3261e", "cause"),
    "contributing": ("^", "#5b3fa0", "other cause"),
    "symptom": ("o", "#b87900", "consequence"),
    "noise": ("|", "#767c87", "other"),
}
MAX_PLOT_SOURCES = 16  # more rows of a picture cannot be read at the size of a page
PLOT_DPI = 200  # sharp on a screen of twice the usual density


def plot(report: Report, path: Path) -> None:
    """Draw `report` to `path`; raises UsageError if it is of no kind of PICTURE_SUFFIXES or cannot be written."""
    check_picture_suffix(path)
    draw_picture(
        path, PLOT_DPI, partial(_figure, without_secrets(report)), {"axes.spines.top": False, "axes.spines.right": False}
    )


def _figure(report: Report, plt: Any) -> Any:
    curves = relevant_curves(report)[:2]
    moments = _moments(report)
    names = list(dict.fromkeys(m.source for m in moments))[:MAX_PLOT_SOURCES]
    height = 0.7 + 0.32 * max(1, len(names))
    figure, axes = plt.subplots(
        1 + len(curves), 1, figsize=(7, height + 1.3 * len(curves)), height_ratios=[height, *[1.3] * len(curves)], squeeze=False
    )
    _timeline(axes[0][0], report, moments, names)
    for axis, curve in zip(axes[1:, 0], curves, strict=True):
        values = [float("nan") if v is None else v / (2**30 if curve.unit == "B" else 1) for _, v in curve.points]
        axis.plot([line for line, _ in curve.points], values, color="#0b57a8", linewidth=1.2)
        axis.set_ylabel(printable(curve.name, 30) + (" (GiB)" if curve.unit == "B" else ""))
        axis.set_xlabel(f"line of {printable(Paths.of(report).short(curve.source), 60)}")
    figure.tight_layout()
    return figure


def _moments(report: Report) -> list[TimelineEntry]:
    """The moments of the first incident that share its clock."""
    first = report.timeline[: report.incidents[0].events] if report.incidents else ()
    timed: dict[str, list[TimelineEntry]] = defaultdict(list)
    for moment in first:
        if moment.time:
            timed[moment.lane].append(moment)
    return max(timed.values(), key=len, default=[])


def _timeline(axis: Any, report: Report, moments: list[TimelineEntry], names: list[str]) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    cause = report.causes[0]
    axis.set_title(f"{printable(cause.title, 90)} ({percent_text(cause.probability)})", loc="left", fontsize=9)
    if not names:
        axis.text(0.5, 0.5, "no line of these logs tells a time", ha="center", transform=axis.transAxes)
        axis.set_axis_off()
        return
    rows = {name: -i for i, name in enumerate(names)}
    for role in reversed(ROLES):
        shape, colour, label = ROLES[role]
        those = [m for m in moments if m.role == role and m.source in rows]
        if those:
            axis.scatter(
                [m.time for m in those], [rows[m.source] for m in those], marker=shape, color=colour, label=label, s=36, zorder=3
            )
    axis.set_yticks(list(rows.values()), [printable(Paths.of(report).short(n), 40) for n in names])
    axis.set_ylim(-len(names) + 0.4, 0.6)
    axis.grid(axis="y", color="#dddddd", zorder=0)
    zone = next(m.time.tzinfo for m in moments if m.time)
    locator: Any = AutoDateLocator(  # type: ignore[no-untyped-call]
        tz=zone, minticks=3, maxticks=8
    )
    axis.xaxis.set_major_locator(locator)
    axis.xaxis.set_major_formatter(ConciseDateFormatter(locator, tz=zone))  # type: ignore[no-untyped-call]
    axis.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
