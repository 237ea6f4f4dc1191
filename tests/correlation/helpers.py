"""Made sources, events and clocks for the tests of this folder."""

from collections.abc import Sequence
from datetime import datetime

from forensics.correlation import Clock, clock_samples, full_times, infer_clock, printed_dates
from forensics.line_formats import parse_prefix
from forensics.model import Line, Observation, Proof, Scan, Source, Value, Warning


def source_of(name: str, text: str, modified: datetime | None = None) -> Source:
    data = text.encode()
    return Source(name, lambda _warn: iter([data[i : i + 7] for i in range(0, len(data), 7)]), modified=modified)


def scan_of(name: str, text: str, modified: datetime | None = None) -> Scan:
    rows = text.splitlines()
    lines = tuple(Line(i, row) for i, row in enumerate(rows, 1))
    return Scan(source_of(name, text, modified), len(text), len(rows), (), {}, lines[:60], lines[-60:])


def clock_for(
    text: str, modified: datetime | None = None, others: Sequence[datetime] = (), name: str = "a.log"
) -> tuple[Clock, list[Warning]]:
    noted: list[Warning] = []
    scan = scan_of(name, text, modified)
    return infer_clock(scan.source, clock_samples(scan), list(others), noted.append, printed_dates(scan)), noted


def event(source: str, number: int, text: str, cause: str = "process.worker_died", **fields: Value) -> Observation:
    proof = Proof(source, number, text, "made", "proof")
    return Observation("made", cause, "proof", source, number, number, (proof,), dict(fields), stamp=parse_prefix(text).stamp)


def clocks_for(**texts: str) -> dict[str, Clock]:
    """Clocks by name (`dmesg_log` stands for `dmesg.log`), each beside all the others."""
    named = {name.replace("_", "."): text for name, text in texts.items()}
    scans = {name: scan_of(name, text) for name, text in named.items()}
    times = {name: full_times(clock_samples(scan)) for name, scan in scans.items()}
    return {
        name: infer_clock(
            scan.source, clock_samples(scan), [t for n, ts in times.items() if n != name for t in ts], lambda _: None
        )
        for name, scan in scans.items()
    }
