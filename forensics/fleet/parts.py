"""Reports to rows in a folder of Parquet parts, each written whole or not at all; a run that was interrupted goes on from them.

reports.parquet/part-00000.parquet ...    the columns of a history, and: report (JSON), failure, seconds
"""

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from forensics.core.errors import UsageError
from forensics.fleet.worker import Analysed
from forensics.history.exchange import arrow, report_in, schema, table
from forensics.history.incident import Incident, incident_of

MORE = (("report", "string"), ("failure", "string"), ("seconds", "float64"))
MAX_PART_ROWS = 500  # chosen by hand: what is lost when a run is broken off, a minute of one worker's time
MAX_PART_S = 30.0  # a part is written then at the latest: what a client that is killed loses


class Parts:
    """The folder. `done`: the cases that are in it already."""

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
            raise UsageError("there are reports in it already", str(folder), "go on with --resume, or name another folder")
        self.count = int(written[-1].stem.split("-")[1]) + 1 if written else 0
        self.done = {name for part in written for name in arrow("parquet").read_table(part, columns=["case"])["case"].to_pylist()}

    def add(self, found: Analysed) -> Incident:
        """Take in a report; writes a part where there are enough, or the last one was written long ago."""
        incident = incident_of(report_in(found.report, found.case), int(time.time()), None)
        self.rows.append((incident, found))
        if len(self.rows) >= MAX_PART_ROWS or time.monotonic() > self.next_time:
            self.flush()
        return incident

    def flush(self) -> None:
        """Write what is held."""
        if not self.rows:
            return
        pa = arrow("")
        made = table([i for i, _ in self.rows])
        columns = (
            [f.report.decode() for _, f in self.rows],
            [f.failure for _, f in self.rows],
            [f.seconds for _, f in self.rows],
        )
        for (name, kind), values in zip(MORE, columns, strict=True):
            made = made.append_column(pa.field(name, getattr(pa, kind)()), pa.array(values, getattr(pa, kind)()))
        half = self.folder / f".part-{self.count:05d}"
        arrow("parquet").write_table(made.cast(schema(MORE)), half, compression="zstd")
        half.rename(self.folder / f"part-{self.count:05d}.parquet")
        self.count += 1
        self.rows = []
        self.next_time = time.monotonic() + MAX_PART_S

    def every(self) -> Iterator[tuple[Incident, str]]:
        """All rows that are written, and why a case failed."""
        names = [*Incident.__struct_fields__, "failure"]
        for part in sorted(self.folder.glob("part-*.parquet")):
            for batch in arrow("parquet").ParquetFile(part).iter_batches(columns=names):
                yield from _rows(batch.to_pylist())


def _rows(rows: Iterable[dict[str, Any]]) -> Iterator[tuple[Incident, str]]:
    for row in rows:
        why = row.pop("failure")
        yield Incident(**row), why
