"""The task of a Dask worker: analyse a case in a helper process, which is killed if the case exceeds its limits.

A thread cannot be killed, and a killed worker loses its other work. So the worker analyses nothing itself: a helper process does
it, and after a kill the next case gets a new helper.

The process that analyses cases for one worker gets each case as JSON on its end of a connection, and answers with the report.

{"name": "run7", "paths": ["incidents/run7"], "base": "/data"}   ->   the report as JSON

It has one thread and loads the signature database once. It ends when the connection closes, or when its worker kills it because a
case exceeds its limits.

Store reports as rows in a folder of Parquet parts. A part is written completely or not at all, so a run can be resumed.

reports.parquet/part-00000.parquet ...    the columns of a history, and: report (JSON), failure, seconds
"""

import atexit
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import msgspec

from forensics import pipeline
from forensics.core.errors import ForensicsError, UsageError, files_at
from forensics.core.limits import MIB
from forensics.database import Database
from forensics.fleet.cases import Case, open_url
from forensics.history.exchange import arrow, report_in, schema, table
from forensics.history.fingerprint import Incident, incident_of
from forensics.model import Report, Warning
from forensics.report import render


class HelperRequest(msgspec.Struct, frozen=True):
    """A case to analyse; with `failure`, a report that only says why the case failed. `signatures`: folders of own signatures."""

    case: Case
    failure: str = ""
    signatures: tuple[str, ...] = ()


def main(connection: Connection) -> None:
    """Answer requests until the worker is gone; then another one analyses its case."""
    knowledge: Database | None = None
    with contextlib.suppress(EOFError, OSError):
        while True:
            request = msgspec.json.decode(connection.recv_bytes(), type=HelperRequest)
            knowledge = knowledge or pipeline.database(Path(f) for f in request.signatures)
            connection.send_bytes(render(_report(request, knowledge), "jsonl").encode())


def _report(request: HelperRequest, knowledge: Database) -> Report:
    case = request.case
    if request.failure:
        return pipeline.analyze([], case.name, knowledge, [Warning("limit", request.failure, case.name)])
    try:
        if "://" in case.base:
            return _fetched(case, knowledge)
        os.chdir(case.base)
        return pipeline.analyze_paths([Path(p) for p in case.paths], case.name, knowledge, workers=1)
    except (ForensicsError, OSError) as error:
        return pipeline.analyze([], case.name, knowledge, [Warning("unreadable", str(error), case.name)])


def _fetched(case: Case, knowledge: Database) -> Report:
    """The report on files of a URL, which are downloaded to a temporary folder."""
    fs, root = open_url(case.base)
    with tempfile.TemporaryDirectory(prefix="forensics-") as folder:
        os.chdir(folder)
        try:
            for path in case.paths:
                place = Path(path[len(root) :].strip("/") or Path(path).name)
                place.parent.mkdir(parents=True, exist_ok=True)
                fs.get_file(path, str(place))
            tops = sorted({p.name for p in Path().iterdir()})
            return pipeline.analyze_paths([Path(t) for t in tops], case.name, knowledge, workers=1)
        except OSError as error:
            return pipeline.analyze([], case.name, knowledge, [Warning("unreadable", str(error), case.name)])
        finally:
            os.chdir("/")


if __name__ == "__main__":
    main(Connection(int(sys.argv[1])))


MEMORY_POLL_S = 0.05  # between two readings of the helper's memory
MAX_IDLE_MIB = 112  # a helper with more between two cases is replaced; it starts with 50 and grows by 1 per kind of case


class Limits(msgspec.Struct, frozen=True):
    """The limits of one case. `memory_mib`: of the helper in all, including the signature database (some 50 MiB)."""

    seconds: float = 600.0
    memory_mib: int = 2048
    signatures: tuple[str, ...] = ()


class Analysed(msgspec.Struct, frozen=True):
    """The report of a case as JSON. `failure`: why it could not be analysed; empty if it could. `seconds`: elapsed time."""

    case: str
    report: bytes
    failure: str
    seconds: float


class OverLimitError(Exception):
    """A case exceeded a limit or killed its helper; the text says which."""


class Helper:
    """The helper process, started when it is first needed."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.connection: Connection | None = None

    def ask(self, request: HelperRequest, limits: Limits) -> bytes:
        """The report; raises OverLimitError, after stopping the process, if it exceeded a limit or died."""
        if self.process is None or self.connection is None:
            self.process, self.connection = _started()
        try:
            self.connection.send_bytes(msgspec.json.encode(request))
            _wait(self.connection, self.process, limits)
            return self.connection.recv_bytes()
        except (EOFError, OSError) as error:
            raise OverLimitError(f"its analysis died ({_status(self.stop())})") from error
        except OverLimitError:
            self.stop()
            raise

    def renew(self) -> None:
        """Stop the process if it has kept much memory of finished cases; the next case starts a new one."""
        if self.process and _resident_bytes(self.process.pid) > MAX_IDLE_MIB * MIB:
            self.stop()

    def stop(self) -> int:
        """Kill the process; its exit status."""
        status = 0
        if self.process and self.connection:
            self.process.kill()
            status = self.process.wait()
            self.connection.close()
        self.process = self.connection = None
        return status


def _started() -> tuple["subprocess.Popen[bytes]", Connection]:
    """A new process, and the worker's end of the connection to it."""
    own, given = Pipe()
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command, handle = [sys.executable, "-m", "forensics.fleet.worker"], given.fileno()
    with given:
        made = subprocess.Popen(
            [*command, str(handle)], stdin=subprocess.DEVNULL, stdout=2, pass_fds=[handle], env=os.environ | one_thread
        )
    return made, own


def _wait(connection: Connection, process: "subprocess.Popen[bytes]", limits: Limits) -> None:
    """Wait until the process answers, or is gone; raises OverLimitError where it exceeds a limit before."""
    until = time.monotonic() + limits.seconds
    while not connection.poll(MEMORY_POLL_S):
        if time.monotonic() > until:
            raise OverLimitError(f"its analysis took longer than {limits.seconds:g} s and was stopped")
        if _resident_bytes(process.pid) > limits.memory_mib * MIB:
            raise OverLimitError(f"its analysis used more than {limits.memory_mib} MiB of memory and was stopped")


HELPER = Helper()
atexit.register(HELPER.stop)


def analyse_case(case: Case, limits: Limits) -> Analysed:
    """The report of `case`; if it exceeded a limit, a report that says so."""
    start = time.monotonic()
    try:
        report = HELPER.ask(HelperRequest(case, "", limits.signatures), limits)
        HELPER.renew()
        return Analysed(case.name, report, "", time.monotonic() - start)
    except OverLimitError as error:
        return failed_case(case, str(error), time.monotonic() - start, limits)


def failed_case(case: Case, why: str, seconds: float, limits: Limits) -> Analysed:
    """The report of a case that could not be analysed, which says why."""
    report = HELPER.ask(HelperRequest(case, why, limits.signatures), Limits())
    return Analysed(case.name, report, why, seconds)


def _resident_bytes(pid: int) -> int:
    """The resident memory of a process; 0 if the system does not report it."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def _status(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit status {code}"


EXTRA_COLUMNS = (("report", "string"), ("failure", "string"), ("seconds", "float64"))
MAX_PART_ROWS = 500  # chosen by hand: what is lost if a run is interrupted, about a minute of one worker
MAX_PART_S = 30.0  # a part is written at least so often: a client that is killed loses no more


class Parts:
    """The folder of parts. `done`: the cases that it holds already."""

    def __init__(self, folder: Path, resume: bool) -> None:
        self.folder = folder
        self.rows: list[tuple[Incident, Analysed]] = []
        self.next_time = time.monotonic() + MAX_PART_S
        with files_at(folder, "cannot be written"):
            folder.mkdir(parents=True, exist_ok=True)
            written = sorted(folder.glob("part-*.parquet"))
            for half in folder.glob(".part-*"):
                half.unlink()
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
