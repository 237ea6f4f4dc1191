"""A picture of series: one panel per quantity with a common axis of lines or times; observations are marked in all panels."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from forensics.core.errors import UsageError
from forensics.core.pictures import check_picture_suffix, draw_picture
from forensics.line_formats import parse_prefix
from forensics.model import Observation
from forensics.readers.numbers.base import Reading, Series
from forensics.series.curves import SHOWN_QUANTITIES

MAX_PANELS = 8  # below each other on one page
MAX_CURVES_PER_PANEL = 6  # as many colours as can be told apart
MAX_PLOT_POINTS = 2000  # the picture has no more dots in its width
AXIS_UNITS = {"bytes": (1 / (1 << 30), "GiB"), "s": (1.0, "s"), "%": (1.0, "%"), "": (1.0, "")}
SERIES_DPI = 150  # chosen by hand: 1,350 dots in the width of a page
MARK_COLOUR = "#b3261e"

Found = Sequence[tuple[str, Sequence[Series], Sequence[Observation]]]
Panels = dict[tuple[str, str], list[tuple[str, Series]]]


def plot(found: Found, path: Path) -> int:
    """Draw the series of all sources to `path` and return the number of panels. Raises UsageError if there is nothing to draw or
    the file cannot be written.

    `found`: (name of the source, its series, its observations). The axis is time if all series have full timestamps, else lines.
    """
    check_picture_suffix(path)
    panels = _panels(found)
    if not panels:
        raise UsageError("no series with three readings was found, so there is nothing to draw", str(path))
    draw_picture(path, SERIES_DPI, partial(_figure, panels, found))
    return len(panels)


def _figure(panels: Panels, found: Found, plt: Any) -> Any:
    figure, axes = plt.subplots(len(panels), 1, figsize=(9, 1.2 + 1.5 * len(panels)), sharex=True, squeeze=False)
    timed = all(_time(s.readings[0]) and _time(s.readings[-1]) for _, series in panels.items() for _, s in series)
    for axis, (quantity, series) in zip(axes[:, 0], panels.items(), strict=True):
        _draw(axis, quantity, series, timed)
        _mark(axis, found, timed)
    axes[-1, 0].set_xlabel("time" if timed else "line")
    return figure


def _panels(found: Found) -> Panels:
    """Series by quantity and unit, at most MAX_CURVES_PER_PANEL in each, those with the most readings first."""
    panels: Panels = defaultdict(list)
    for source, series, _ in found:
        for one in series:
            if one.quantity in SHOWN_QUANTITIES and len(one.readings) >= 3:
                panels[one.quantity, one.unit].append((source, one))
    order = sorted(panels, key=lambda k: (SHOWN_QUANTITIES.index(k[0]), k[1]))[:MAX_PANELS]
    return {k: sorted(panels[k], key=lambda x: -len(x[1].readings))[:MAX_CURVES_PER_PANEL] for k in order}


def _draw(axis: Any, panel: tuple[str, str], series: Sequence[tuple[str, Series]], timed: bool) -> None:
    factor, unit = AXIS_UNITS.get(panel[1], (1.0, panel[1]))
    drawn: list[float] = []
    several = len({source for source, _ in series}) > 1
    for source, one in series:
        readings = one.evenly_sampled(MAX_PLOT_POINTS).readings
        places: list[Any] = [_time(r) for r in readings] if timed else [r.line for r in readings]
        pairs = [(p, r.value * factor) for p, r in zip(places, readings, strict=True) if p is not None]
        label = f"{one.name} {one.scope}".strip() + (f"  {source[-40:]}" if several else "")
        drawn += [v for _, v in pairs if v > 0]
        axis.plot([p for p, _ in pairs], [v for _, v in pairs], lw=1, label=label)
    if drawn and max(drawn) > 1000 * min(drawn):
        axis.set_yscale("log")
        axis.yaxis.set_major_formatter(lambda value, _place: f"{value:g}")  # the default one needs math text, which is disabled
        axis.yaxis.set_minor_formatter(lambda _value, _place: "")
    axis.set_ylabel(f"{panel[0].replace('_', ' ')} {unit}".strip())
    axis.grid(alpha=0.25, lw=0.5)
    axis.legend(fontsize=6, loc="best", frameon=False)


def _mark(axis: Any, found: Found, timed: bool) -> None:
    """A vertical line with a label at the first line of each observation."""
    for _, _, events in found:
        for event in events:
            proof = min(event.proofs, key=lambda p: p.line)
            place: Any = _time(Reading(proof.line, proof.text, 0.0)) if timed else proof.line
            if place is not None:
                axis.axvline(place, color=MARK_COLOUR, lw=0.8, ls="--")
                axis.annotate(
                    event.kind.split("/")[-1],
                    (place, 1),
                    xycoords=("data", "axes fraction"),
                    fontsize=6,
                    color=MARK_COLOUR,
                    va="bottom",
                )


def _time(reading: Reading) -> datetime | None:
    stamp = parse_prefix(reading.text).stamp
    wall = stamp.wall if stamp and not stamp.lacks else None
    return None if wall is None else wall if wall.tzinfo else wall.replace(tzinfo=UTC)
