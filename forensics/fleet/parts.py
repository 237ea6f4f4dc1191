"""Store reports as rows in a folder of Parquet parts. A part is written completely or not at all, so a run can be resumed.

reports.parquet/part-00000.parquet ...    the columns of a history, and: report (JSON), failure, seconds
"""

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from forensics.core.errors import UsageError
from forensics.fleet.worker import Analysed
from forensics.history.exchange import arrow, report_in, schema, table
from forensics.history.fingerprint import Incident, incident_of

EXTRA_COLUMNS = (("report", "string"), ("failure", "string"), ("seconds", "float64"))
MAX_PART_ROWS = 500  # chosen by hand: what is lost if a run is interrupted, about a minute of one worker
MAX_PART_S = 30.0  # a part is written at least so often: a client that is killed loses no more


class Parts:
    """The folder of parts. `done`: the cases that it holds already."""

    def __init__(self, folder: Path, resume: bool) -> None:
        self.folder = folder
        self.rows: list[tuple[Incident, Analysed]] = []
        self.next_time = time.monotonic() + MAX_PART_S
        try:
            folder.mkdir(parents=True, exist_ok=True)
            written = sorted(folder.glob("part-*.parquet"))
            for half in folder.glob(".part-*"):
                half.unlink()
        except OSError as error:
            raise UsageError(f"cannot be written ({error.strerror})", str(folder)) from error
        if written and not resume:
            raise UsageError("the folder has reports already", str(folder), "continue with --resume, or name another folder")
        self.count = int(written[-1].stem.split("-")[1]) + 1 if written else 0
        self.done = {name for part in written for name in arrow("parquet").read_table(part, columns=["case"])["case"].to_pylist()}

    def add(self, found: Analysed) -> Incident:
        """Add a report. Writes a part after MAX_PART_ROWS reports or MAX_PART_S seconds."""
        incident = incident_of(report_in(found.report, found.case), int(time.time()), None)
        self.rows.append((incident, found))
        if len(self.rows) >= MAX_PART_ROWS or time.monotonic() > self.next_time:
            self.flush()
        return incident

    def flush(self) -> None:
        """Write the reports that are in memory as a part."""
        if not self.rows:
            return
        pa = arrow("")
        made = table([i for i, _ in self.rows])
        columns = (
            [f.report.decode() for _, f in self.rows],
            [f.failure for _, f in self.rows],
            [f.seconds for _, f in self.rows],
        )
        for (name, kind), values in zip(EXTRA_COLUMNS, columns, strict=True):
            made = made.append_column(pa.field(name, getattr(pa, kind)()), pa.array(values, getattr(pa, kind)()))
        half = self.folder / f".part-{self.count:05d}"
        arrow("parquet").write_table(made.cast(schema(EXTRA_COLUMNS)), half, compression="zstd")
        half.rename(self.folder / f"part-{self.count:05d}.parquet")
        self.count += 1
        self.rows = []
        self.next_time = time.monotonic() + MAX_PART_S

    def every(self) -> Iterator[tuple[Incident, str]]:
        """All rows that are written, each with the reason for which its case failed (empty if it did not)."""
        names = [*Incident.__struct_fields__, "failure"]
        for part in sorted(self.folder.glob("part-*.parquet")):
            for batch in arrow("parquet").ParquetFile(part).iter_batches(columns=names):
                yield from _rows(batch.to_pylist())


def _rows(rows: Iterable[dict[str, Any]]) -> Iterator[tuple[Incident, str]]:
    for row in rows:
        why = row.pop("failure")
        yield Incident(**row), why
