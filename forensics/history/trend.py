"""Incidents by month and cause, node or user, with their GPU hours."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from sqlalchemy import func, select

from forensics.core.errors import UsageError
from forensics.history.store_tables import C

if TYPE_CHECKING:
    from forensics.history.store import Store

BY = ("cause", "node", "user")


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


def node_cause_counts(
    store: "Store", nodes: int = 30, causes: int = 12
) -> tuple[list[str], list[str], dict[tuple[str, str], int]]:
    """(the `nodes` nodes with the most crashes, the `causes` causes with the most, number of crashes by (node, cause))."""
    query = select(C.cause, C.node, func.count()).where(C.verdict == "crash", C.node != "").group_by(C.cause, C.node)
    with store.engine.connect() as connection:
        cells = {(node, cause): count for cause, node, count in connection.execute(query)}
    return _largest(cells, 0, nodes), _largest(cells, 1, causes), cells


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
