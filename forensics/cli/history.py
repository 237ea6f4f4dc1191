"""`forensics history ...`: stored incidents: the same failure again, trends, hardware that fails more often, what helped."""

import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forensics.cli.app import Commands
from forensics.cli.common import HistoryPlace, Output
from forensics.cli.output import cell_text, check_choice, say, table_text, write
from forensics.core.errors import UsageError
from forensics.core.text import escaped
from forensics.history.remember import history_place

if TYPE_CHECKING:
    from forensics.history.fingerprint import Incident
    from forensics.history.lemons import Lemons
    from forensics.history.store import Store

Form = Annotated[str, typer.Option("--format", "-f", help="text, json, csv; trend and nodes also html.")]
Identity = Annotated[int, typer.Argument(help="Id of an incident, as `history list` shows it.")]
LEMON_CAUSES = "counted are faults of a machine's hardware, such as forensics explain gpu_hardware lists, and no lost peers"
LISTED_CHARS = 120  # of a line: two rows of the list; show has all of it
GOOD_END = "no_crash"  # the verdict
HISTORY_COLUMNS = ("id", "time", "verdict", "cause", "node", "job", "case", "line")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(cls=Commands, name="history", help="Stored incidents: the same failure again, trends, lemon nodes.")
    for command in (add, same, show_list, show, trend, nodes, resolve, export, prune, forget):
        group.command("list" if command is show_list else command.__name__)(command)
    app.add_typer(group)


def add(
    paths: Annotated[
        list[Path], typer.Argument(help="Reports (JSON, JSON lines), tables of incidents (Parquet), or folders of captured runs.")
    ] = [],  # noqa: B006
    jobs: Annotated[Path | None, typer.Option(help="Output of `sacct -P`: names, users, requests and ends of jobs.")] = None,
    node: Annotated[str, typer.Option(help="The node of these reports, if they do not name it.")] = "",
    user: Annotated[str, typer.Option(help="The user of these runs.")] = "",
    run: Annotated[str, typer.Option(help="The name of the job or script, to find its next run.")] = "",
    keep_names: Annotated[bool, typer.Option(help="For a new history: store users, job names and lines unchanged.")] = False,
    history: HistoryPlace = None,
) -> None:
    """Store reports; those that are stored already are skipped.

    \b
    Examples:
      forensics history add reports.jsonl
      forensics history add fleet.parquet --history postgresql://me@db/forensics
      forensics history add --jobs sacct.csv
    """
    from forensics.history.exchange import incidents_in
    from forensics.history.fingerprint import RunFacts
    from forensics.history.jobs import captured_run, read_jobs

    if not paths and not jobs:
        raise UsageError("nothing to add", "history add", "give reports, or --jobs sacct.csv")
    store, now = _store(history, create=True, keep_names=keep_names), int(time.time())
    new, rows = 0, read_jobs(jobs) if jobs else []
    for path in paths:
        if not path.exists():
            raise UsageError("no such file", str(path))
        if captured := captured_run(path):
            rows.append(captured.job)
            continue
        table = path.is_dir() or path.suffix == ".parquet"
        new += store.add(incidents_in(path, now, store.salt, RunFacts(node, "", run, user)), at_once=5000 if table else 1)
    store.add_jobs(rows)
    added = f"{new:,} new incidents" + (f", {len(rows):,} jobs" if rows else "")
    print(f"{added}; {store.count():,} remembered in {_shown(store)}", file=sys.stderr)


def same(
    path: Annotated[Path, typer.Argument(help="A report in JSON, logs to analyse, or the id of an incident.")],
    form: Form = "text",
    history: HistoryPlace = None,
) -> None:
    """Show whether this failure was seen before, without storing it.

    \b
    Examples:
      forensics history same report.json
      forensics history same ./logs
      forensics history same 3          # an id of forensics history list
    """
    store = _store(history)  # first: what is imported below needs its packages
    import msgspec

    from forensics.history.again import condition_alike, seen_before
    from forensics.history.store import INCIDENT_TABLE
    from forensics.report.escape import escape_controls
    from forensics.report.overview import how_often

    incident = _incident(path, store)
    found = seen_before(store, incident)
    if form == "json":
        write(escape_controls(msgspec.json.format(msgspec.json.encode(found)).decode()) + "\n", None)
        return
    check_choice(form, ("text", "json"))
    write(escaped("This run ended well." if incident.verdict == GOOD_END else how_often(found)) + "\n", None)
    if found.seen:
        _incidents(store.listed(10, condition_alike(incident, found.level), INCIDENT_TABLE.c.key != incident.key), "text", None)


def show_list(
    cause: Annotated[str, typer.Option(help="Only this cause.")] = "",
    node: Annotated[str, typer.Option(help="Only this node.")] = "",
    job: Annotated[str, typer.Option(help="Only this job.")] = "",
    since: Annotated[str, typer.Option(help="Only what happened since: 2026-11-28, 2d.")] = "",
    most: Annotated[int, typer.Option(min=1, max=1000, help="How many at most.")] = 50,
    every: Annotated[bool, typer.Option("--all", help="Also list runs that ended well.")] = False,
    form: Form = "text",
    output: Output = None,
    history: HistoryPlace = None,
) -> None:
    """List what ended badly, the latest first, with the folder of the captured run where it is still kept (forensics runs)."""
    from forensics.cli.captured_runs import bundles_by_job, time_of

    asked, first = {"cause": cause, "node": node, "job": job}, time_of(since, "--since")
    store = _store(history)  # which says so, where SQLAlchemy is missing
    from forensics.history.store import INCIDENT_TABLE

    later = [INCIDENT_TABLE.c.time >= first] if first is not None else []
    wanted = {k: v for k, v in asked.items() if v}
    bad = [] if every else [INCIDENT_TABLE.c.verdict != GOOD_END]
    rows = store.listed(most, *later, *bad, **wanted)
    if not every and store.listed(1, *later, INCIDENT_TABLE.c.verdict == GOOD_END, **wanted):
        say("forensics: runs that ended well are left out; --all lists them")
    bundles = bundles_by_job()
    _incidents([row | {"bundle": bundles.get(row.get("job") or "", "")} for row in rows], form, output)


def _incidents(rows: list[dict[str, Any]], form: str, output: Path | None) -> None:
    """Write incidents; for people without empty columns, and with the folder of a captured run in place of its ids."""
    from forensics.history.fingerprint import named

    if form == "text":
        rows = [
            row
            | {"case": Path(row.get("bundle") or "").name or named(row["case"]), "job": "" if row.get("bundle") else row["job"]}
            | {"line": row["line"] if len(row["line"]) <= LISTED_CHARS else f"{row['line'][:LISTED_CHARS]}…"}
            for row in rows
        ]
    _table(rows, tuple(c for c in HISTORY_COLUMNS if form != "text" or any(row[c] for row in rows)), form, output)


def show(identity: Identity, form: Form = "text", history: HistoryPlace = None) -> None:
    """Show everything that is stored about one incident, and the folder of its captured run where it is still kept."""
    from forensics.cli.captured_runs import bundles_by_job

    row = _store(history).shown(identity)
    row["bundle"] = bundles_by_job().get(row["job"], "")
    if form == "json":
        _table([row], tuple(row), "json", None)
        return
    check_choice(form, ("text", "json"))
    for name, value in row.items():
        if value not in ("", None):
            write(f"{name:<12}{cell_text(name, value)}\n", None)


def trend(
    by: Annotated[str, typer.Option(help="cause, node or user.")] = "cause",
    most: Annotated[int, typer.Option(min=1, help="How many at most.")] = 20,
    since: Annotated[str, typer.Option(help="From this month on: 2026-10.")] = "",
    form: Form = "text",
    output: Output = None,
    history: HistoryPlace = None,
) -> None:
    """Show the number of incidents by month, and their GPU hours.

    \b
    Examples:
      forensics history trend --by node
      forensics history trend -f html -o history.html    # the whole page: causes, nodes, lemons, cost
    """
    store = _store(history)  # first: what is imported below needs its packages
    from forensics.history.page import page
    from forensics.history.page import trend as asked

    if form == "html":
        write(page(store, f"History of {_shown(store)}", _lemons(store, None, "node")), output)
        return
    found = asked(store, by, most, int(since.replace("-", "")) if since.replace("-", "").isdigit() else 0)
    months = sorted({m for c in found for m, _ in c.months})[-12:]
    head = (by, "incidents", "gpu_hours", *(f"{m // 100}-{m % 100:02d}" for m in months))
    rows = [
        dict(zip(head, (c.name, c.total, c.gpu_hours, *(dict(c.months).get(m, 0) for m in months)), strict=True)) for c in found
    ]
    _table(rows, head, form, output)


def nodes(
    lemons: Annotated[bool, typer.Option("--lemons", help="Only units that fail more often than the others.")] = False,
    exposure: Annotated[
        Path | None, typer.Option(help="Hours of work by unit: a table `node,hours`, or output of sacct.")
    ] = None,
    unit: Annotated[str, typer.Option(help="node, gpu, dimm, link or switch.")] = "node",
    since: Annotated[str, typer.Option(help="From this day on: 2026-10-01.")] = "",
    most: Annotated[int, typer.Option(min=1, help="How many at most.")] = 50,
    form: Form = "text",
    output: Output = None,
    history: HistoryPlace = None,
) -> None:
    """Show which nodes ended jobs by their own hardware faults, and which of them are lemons.

    \b
    Example:
      forensics history nodes --lemons --exposure sacct.csv
    """
    from msgspec.structs import asdict

    store = _store(history)
    found = _lemons(store, exposure, unit, _day(since) if since else 0)
    units = found.units if not lemons or found.fleet_rate is None else [u for u in found.units if u.lemon]
    rows = [asdict(u) | {"causes": ", ".join(u.causes)} for u in units[:most]]
    if found.note:
        say(f"note: {found.note}")
    if not found.units:
        say(f"forensics: no {unit} ended a job by a fault of its own, among {store.count():,} incidents; {LEMON_CAUSES}")
    if found.fleet_rate is not None and form == "text":
        what = f"{len(units)} lemons" if lemons else f"{len(found.units)} {unit}s with a fault of their own"
        print(f"{what}; the others: {found.fleet_rate:.3f} a thousand hours")
    _table(rows, ("name", "jobs", *(("hours", "rate", "low", "high", "q") if exposure else ()), "causes"), form, output)


def resolve(
    identity: Identity,
    note: Annotated[str, typer.Option(help="What helped; it is shown when the same failure occurs again.")],
    history: HistoryPlace = None,
) -> None:
    """Store a note on what helped against an incident and similar ones."""
    from forensics.report.redaction.lines import masked_text

    similar = _store(history).resolve(identity, masked_text(note), int(time.time()))
    print(f"noted for all incidents with the fingerprint {similar}", file=sys.stderr)


def export(
    output: Annotated[Path, typer.Argument(help="history.parquet, .csv or .jsonl; DuckDB and pandas read them.")],
    history: HistoryPlace = None,
) -> None:
    """Write all incidents to a file."""
    from forensics.history.exchange import export as write_all

    print(f"{write_all(_store(history).every(), output):,} incidents in {output}", file=sys.stderr)


def prune(
    before: Annotated[str, typer.Option(help="Delete everything before this day: 2026-01-01.")], history: HistoryPlace = None
) -> None:
    """Delete old incidents."""
    print(f"{_store(history).prune(_day(before)):,} incidents forgotten", file=sys.stderr)


def forget(
    user: Annotated[str, typer.Option(help="The name, also if the history has pseudonyms.")], history: HistoryPlace = None
) -> None:
    """Delete everything that is stored about a user."""
    print(f"{_store(history).forget(user):,} incidents forgotten", file=sys.stderr)


def _store(place: str | None, create: bool = False, keep_names: bool = False) -> "Store":
    from forensics.history.opening import open_store

    return open_store(history_place(place), create, keep_names)


def _shown(store: "Store") -> str:
    from forensics.history.opening import without_password

    return without_password(store.place)


def _incident(path: Path, store: "Store") -> "Incident":
    """The stored incident of this id, or that of a saved report or of logs, which is not stored."""
    from forensics import pipeline
    from forensics.history.exchange import report_in
    from forensics.history.fingerprint import Incident, incident_of
    from forensics.history.jobs import captured_run

    if not path.exists() and path.name == str(path) and path.name.isdecimal():
        row = store.shown(int(path.name))
        return Incident(**{name: row[name] for name in Incident.__struct_fields__})
    saved = path.suffix == ".json" and path.is_file()
    report = (
        report_in(path.read_bytes(), str(path))
        if saved
        else pipeline.analyze_paths([path], path.resolve().name, pipeline.database())
    )
    run = captured_run(path)
    return incident_of(report, int(time.time()), store.salt, run.known if run else None)


def _lemons(store: "Store", exposure: Path | None, unit: str, since: int = 0) -> "Lemons":
    from forensics import pipeline
    from forensics.history.jobs import read_exposure
    from forensics.history.lemons import lemons

    known = pipeline.database()
    machine = [c for c in known.causes if known.has_trait(c, "machine_fault")]
    return lemons(store, machine, read_exposure(exposure) if exposure else None, unit, since)


def _day(text: str) -> int:
    try:
        return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())
    except ValueError as error:
        raise UsageError(f"{text!r} is not a date", "history", "write it as 2026-01-31") from error


def _table(rows: list[dict[str, Any]], columns: tuple[str, ...], form: str, output: Path | None) -> None:
    check_choice(form, ("text", "json", "csv"))
    write(table_text(rows, columns, form), output)
