"""Export of series to a file: one row per reading, as CSV, JSON lines or Parquet.

train.log, line 12, "rss", "bytes", 1294467072.0, step 40 -> train.log,rss,memory,bytes,,12,40.0,,1294467072.0

pandas is imported only here, when a user asks for a file.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from forensics.core.errors import UsageError
from forensics.core.text import spreadsheet_safe
from forensics.line_formats import parse_prefix
from forensics.readers.numbers.base import Series

if TYPE_CHECKING:
    from pandas import DataFrame

EXPORT_SUFFIXES = (".csv", ".jsonl", ".parquet")
SERIES_COLUMNS = ("source", "series", "quantity", "unit", "scope", "line", "step", "time", "value")


def check_kind(path: Path) -> None:
    """Raises UsageError unless the suffix of `path` is that of a supported format."""
    if path.suffix.lower() not in EXPORT_SUFFIXES:
        raise UsageError("series are written as .csv, .jsonl or .parquet", str(path))


def frame(found: Iterable[tuple[str, Sequence[Series]]]) -> "DataFrame":
    """A row for each reading of each series, with the columns SERIES_COLUMNS. `found`: (name of the source, its series).

    `step` and `time` are empty where the line has none; `time` is the timestamp of the line, if it is complete.
    """
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
