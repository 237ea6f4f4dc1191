"""The pages: the incidents of a history as an index, one page of them at a time, and one incident as a report.

?cause=gpu_hardware.ecc&host=gpu-0412&from=2026-10-01T00:00  ->  conditions of SQL, rows, and the numbers of all that fit
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace
from sqlalchemy import and_, func, or_, select

from forensics.core.errors import ForensicsError, UsageError
from forensics.history.again import seen_before
from forensics.history.exchange import report_in
from forensics.history.fingerprint import Incident
from forensics.history.store import INCIDENT_TABLE, C, Store
from forensics.model import Advice, Finding, IncidentSummary, Proof, Report
from forensics.report import with_stand_ins
from forensics.report.index import MAX_CHOICES, NO_CRASH, OTHER_KIND, Overview, Row, Served, counted, index_html
from forensics.report.phrases import percent_text, titled

PAGE_ROWS = 100  # chosen by hand: read at once; a browser lays them out in a tenth of a second
SOURCE = "history"  # what evidence of a stored incident names: `history:17` is the line of `forensics history show 17`
FILTERS = ("q", "failures", "kind", "cause", "host", "job", "from", "to")
SEARCHED = (C.title, C.cause, C.line, C.node, C.job, C.run, C.user, C.case)
LINKS = (("trends", "trends"),)


class Known(NamedTuple):
    """What is asked of the rest of the program: the kind and the remedies of a cause, the folder of the captured run of a job."""

    kind: Callable[[str], str]
    remedies: Callable[[str], tuple[Advice, ...]]
    bundle: Callable[[str], str]


def index_page(store: Store, known: Known, asked: Mapping[str, str], title: str) -> str:
    """The index of the incidents that fit `asked`, the latest first. Raises UsageError for a value that cannot be read."""
    chosen = {name: asked[name] for name in FILTERS if asked.get(name)}
    common = _common_conditions(chosen)
    overview, causes = _overview(store, known, common)
    conditions = [*common, *_cause_conditions(chosen, known, causes)]
    found = store.listed(PAGE_ROWS + 1, *conditions, *_before(asked.get("before", "")))
    rows, last = found[:PAGE_ROWS], found[:PAGE_ROWS][-1:]
    served = Served(chosen, _count(store, conditions), links=LINKS)
    if len(found) > PAGE_ROWS:
        served = replace(served, older=served.address(before=f"{last[0]['time']}-{last[0]['id']}"))
    return index_html([_row(r, known) for r in rows], title, overview, served)


def incident_report(store: Store, known: Known, identity: int) -> Report:
    """The report on an incident: that of its captured run, if it is kept on this machine, else what the history has of it. Names
    in the former are replaced unless the history keeps names. Raises UsageError if there is no such incident."""
    row = store.shown(identity)
    incident = Incident(**{name: row[name] for name in Incident.__struct_fields__})
    kept = _kept_report(known, incident)
    if kept and store.salt is not None:
        kept, _ = with_stand_ins(kept)
    return replace(kept or _stored_report(identity, incident, known), history=seen_before(store, incident))


def _kept_report(known: Known, incident: Incident) -> Report | None:
    folder = known.bundle(incident.job) if incident.job else ""
    with suppress(OSError, ForensicsError):
        return report_in((Path(folder) / "report.json").read_bytes(), folder) if folder else None
    return None


def _stored_report(identity: int, incident: Incident, known: Known) -> Report:
    time = datetime.fromtimestamp(incident.time, UTC) if incident.dated else None
    proof = Proof(SOURCE, identity, incident.line, f"{incident.cause}/{SOURCE}", "strong", time=time)
    failed = incident.verdict != NO_CRASH
    finding = Finding(
        id=incident.cause,
        title=incident.title,
        role="root",
        probability=incident.probability,
        summary="The history keeps the line that shows it, and no more of this report.",
        evidence=(proof,) if incident.line else (),
        facts={},
        remediations=known.remedies(incident.cause) if failed else (),
        where=_where(incident.node, incident.gpu, incident.job),
    )
    hosts = (incident.node,) if incident.node else ()
    return Report(
        tool={"name": "forensics", "version": incident.version, "signatures": "", "model": ""},
        case=f"incident {identity}",
        verdict=incident.verdict,  # type: ignore[arg-type]
        causes=(finding,),
        incidents=(IncidentSummary(1, time, time, (incident.cause,), 0, hosts, (), time),),
        timeline=(),
        sources=(),
        missing=(),
        warnings=(),
    )


def _where(node: str, gpu: str, job: str) -> str:
    return ", ".join(filter(None, (node, gpu, f"job {job}" if job else "")))


def _row(row: Mapping[str, Any], known: Known) -> Row:
    finding = Finding(row["cause"], row["title"], "root", row["probability"], "", (), {}, ())
    return Row(
        case=f"incident {row['id']}",
        page=f"incident/{row['id']}",
        verdict=row["verdict"],
        cause=row["cause"],
        title=titled(row["verdict"], finding),
        odds=percent_text(row["probability"]),
        time=datetime.fromtimestamp(row["time"], UTC),
        subject="",
        where=_where(row["node"], row["gpu"], row["job"]),
        hosts=(row["node"],),
        jobs=(row["job"],),
        summary=row["line"],
        kind=known.kind(row["cause"]),
    )


def _common_conditions(chosen: Mapping[str, str]) -> list[Any]:
    """The conditions that the numbers above the list share with it: all but those on the cause."""
    words = [or_(*(column.icontains(word, autoescape=True) for column in SEARCHED)) for word in chosen.get("q", "").split()]
    equal = [column == chosen[name] for name, column in (("host", C.node), ("job", C.job)) if name in chosen]
    since = [C.time >= _seconds(chosen["from"])] if "from" in chosen else []
    until = [C.time <= _seconds(chosen["to"])] if "to" in chosen else []
    return [*words, *equal, *since, *until]


def _cause_conditions(chosen: Mapping[str, str], known: Known, causes: set[str]) -> list[Any]:
    found = [C.cause == chosen["cause"]] if "cause" in chosen else []
    if "kind" in chosen:
        found.append(C.cause.in_([c for c in causes if (known.kind(c) or OTHER_KIND) == chosen["kind"]]))
    return [*found, C.verdict != NO_CRASH] if "failures" in chosen or "kind" in chosen else found


def _before(place: str) -> list[Any]:
    """The condition for the incidents behind the last row of a page: `1700000000-17`, its time and its id."""
    if not place:
        return []
    time, _, identity = place.partition("-")
    if not (time.isdecimal() and identity.isdecimal()):
        raise UsageError(f"{place!r} is no place in the list")
    return [or_(C.time < int(time), and_(C.time == int(time), C.id < int(identity)))]


def _seconds(text: str) -> int:
    try:
        return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{text!r} is no time, as 2026-10-01T12:00") from error


def _overview(store: Store, known: Known, conditions: list[Any]) -> tuple[Overview, set[str]]:
    """The numbers of all incidents that fit, and their causes."""
    count = func.count()
    by_cause = select(C.verdict, C.cause, C.title, count).where(*conditions).group_by(C.verdict, C.cause, C.title)
    names: list[list[tuple[str, int]]] = []
    with store.engine.connect() as connection:
        found = [tuple(row) for row in connection.execute(by_cause)]
        for column in (C.node, C.job):  # one more than can be chosen from shows that there are too many
            query = select(column, count).where(column != "", *conditions).group_by(column).order_by(count.desc(), column)
            names.append([(str(name), n) for name, n in connection.execute(query.limit(MAX_CHOICES + 1))])
    failed = [row for row in found if row[0] != NO_CRASH]
    overview = Overview(
        cases=sum(row[3] for row in found),
        crashed=sum(row[3] for row in failed),
        counts=counted((cause, title, known.kind(cause), n) for _, cause, title, n in failed),
        hosts=sorted(names[0]),
        jobs=sorted(names[1]),
    )
    return overview, {row[1] for row in failed}


def _count(store: Store, conditions: list[Any]) -> int:
    with store.engine.connect() as connection:
        return int(connection.execute(select(func.count()).select_from(INCIDENT_TABLE).where(*conditions)).scalar_one())
