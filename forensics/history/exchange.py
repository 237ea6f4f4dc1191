"""Import and export incidents: reports as JSON lines; tables as Parquet, CSV or JSON lines.

reports.jsonl (as `forensics batch` writes)   -> Incidents
incidents.parquet (of a store or a fleet)     -> Incidents, and back; DuckDB and pandas can read it
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any

import msgspec
from msgspec.structs import replace

from forensics.core.errors import UsageError, files_at
from forensics.core.text import inert, spreadsheet_safe
from forensics.history.fingerprint import Incident, RunFacts, incident_of, masked, named, pseudonym
from forensics.history.opening import INSTALL_HISTORY
from forensics.model import Report
from forensics.report.document import read_report
from forensics.report.escape import escape_controls

ROWS_PER_GROUP = 50_000  # of a row group in a Parquet file: so many are held in memory
# A line is a report; read in pieces, so that a file without line ends does not fill memory at once.
MAX_JSON_LINE_BYTES = 512 << 20
INCIDENT_FIELDS = Incident.__struct_fields__
EXCHANGE_SUFFIXES = (".parquet", ".csv", ".jsonl")


def incidents_in(path: Path, now: int, salt: bytes | None, known: RunFacts) -> Iterator[Incident]:
    """The incidents in `path`: of reports in JSON or JSON lines, or of the rows of a Parquet file or a folder of them."""
    if path.is_dir() or path.suffix == ".parquet":
        for row in _parquet_rows(path):
            yield _without_names(row, salt) if salt else row
        return
    for report in reports_in(path):
        yield incident_of(report, now, salt, known)


def _without_names(row: Incident, salt: bytes) -> Incident:
    """A row for a history that keeps no names: names become pseudonyms, and the line becomes its template."""
    names = {n: pseudonym(n, v, salt) if named(v := getattr(row, n)) else v for n in ("case", "run", "user")}
    return replace(row, **names, line=masked(row.line) if named(row.case) else row.line)


def reports_in(path: Path) -> Iterator[Report]:
    """The reports in a file, one at a time. Raises UsageError, with its line, for the first line that is not a report."""
    with files_at(path), path.open("rb") as file:
        yield from _reports(file, str(path))


def _reports(file: IO[bytes], name: str) -> Iterator[Report]:
    for number, line in enumerate(iter(lambda: file.readline(MAX_JSON_LINE_BYTES), b""), 1):
        if not line.strip():
            continue
        if number == 1 and line.strip() == b"{":  # one indented document, not JSON lines
            line += file.read(MAX_JSON_LINE_BYTES)
        yield report_in(line, f"{name}:{number}")


def report_in(text: bytes, name: str) -> Report:
    """The report in one JSON document; raises UsageError for another document."""
    try:
        if b'"forensics-report/1"' in text[:200]:
            found = msgspec.json.decode(text, type=Report)
            if found.causes:
                return found
        return read_report(msgspec.json.decode(text), name)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            "this is not a report", name, "give the output of `forensics batch` or `analyze --format json`"
        ) from error


def _parquet_rows(path: Path) -> Iterator[Incident]:
    dataset = arrow("dataset")
    try:
        found = dataset.dataset(path, format="parquet", exclude_invalid_files=False)
        missing = set(INCIDENT_FIELDS) - set(found.schema.names)
        if missing:
            advice = "give the output of `history export` or `fleet`"
            raise UsageError(f"no column {', '.join(sorted(missing))}", str(path), advice)
        for batch in found.to_batches(columns=list(INCIDENT_FIELDS)):
            for row in batch.to_pylist():
                yield msgspec.convert(row, Incident)
    except (OSError, ValueError) as error:  # pyarrow's errors are ValueErrors
        raise UsageError("this is not a table of incidents", str(path)) from error


def export(incidents: Iterable[Incident], path: Path) -> int:
    """Write the incidents to `path` in the format of its suffix and return their number. Raises UsageError for another suffix or
    an unwritable path."""
    if path.suffix not in EXCHANGE_SUFFIXES:
        raise UsageError(
            f"unknown format {path.suffix!r}", str(path), f"name it {', '.join('history' + f for f in EXCHANGE_SUFFIXES)}"
        )
    with files_at(path, "cannot be written"):
        return {".parquet": _to_parquet, ".csv": _to_csv, ".jsonl": _to_lines}[path.suffix](incidents, path)


def _to_parquet(incidents: Iterable[Incident], path: Path) -> int:
    parquet, count, rows = arrow("parquet"), 0, iter(incidents)
    with parquet.ParquetWriter(path, schema(), compression="zstd") as writer:
        while piece := list(islice(rows, ROWS_PER_GROUP)):
            writer.write_table(table(piece))
            count += len(piece)
    return count


def _to_csv(incidents: Iterable[Incident], path: Path) -> int:
    import csv

    count = 0
    with path.open("w", encoding="utf-8", errors="replace", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(INCIDENT_FIELDS)
        for count, incident in enumerate(incidents, 1):  # noqa: B007
            writer.writerow([spreadsheet_safe(v) for v in msgspec.structs.astuple(incident)])
    return count


def _to_lines(incidents: Iterable[Incident], path: Path) -> int:
    count = 0
    with path.open("wb") as file:
        for count, incident in enumerate(incidents, 1):  # noqa: B007
            text = msgspec.json.encode(msgspec.structs.asdict(incident)).decode()
            file.write(inert(escape_controls(text)).encode() + b"\n")
    return count


def arrow(module: str) -> Any:
    """A module of pyarrow; raises UsageError if pyarrow is not installed."""
    import importlib

    try:
        return importlib.import_module(f"pyarrow.{module}" if module else "pyarrow")
    except ImportError as error:
        raise UsageError("Parquet needs pyarrow", "history", INSTALL_HISTORY) from error


def schema(more: Sequence[tuple[str, str]] = ()) -> Any:
    """The columns of a table of incidents, in their order, and the columns `more` as (name, type)."""
    pa = arrow("")
    integers, floats = ("time", "added"), ("probability", "gpu_hours")
    kinds: Mapping[str, str] = {**dict.fromkeys(integers, "int64"), **dict.fromkeys(floats, "float64"), "dated": "bool_"}
    return pa.schema(
        [(n, getattr(pa, kinds.get(n, "string"))()) for n in INCIDENT_FIELDS] + [(n, getattr(pa, k)()) for n, k in more]
    )


def table(incidents: Sequence[Incident]) -> Any:
    """A pyarrow table with one row per incident."""
    pa = arrow("")
    columns = {name: [getattr(i, name) for i in incidents] for name in INCIDENT_FIELDS}
    return pa.table(columns, schema=schema())
