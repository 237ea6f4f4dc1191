"""Find earlier occurrences of an incident in a Store, for the `history` of a report.

seen 7 times since 3 Oct 2026, on 2 nodes; 5 of them on gpu-0412; after --mem 64G it did not return
"""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from sqlalchemy import and_, func, select

from forensics.history.fingerprint import Incident, before_dash
from forensics.history.jobs import requested_options
from forensics.history.store import JOBS, RESOLUTIONS, C
from forensics.model import History, NodeCount

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from forensics.history.store import Store

MAX_SEEN_NODES = 20  # chosen by hand: a sentence of the report names them; `history` lists all
MAX_SEEN_JOBS = 20  # as MAX_SEEN_NODES
MAX_FOLLOWED_INCIDENTS = 50  # the latest ones, whose next run is looked up
COMPLETED = "COMPLETED"  # Slurm's state of a job with exit status 0
UNFINISHED = ("CANCELLED", "PREEMPTED", "REQUEUED", "")  # such an end does not show whether a change helped
Level = Literal["exact", "similar"]
J = JOBS.c


class NextRun(Struct, frozen=True):
    """The next run of the same program. `changed`: the options that the failed run did not have: `--mem 64G`."""

    ended: str  # well | same (the same failure) | other
    changed: str


def seen_before(store: "Store", incident: Incident) -> History:
    """The other incidents in `store` with the same exact fingerprint; if there are none, with the same similar one."""
    with store.engine.connect() as connection:
        own = connection.execute(select(C.id).where(C.key == incident.key)).scalar()
        levels: tuple[Level, ...] = ("exact", "similar")
        for level in levels:
            alike = and_(condition_alike(incident, level), C.id != (own or -1))
            query = select(C.node, func.count(), func.min(C.time), func.max(C.time)).where(alike).group_by(C.node)
            if found := connection.execute(query).all():
                return _history(connection, incident, level, alike, found)
        return History(incident.exact, incident.similar, note=_note(connection, incident))


def condition_alike(incident: Incident, level: str) -> Any:
    """The SQL condition for incidents with the same fingerprint, itself included. `level`: exact or similar."""
    return (
        and_(C.similar == incident.similar, condition_exact(incident.exact))
        if level == "exact"
        else C.similar == incident.similar
    )


def condition_exact(exact: str) -> Any:
    """The SQL condition for the same exact fingerprint. If one of the two has no dash, the parts before the dash are compared."""
    start = before_dash(exact)
    return C.exact.in_((exact, start)) if exact != start else C.exact.startswith(start)


def _history(connection: "Connection", incident: Incident, level: Level, alike: Any, found: Sequence[Any]) -> History:
    """The History from `found`: a row (node, count, first time, last time) for each node."""
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
    """The next run, of the same job name or script, after each of the latest incidents; never the run of `incident` itself."""
    query = select(C.time, C.job, C.run, C.user).where(alike, C.run != "").order_by(C.time.desc()).limit(MAX_FOLLOWED_INCIDENTS)
    each = (_next(connection, incident, row) for row in connection.execute(query).all())
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
    """How the job `after` ended. Its reports count more than its state: a job script may continue after a step was killed."""
    query = select(C.similar).where(C.job == after.job, C.verdict == "crash").limit(MAX_FOLLOWED_INCIDENTS)
    found = connection.execute(query).scalars().all()
    return "same" if incident.similar in found else "well" if not found and after.state == COMPLETED else "other"


def _next_report(connection: "Connection", incident: Incident, row: Any) -> NextRun | None:
    """The next run as the next report shows it, if there is no accounting."""
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
    """A clause on how the next runs ended; empty if none is known.

    It names the change of options that most often ended well, else how many of the next runs failed in the same way.
    """
    if not each:
        return ""
    changed = Counter(n.changed for n in each if n.changed and n.ended == "well")
    for change, well in changed.most_common(1):
        runs = [n for n in each if n.changed == change]
        again = sum(n.ended == "same" for n in runs)
        if not again:
            return f"after {change} it did not return" + (
                f" ({well} of {len(runs)} next runs ended well)" if len(runs) > 1 else ""
            )
        return f"after {change} it returned in {again} of {len(runs)} next runs"
    same, well = (sum(n.ended == kind for n in each) for kind in ("same", "well"))
    if len(each) == 1:
        return f"the next run {'failed in the same way' if same else 'ended well' if well else 'ended otherwise'}"
    known = f"of the {len(each)} next runs that are known"
    if same:
        return f"{same} {known} failed in the same way"
    return f"{well} {known} ended well" if well else f"none {known} failed in the same way, and none ended well"
