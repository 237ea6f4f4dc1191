"""Print rows as a table on a terminal or in a pipe, as JSON, or as CSV."""

import csv
import io
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from forensics.report.escape import json_text

MAX_CELL_CHARS = 60  # chosen by hand: two such columns fit on a wide terminal
TABLE_TIME_COLUMNS = ("time", "added")


def table_text(rows: Sequence[dict[str, Any]], columns: Sequence[str], form: str) -> str:
    """The rows in the format `form`, with a final line end. JSON has every field, the others have `columns`."""
    if form == "json":
        return json_text(rows, 2)
    if form == "csv":
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([_plain(c, row.get(c)) for c in columns] for row in rows)
        return file.getvalue()
    return _text(rows, columns)


def cell_text(name: str, value: Any) -> str:
    """One value for people: times as day and hour, numbers with few digits."""
    if value is None or value == "":
        return ""
    if name in TABLE_TIME_COLUMNS and isinstance(value, int):
        return datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%d %H:%M")
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    from forensics.core.text import MAX_ROW_CHARS, printable

    return printable(str(value), MAX_ROW_CHARS)


def _plain(name: str, value: Any) -> str:
    text = cell_text(name, value) if name in TABLE_TIME_COLUMNS else "" if value is None else str(value)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") and isinstance(value, str) else text


def _text(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> str:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if not rows:
        return "nothing\n"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        number = all(isinstance(r.get(name), int | float | None) for r in rows) and name not in TABLE_TIME_COLUMNS
        table.add_column(
            name.replace("_", " "),
            justify="right" if number else "left",
            max_width=MAX_CELL_CHARS,
            no_wrap=name in TABLE_TIME_COLUMNS,
        )
    for row in rows:
        table.add_row(*(Text(cell_text(c, row.get(c))) for c in columns))
    console = Console(file=io.StringIO(), width=None if _terminal() else 160)
    with console.capture() as captured:
        console.print(table)
    return "\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n"


def _terminal() -> bool:
    import sys

    return sys.stdout.isatty()
