"""How often, when: incidents by month and cause, node or user, and what they cost."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from sqlalchemy import func, select

from forensics.core.errors import UsageError
from forensics.history.tables import INCIDENT_TABLE

if TYPE_CHECKING:
    from forensics.history.store import Store

BY = ("cause", "node", "user")
C = INCIDENT_TABLE.c


class TrendRow(Struct, frozen=True):
    """One cause, node or user. `months`: (202611, incidents), in order. `gpu_hours`: of its jobs, where they are known."""

    name: str
    total: int
    gpu_hours: float | None
    months: tuple[tuple[int, int], ...]


def trend(store: "Store", by: str = "cause", most: int = 20, first_month: int = 0) -> list[TrendRow]:
    """The most frequent first; raises UsageError for another `by`. Only what ended badly counts; where no cause is sure it is
    counted as `undetermined`."""
    if by not in BY:
        raise UsageError(f"no trend by {by!r}", "history trend", f"choose one of {', '.join(BY)}")
    name, count = C[by], func.count()
    counted = (C.verdict != "no_crash", C.month >= first_month)
    asked = select(C.month, C.verdict, name, count, func.sum(C.gpu_hours)).where(*counted)
    with store.engine.connect() as connection:
        if by != "cause":  # there may be a hundred thousand of them: first those to show, then their months
            often = select(name).where(*counted).group_by(name).order_by(count.desc(), name).limit(most)
            asked = asked.where(name.in_(connection.execute(often).scalars().all()))
        order = (C.month, C.verdict, name) if by == "cause" else (name, C.verdict, C.month)  # that of the index
        return trend_rows(connection.execute(asked.group_by(*order)).all(), by)[:most]


def trend_rows(rows: Iterable[Any], by: str) -> list[TrendRow]:
    """Rows of (month, verdict, name, count, GPU hours) by name, the most frequent first."""
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
    """Nodes and causes with the most crashes, and how many each pair of them has."""
    asked = select(C.cause, C.node, func.count()).where(C.verdict == "crash", C.node != "").group_by(C.cause, C.node)
    with store.engine.connect() as connection:
        cells = {(node, cause): count for cause, node, count in connection.execute(asked)}
    return _most(cells, 0, nodes), _most(cells, 1, causes), cells


def _most(cells: dict[tuple[str, str], int], side: int, most: int) -> list[str]:
    totals: dict[str, int] = {}
    for pair, count in cells.items():
        totals[pair[side]] = totals.get(pair[side], 0) + count
    return sorted(totals, key=lambda n: (-totals[n], n))[:most]


def most_frequent(store: "Store", most: int = 20) -> list[dict[str, Any]]:
    """The failures that came most often: fingerprint, cause, title, how often, on how many nodes, GPU hours, an example's id."""
    count = func.count().label("seen")
    asked = (
        select(C.similar, count, func.min(C.id).label("id"), func.count(C.node.distinct()).label("nodes"))
        .where(C.verdict != "no_crash")
        .group_by(C.similar)
        .order_by(count.desc(), C.similar)
        .limit(most)
    )
    with store.engine.connect() as connection:
        rows = [dict(r._mapping) for r in connection.execute(asked)]
        for row in rows:
            example = select(C.cause, C.title, C.line).where(C.id == row["id"])
            row |= dict(connection.execute(example).one()._mapping)
    return rows
