"""Has this been seen before? An Incident and a Store to the `history` of a report.

seen 7 times since 3 Oct 2026, on 2 nodes; 5 of them on gpu-0412; after --mem 64G it did not return
"""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from sqlalchemy import and_, func, select

from forensics.history.accounting import requested_options
from forensics.history.fingerprint import in_front
from forensics.history.incident import Incident
from forensics.history.tables import INCIDENT_TABLE, JOBS, RESOLUTIONS
from forensics.model import History, NodeCount

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from forensics.history.store import Store

MAX_SEEN_NODES = 20  # chosen by hand: they are named in a sentence of the report; `history` lists all
MAX_SEEN_JOBS = 20  # as MAX_SEEN_NODES
MOST_FOLLOWED = 50  # of the latest incidents, whose next run is looked at
COMPLETED = "COMPLETED"  # the state in which Slurm accounts a job that ended with 0
UNFINISHED = ("CANCELLED", "PREEMPTED", "REQUEUED", "")  # tell nothing of whether it helped
Level = Literal["exact", "similar"]
C, J = INCIDENT_TABLE.c, JOBS.c


class NextRun(Struct, frozen=True):
    """The next run of the same work. `asked`: what it asked for and the one before did not: `--mem 64G`."""

    ended: str  # well | same | other
    asked: str


def seen_before(store: "Store", incident: Incident) -> History:
    """What `store` knows of other incidents like this one: those of the exact fingerprint, else those of the similar one."""
    with store.engine.connect() as connection:
        own = connection.execute(select(C.id).where(C.key == incident.key)).scalar()
        levels: tuple[Level, ...] = ("exact", "similar")
        for level in levels:
            alike = and_(condition_alike(incident, level), C.id != (own or -1))
            asked = select(C.node, func.count(), func.min(C.time), func.max(C.time)).where(alike).group_by(C.node)
            if found := connection.execute(asked).all():
                return _told(connection, incident, level, alike, found)
        return History(incident.exact, incident.similar, note=_note(connection, incident))


def condition_alike(incident: Incident, level: str) -> Any:
    """The condition for all that are like it, itself among them; `level`: exact, or else similar."""
    return (
        and_(C.similar == incident.similar, condition_exact(incident.exact))
        if level == "exact"
        else C.similar == incident.similar
    )


def condition_exact(exact: str) -> Any:
    """The condition for the same exact fingerprint; where one of the two has no dash, by the part in front of it."""
    start = in_front(exact)
    return C.exact.in_((exact, start)) if exact != start else C.exact.startswith(start)


def _told(connection: "Connection", incident: Incident, level: Level, alike: Any, found: Sequence[Any]) -> History:
    """`found`: node, count, first and last time, a row a node."""
    nodes = sorted((NodeCount(node, seen) for node, seen, _, _ in found if node), key=lambda n: (-n.seen, n.name))
    latest = select(C.job).where(alike, C.job != "").order_by(C.time.desc()).limit(5 * MAX_SEEN_JOBS)
    return History(
        fingerprint=incident.exact,
        similar=incident.similar,
        level=level,
        seen=sum(row[1] for row in found),
        first=datetime.fromtimestamp(min(row[2] for row in found), UTC),
        last=datetime.fromtimestamp(max(row[3] for row in found), UTC),
        node_count=len(nodes),
        nodes=tuple(nodes[:MAX_SEEN_NODES]),
        jobs=tuple(dict.fromkeys(connection.execute(latest).scalars()))[:MAX_SEEN_JOBS],
        outcome=what_helped(next_runs(connection, incident, alike)),
        note=_note(connection, incident),
    )


def _note(connection: "Connection", incident: Incident) -> str:
    return str(connection.execute(select(RESOLUTIONS.c.note).where(RESOLUTIONS.c.similar == incident.similar)).scalar() or "")


def next_runs(connection: "Connection", incident: Incident, alike: Any) -> list[NextRun]:
    """The next run after each of the latest incidents, where another than that of `incident` is known: of the same job name, or
    else script."""
    asked = select(C.time, C.job, C.run, C.user).where(alike, C.run != "").order_by(C.time.desc()).limit(MOST_FOLLOWED)
    each = (_next(connection, incident, row) for row in connection.execute(asked).all())
    return [following for following in each if following]


def _next(connection: "Connection", incident: Incident, row: Any) -> NextRun | None:
    before = connection.execute(select(JOBS).where(J.job == row.job)).first() if row.job else None
    if before is None:
        return _next_report(connection, incident, row)
    later = select(JOBS).where(J.run == before.run, J.user == before.user, J.start >= before.end, J.job != before.job)
    after = connection.execute(later.order_by(J.start).limit(1)).first()
    if after is None or after.state in UNFINISHED or after.job == incident.job:
        return None
    changed = [a for a in requested_options(after.asked) if a not in requested_options(before.asked)]
    return NextRun(_ended(connection, incident, after), " and ".join(changed))


def _ended(connection: "Connection", incident: Incident, after: Any) -> str:
    """How that job ended. A report on it says more than its state: a script goes on after a step that was killed."""
    asked = select(C.similar).where(C.job == after.job, C.verdict == "crash").limit(MOST_FOLLOWED)
    found = connection.execute(asked).scalars().all()
    return "same" if incident.similar in found else "well" if not found and after.state == COMPLETED else "other"


def _next_report(connection: "Connection", incident: Incident, row: Any) -> NextRun | None:
    """Without accounting: the next report on the same work."""
    later = (
        select(C.verdict, C.similar, C.key)
        .where(C.run == row.run, C.user == row.user, C.time > row.time)
        .order_by(C.time)
        .limit(1)
    )
    after = connection.execute(later).first()
    if after is None or after.key == incident.key:
        return None
    return NextRun("well" if after.verdict == "no_crash" else "same" if after.similar == incident.similar else "other", "")


def what_helped(each: list[NextRun]) -> str:
    """What the next runs tell in a clause; empty where none is known.

    A change is named where runs with it did not end the same way; else how many of the next runs ended so.
    """
    if not each:
        return ""
    changed = Counter(n.asked for n in each if n.asked and n.ended == "well")
    for asked, well in changed.most_common(1):
        runs = [n for n in each if n.asked == asked]
        again = sum(n.ended == "same" for n in runs)
        if not again:
            return f"after {asked} it did not return" + (
                f" ({well} of {len(runs)} next runs ended well)" if len(runs) > 1 else ""
            )
        return f"after {asked} it returned in {again} of {len(runs)} next runs"
    same, well = (sum(n.ended == kind for n in each) for kind in ("same", "well"))
    runs_text = f"{len(each)} next run{'s' if len(each) > 1 else ''}"
    if same:
        return f"it returned in {same} of {runs_text} known"
    return f"{well} of {runs_text} known ended well" if well else f"it did not return in {runs_text} known, which ended otherwise"
