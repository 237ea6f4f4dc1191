"""Export of series to a file: one row per reading, as CSV, JSON lines or Parquet.

train.log, line 12, "rss", "bytes", 1294467072.0, step 40 -> train.log,rss,memory,bytes,,12,40.0,,1294467072.0

pandas is imported only here, when a user asks for a file.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forensics.core.errors import UsageError
from forensics.core.pictures import check_picture_suffix, draw_picture
from forensics.core.text import spreadsheet_safe
from forensics.line_formats import parse_prefix
from forensics.model import Observation
from forensics.readers.numbers.base import Reading, Series
from forensics.series import SHOWN_QUANTITIES

if TYPE_CHECKING:
    from pandas import DataFrame


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
    timed = all(_drawn_time(s.readings[0]) and _drawn_time(s.readings[-1]) for _, series in panels.items() for _, s in series)
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
        places: list[Any] = [_drawn_time(r) for r in readings] if timed else [r.line for r in readings]
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
            place: Any = _drawn_time(Reading(proof.line, proof.text, 0.0)) if timed else proof.line
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


def _drawn_time(reading: Reading) -> datetime | None:
    stamp = parse_prefix(reading.text).stamp
    wall = stamp.wall if stamp and not stamp.lacks else None
    return None if wall is None else wall if wall.tzinfo else wall.replace(tzinfo=UTC)


EXPORT_SUFFIXES = (".csv", ".jsonl", ".parquet")
SERIES_COLUMNS = ("source", "series", "quantity", "unit", "scope", "line", "step", "time", "value")


def check_kind(path: Path) -> None:
    """Raises UsageError unless the suffix of `path` is that of a supported format."""
    if path.suffix.lower() not in EXPORT_SUFFIXES:
        raise UsageError("series are written as .csv, .jsonl or .parquet", str(path))


def frame(found: Iterable[tuple[str, Sequence[Series]]]) -> "DataFrame":
    """A row for each reading of each series, with the columns SERIES_COLUMNS. `found`: (name of the source, its series). `step`
    and `time` are empty where the line has none; `time` is the timestamp of the line, if it is complete."""
    import pandas

    rows = [
        (source, s.name, s.quantity, s.unit, s.scope, r.line, r.step, _time(r.text), r.value)
        for source, series in found
        for s in series
        for r in s.readings
    ]
    made = pandas.DataFrame(rows, columns=list(SERIES_COLUMNS))
    made["time"] = made["time"].astype("string")
    return made.astype({"line": "int64", "step": "float64", "value": "float64"})


def export(found: Iterable[tuple[str, Sequence[Series]]], path: Path) -> int:
    """Write all readings to `path` and return their number. Raises UsageError for another suffix or an unwritable path."""
    check_kind(path)
    made = frame(found)
    try:
        if path.suffix.lower() == ".csv":
            made.map(spreadsheet_safe).to_csv(path, index=False)
        elif path.suffix.lower() == ".jsonl":
            made.to_json(path, orient="records", lines=True, double_precision=15)
        else:
            made.to_parquet(path, index=False)
    except ImportError as error:
        raise UsageError("parquet needs pyarrow", str(path), "pip install pyarrow, or write .csv or .jsonl") from error
    except OSError as error:
        raise UsageError(f"the series could not be written there ({error.strerror or error})", str(path)) from error
    return len(made)


def _time(text: str) -> str | None:
    stamp = parse_prefix(text).stamp
    wall: datetime | None = stamp.wall if stamp and not stamp.lacks else None
    return wall.isoformat() if wall else None
