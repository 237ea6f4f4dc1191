"""`forensics fleet SOURCE...`: thousands of incidents on Dask, their reports in Parquet, and a summary page."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forensics.cli.common import Signatures
from forensics.cli.output import save, say, write
from forensics.cli.progress import is_watched
from forensics.core.text import escaped

if TYPE_CHECKING:
    from forensics.database import Database
    from forensics.fleet.correlated import CorrelatedFailure
    from forensics.fleet.worker import Parts
    from forensics.history.fingerprint import Incident

PLAIN_S = 15.0  # between lines of progress where nobody watches
WATCHED_S = 0.5  # between lines of progress on a terminal, which are written over each other


def fleet(
    sources: Annotated[list[str], typer.Argument(help="Folders of cases, globs, or URLs: s3://bucket/logs, file:///logs.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="A folder of Parquet parts.")] = Path("reports.parquet"),
    group: Annotated[
        str, typer.Option(help="folder, file, or an expression whose group names the case: 'job-(\\d+)'.")
    ] = "folder",
    scheduler: Annotated[str, typer.Option(help="local, or the address of a scheduler: tcp://HOST:8786.")] = "local",
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; one per core by default.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted run.")] = False,
    timeout: Annotated[float, typer.Option(min=0.1, help="Time limit of a case, in seconds.")] = 600.0,
    memory: Annotated[int, typer.Option(min=64, help="Memory limit of a case, in MiB.")] = 2048,
    topology: Annotated[Path | None, typer.Option(help="A table `node,rack,switch` of the nodes.")] = None,
    page: Annotated[Path | None, typer.Option(help="The file of the page; next to the output by default.")] = None,
    signatures: Signatures = None,
) -> None:
    """Analyse very many cases on Dask.

    \b
    Examples:
      forensics fleet ./incidents -o reports.parquet
      forensics fleet 's3://logs/2026-11/*' --scheduler tcp://head:8786 --resume
      forensics fleet /scratch/logs --group 'slurm-(\\d+)' --topology racks.csv
      duckdb -c "select cause, count(*) from 'reports.parquet/*.parquet' group by 1"

    A case that exceeds its limits gets a report that says so. --resume continues an interrupted run.
    """
    limits = (timeout, memory, tuple(str(p.resolve()) for p in signatures or ()))
    _run(sources, output, group, (scheduler, workers), resume, limits, topology, page or output.with_suffix(".html"))


def _run(
    sources: list[str],
    output: Path,
    group: str,
    engine: tuple[str, int | None],
    resume: bool,
    limits: tuple[float, int, tuple[str, ...]],
    topology: Path | None,
    page: Path,
) -> None:
    """Run the command; all errors of usage are found before a worker starts."""
    from forensics.fleet.cases import cases_in
    from forensics.fleet.correlated import read_topology
    from forensics.fleet.engine import client_of, reports
    from forensics.fleet.worker import Limits, Parts
    from forensics.pipeline import database

    knowledge = database(map(Path, limits[2]))
    labels = read_topology(topology) if topology else {}
    cases = cases_in(sources, group)
    parts = Parts(output, resume)
    left = [c for c in cases if c.name not in parts.done]
    if left:
        with client_of(*engine) as client:
            _gather(reports(client, left, Limits(*limits)), parts, len(left))
    _sum_up(parts, labels, knowledge, page, len(cases))


def _gather(found: Iterator[Any], parts: "Parts", total: int) -> None:
    """Store all reports; after an interrupt the finished ones are stored, too."""
    start = last_message = time.monotonic()
    failed = 0
    try:
        for done, one in enumerate(found, 1):
            parts.add(one)
            failed += bool(one.failure)
            now = time.monotonic()
            if now - last_message > (WATCHED_S if is_watched() else PLAIN_S) or done == total:
                last_message = now
                rate = done / (now - start)
                line = f"{done:,} of {total:,}, {rate:.1f} a second, {failed:,} failed, {(total - done) / rate:,.0f} s left"
                print(
                    f"\r\x1b[K{line}" if is_watched() else line,
                    end="" if is_watched() and done < total else "\n",
                    file=sys.stderr,
                )
    finally:
        parts.flush()


def _sum_up(parts: "Parts", topology: dict[str, dict[str, str]], knowledge: "Database", page: Path, cases: int) -> None:
    """Write the page and print a few lines, from all parts."""
    from forensics.fleet.correlated import correlated_failures, families_of
    from forensics.history.opening import open_store
    from forensics.history.page import page as written
    from forensics.history.page import trend
    from forensics.report.redaction.lines import masked_text

    store = open_store(":memory:", keep_names=True)
    failures: list[str] = []

    def each() -> Iterator["Incident"]:
        for incident, why in parts.every():
            if why:
                failures.append(f"{incident.case}: {why}")
            yield incident

    store.add(each(), at_once=5000)
    found = correlated_failures(store.every(), families_of(knowledge.causes), topology)
    said = f"{len(failures):,} cases could not be analysed: {'; '.join(failures[:5])}." if failures else ""
    groups = [(f"{group.family}, {group.label}", str(group)) for group in found]
    save(masked_text(written(store, f"{cases:,} cases", None, groups, said)), page)
    for row in trend(store, "cause", 10):
        write(f"{row.total:>9,}  {escaped(row.name)}\n", None)
    _print_correlated(found)
    if said:
        say(said)
    say(f"reports in {parts.folder}, page in {page}")


def _print_correlated(found: "list[CorrelatedFailure]") -> None:
    if found:
        print("\none origin, many incidents")
    for group in found[:10]:
        write(escaped(f"  {group.family}, {group.label}: {group}") + "\n", None)
