"""One HTML page on a store: trend by cause, nodes by cause, the most frequent failures, lemons, GPU hours lost.

The page is self-contained: no script and no external address. The template escapes every text.
"""

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from forensics.core.text import printable
from forensics.history.lemons import Lemons
from forensics.history.trend import TrendRow, most_frequent, node_cause_counts, trend

if TYPE_CHECKING:
    from jinja2 import Template

    from forensics.history.store import Store

MAX_MONTHS = 18  # chosen by hand: more bars cannot be distinguished on a phone
MAX_MONTH_LABELS = 6  # months that are named below the bars: more do not fit on a phone
BAR_WIDTH, BAR_HEIGHT = 640, 160  # units of the drawing, which scales to the page: four to one, as wide as the text
SERIES_COLOURS = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#97bbf5", "#9c6b4e", "#9498a0")


class Bar(Struct, frozen=True):
    """A rectangle of the chart, and its tooltip."""

    x: float
    y: float
    width: float
    height: float
    colour: str
    text: str


def page(
    store: "Store", title: str, units: Lemons | None = None, correlated: Sequence[tuple[str, str]] = (), failures: str = ""
) -> str:
    """The whole page. `correlated`: (title, text) of each group of correlated failures. `failures`: a sentence on cases that
    could not be analysed."""
    causes, nodes, users = (trend(store, by, max_rows) for by, max_rows in (("cause", 100), ("node", 50), ("user", 50)))
    names, columns, cells = node_cause_counts(store)
    return _template().render(
        title=title,
        total=sum(c.total for c in causes),
        hours=_sum(causes),
        causes=causes,
        nodes=nodes,
        users=users,
        months=_months(causes),
        bars=bars(causes),
        bar_width=BAR_WIDTH,
        bar_height=BAR_HEIGHT,
        label_every=-(-len(_months(causes)) // MAX_MONTH_LABELS) or 1,
        colours=dict(zip((c.name for c in causes), SERIES_COLOURS, strict=False)),
        heat_nodes=names,
        heat_causes=columns,
        cells=cells,
        darkest=max(cells.values(), default=1),
        top=most_frequent(store),
        units=units,
        correlated=correlated,
        failures=failures,
    )


def bars(causes: list[TrendRow]) -> list[Bar]:
    """Stacked bars, one per month, with a colour for each of the most frequent causes."""
    months = _months(causes)
    counts = [dict(c.months) for c in causes]
    highest = max((sum(c.get(m, 0) for c in counts) for m in months), default=1)
    width = BAR_WIDTH / max(len(months), 1)
    made: list[Bar] = []
    for i, month in enumerate(months):
        y = float(BAR_HEIGHT)
        for n, cause in enumerate(causes):
            count = counts[n].get(month, 0)
            height = BAR_HEIGHT * count / highest
            y -= height
            if count:
                tooltip = f"{month // 100}-{month % 100:02d} {cause.name}: {count}"
                made.append(Bar(i * width, y, width * 0.9, height, SERIES_COLOURS[min(n, len(SERIES_COLOURS) - 1)], tooltip))
    return made


def _months(causes: list[TrendRow]) -> list[int]:
    return sorted({m for c in causes for m, _ in c.months})[-MAX_MONTHS:]


def _sum(causes: list[TrendRow]) -> float | None:
    known = [c.gpu_hours for c in causes if c.gpu_hours is not None]
    return sum(known) if known else None


@functools.cache
def _template() -> "Template":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    def safe(value: Any) -> Any:
        # Markup is the output of a macro, which is escaped already.
        return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    made = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined, finalize=safe)
    return made.get_template("page.html.j2")
