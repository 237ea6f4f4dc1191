"""One HTML page on a store: trend by cause, nodes by cause, the most frequent failures, lemons, GPU hours lost.

The page is self-contained: no script and no external address. The template escapes every text.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from sqlalchemy import func, select

from forensics.core.errors import UsageError
from forensics.history.lemons import Lemons
from forensics.history.store import C
from forensics.report.page.parts import template, text_of

if TYPE_CHECKING:
    from forensics.history.store import Store


BY = ("cause", "node", "user")
MAX_HEAT_NODES, MAX_HEAT_CAUSES = 30, 12  # chosen by hand: rows and columns of a table that is read at one look


class TrendRow(Struct, frozen=True):
    """One cause, node or user. `months`: (202611, incidents), in order. `gpu_hours`: of its jobs; None if unknown."""

    name: str
    total: int
    gpu_hours: float | None
    months: tuple[tuple[int, int], ...]


def trend(store: "Store", by: str = "cause", max_rows: int = 20, first_month: int = 0) -> list[TrendRow]:
    """The rows with the most incidents first. Incidents that ended well are not counted; those without a sure cause count as
    `undetermined`. Raises UsageError for a `by` that is not in BY."""
    if by not in BY:
        raise UsageError(f"no trend by {by!r}", "history trend", f"choose one of {', '.join(BY)}")
    name, count = C[by], func.count()
    counted = (C.verdict != "no_crash", C.month >= first_month)
    query = select(C.month, C.verdict, name, count, func.sum(C.gpu_hours)).where(*counted)
    with store.engine.connect() as connection:
        if by != "cause":  # there may be a hundred thousand nodes or users: select those to show, then read their months
            shown = select(name).where(*counted).group_by(name).order_by(count.desc(), name).limit(max_rows)
            query = query.where(name.in_(connection.execute(shown).scalars().all()))
        order = (C.month, C.verdict, name) if by == "cause" else (name, C.verdict, C.month)  # the order of the index
        return trend_rows(connection.execute(query.group_by(*order)).all(), by)[:max_rows]


def trend_rows(rows: Iterable[Any], by: str) -> list[TrendRow]:
    """TrendRows from rows of (month, verdict, name, count, GPU hours), those with the most incidents first."""
    months: dict[str, dict[int, int]] = {}
    hours: dict[str, float] = {}
    for month, verdict, value, count, cost in rows:
        name = "undetermined" if by == "cause" and verdict == "undetermined" else value or f"{by} unknown"
        of_name = months.setdefault(name, {})
        of_name[month] = of_name.get(month, 0) + count
        if cost is not None:
            hours[name] = hours.get(name, 0.0) + cost
    made = [TrendRow(n, sum(m.values()), hours.get(n), tuple(sorted(m.items()))) for n, m in months.items()]
    return sorted(made, key=lambda c: (-c.total, c.name))


def node_cause_counts(store: "Store") -> tuple[list[str], list[str], dict[tuple[str, str], int]]:
    """The nodes and the causes with the most crashes, and the number of crashes by (node, cause)."""
    query = select(C.cause, C.node, func.count()).where(C.verdict == "crash", C.node != "").group_by(C.cause, C.node)
    with store.engine.connect() as connection:
        cells = {(node, cause): count for cause, node, count in connection.execute(query)}
    return _largest(cells, 0, MAX_HEAT_NODES), _largest(cells, 1, MAX_HEAT_CAUSES), cells


def _largest(cells: dict[tuple[str, str], int], side: int, count: int) -> list[str]:
    totals: dict[str, int] = {}
    for pair, crashes in cells.items():
        totals[pair[side]] = totals.get(pair[side], 0) + crashes
    return sorted(totals, key=lambda n: (-totals[n], n))[:count]


def most_frequent(store: "Store", max_rows: int = 20) -> list[dict[str, Any]]:
    """The most frequent failures: fingerprint, number of incidents and of nodes, and id, cause, title and line of an example."""
    count = func.count().label("seen")
    query = (
        select(C.similar, count, func.min(C.id).label("id"), func.count(C.node.distinct()).label("nodes"))
        .where(C.verdict != "no_crash")
        .group_by(C.similar)
        .order_by(count.desc(), C.similar)
        .limit(max_rows)
    )
    with store.engine.connect() as connection:
        rows = [dict(r._mapping) for r in connection.execute(query)]
        for row in rows:
            example = select(C.cause, C.title, C.line).where(C.id == row["id"])
            row |= dict(connection.execute(example).one()._mapping)
    return rows


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
    store: "Store", title: str, units: Lemons | None = None, correlated: Sequence[tuple[str, str]] = (), failures: str = "",
    served: bool = False,
) -> str:  # fmt: skip
    """The whole page. `correlated`: (title, text) of each group of correlated failures. `failures`: a sentence on cases that
    could not be analysed. `served`: beside the index of `forensics serve`, to which it leads back."""
    causes, nodes, users = (trend(store, by, max_rows) for by, max_rows in (("cause", 100), ("node", 50), ("user", 50)))
    names, columns, cells = node_cause_counts(store)
    return template("history.html.j2").render(
        title=title,
        style=text_of("page.css"),
        served=served,
        total=sum(c.total for c in causes),
        hours=_sum(causes),
        causes=causes,
        nodes=nodes,
        users=users,
        months=_months(causes),
        bars=bars(causes),
        bar_width=BAR_WIDTH,
        bar_height=BAR_HEIGHT,
        month_width=_month_width(len(_months(causes))),
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


def _month_width(months: int) -> float:
    """The width of a month with its gap: a history of one month is a bar, not a wall."""
    return BAR_WIDTH / max(months, MAX_MONTH_LABELS)


def bars(causes: list[TrendRow]) -> list[Bar]:
    """Stacked bars, one per month, with a colour for each of the most frequent causes."""
    months = _months(causes)
    counts = [dict(c.months) for c in causes]
    highest = max((sum(c.get(m, 0) for c in counts) for m in months), default=1)
    width = _month_width(len(months))
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
