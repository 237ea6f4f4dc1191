"""The tables of a report as pandas DataFrames.

report.to_frame("series")    name  kind  unit  source  rank  line  value        a row for each value of each curve
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from forensics.core.errors import UsageError
from forensics.model import Report
from forensics.report.redaction import without_secrets

if TYPE_CHECKING:
    import pandas as pd

TIME_FRAME_COLUMNS = ("time", "start", "end", "first_time", "last_time")
PLACE = ("source", "line", "time", "time_uncertainty_s", "signature", "weight", "linked_by", "text")
EVIDENCE = ("cause", "role", "probability", *PLACE)
SERIES = ("name", "kind", "unit", "source", "rank", "line", "value")
CAUSES = ("id", "title", "role", "probability", "where", "summary")
INCIDENTS = ("id", "time", "start", "end", "verdict", "subject", "cause", "title", "probability", "events", "hosts", "causes")


def report_table(report: Report, table: str) -> "pd.DataFrame":
    """The table with this name; raises UsageError for an unknown name."""
    if table not in TABLES:
        raise UsageError(f"no table {table!r}", "to_frame", f"choose one of {', '.join(TABLES)}")
    import pandas as pd

    from forensics import model

    columns, rows = TABLES[table]
    columns = columns or getattr(model, STRUCT_OF_FRAME[table]).__struct_fields__
    made = pd.DataFrame(rows(without_secrets(report)), columns=list(columns))
    for name in set(TIME_FRAME_COLUMNS) & set(made.columns):
        made[name] = pd.to_datetime(made[name], utc=True)
    return made


def _evidence(report: Report) -> Iterator[tuple[Any, ...]]:
    for f in report.causes:
        for p in f.evidence:
            yield (f.id, f.role, f.probability, *(getattr(p, name) for name in PLACE))


def _series(report: Report) -> Iterator[tuple[Any, ...]]:
    for c in report.curves:
        yield from ((c.name, c.kind, c.unit, c.source, c.rank, line, value) for line, value in c.points)


def _flat(field: str, columns: tuple[str, ...] = ()) -> Callable[[Report], Iterator[tuple[Any, ...]]]:
    """The values of one field of the report, one row for each; without `columns` all that they hold."""

    def rows(report: Report) -> Iterator[tuple[Any, ...]]:
        values: Iterable[Any] = getattr(report, field)
        return (tuple(getattr(v, name) for name in columns or v.__struct_fields__) for v in values)

    return rows


def _incidents(report: Report) -> Iterator[tuple[Any, ...]]:
    for i in report.incidents:
        first = i.candidates[0] if i.candidates else None
        cause, title, odds = (first.id, first.title, first.probability) if first else (next(iter(i.causes), None), None, None)
        yield (i.id, i.time, i.start, i.end, i.verdict, i.subject, cause, title, odds, i.events, i.hosts, i.causes)


STRUCT_OF_FRAME: Mapping[str, str] = {"timeline": "TimelineEntry", "notices": "Notice", "sources": "SourceSummary"}
# name -> (its columns, or () for the fields of the values; the function that makes its rows)
TABLES: Mapping[str, tuple[tuple[str, ...], Callable[[Report], Iterable[tuple[Any, ...]]]]] = {
    "evidence": (EVIDENCE, _evidence),
    "incidents": (INCIDENTS, _incidents),
    "series": (SERIES, _series),
    "causes": (CAUSES, _flat("causes", CAUSES)),
    "timeline": ((), _flat("timeline")),
    "notices": ((), _flat("notices")),
    "sources": ((), _flat("sources")),
}
