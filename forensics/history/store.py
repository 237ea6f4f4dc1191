"""The Store: add incidents and jobs, list them, delete them. Queries: again.py, trend.py, lemons.py.

Each report is a transaction of its own: two writers lose nothing, and a writer that is killed loses at most its current report.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict
from sqlalchemy import delete, func, select, update

from forensics.core.errors import UsageError
from forensics.history.incident import Incident, pseudonym
from forensics.history.store_tables import INCIDENT_TABLE, JOBS, RESOLUTIONS, C

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine, Table

MAX_LISTED = 1000  # chosen by hand: it bounds memory; `export` writes all


def insert_new(connection: "Connection", table: "Table") -> Any:
    """An INSERT that does not change rows that exist."""
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects.postgresql import insert as of_postgres

        return of_postgres(table).on_conflict_do_nothing()
    from sqlalchemy.dialects.sqlite import insert as of_sqlite

    return of_sqlite(table).on_conflict_do_nothing()


class Store:
    """An open history. `salt`: the key of its pseudonyms; None if it keeps names."""

    def __init__(self, engine: "Engine", place: str, salt: bytes | None) -> None:
        self.engine, self.place, self.salt = engine, place, salt

    def add(self, incidents: Iterable[Incident], at_once: int = 1) -> int:
        """Store the incidents and return how many were new. `at_once`: the number of incidents in one transaction."""
        new = 0
        with self.engine.connect() as connection:  # one connection: opening one for each costs as much as the insert
            insert = insert_new(connection, INCIDENT_TABLE).execution_options(preserve_rowcount=True)
            for rows in _pieces((asdict(i) | {"month": i.month} for i in incidents), at_once):
                new += connection.execute(insert, rows[0] if len(rows) == 1 else rows).rowcount
                connection.commit()
        return new

    def add_jobs(self, jobs: Sequence[Mapping[str, Any]]) -> int:
        """Store rows of a scheduler's accounting in place of older ones, and fill missing facts of the jobs' incidents."""
        names = [
            {**j, "run": pseudonym("run", j["run"], self.salt), "user": pseudonym("user", j["user"], self.salt)} for j in jobs
        ]
        for rows in _pieces(iter(names), 500):
            with self.engine.begin() as connection:
                connection.execute(delete(JOBS).where(JOBS.c.job.in_([r["job"] for r in rows])))
                connection.execute(JOBS.insert(), rows)
                for row in rows:
                    connection.execute(_completed(row))
        return len(names)

    def count(self) -> int:
        """The number of stored incidents."""
        with self.engine.connect() as connection:
            return int(connection.execute(select(func.count()).select_from(INCIDENT_TABLE)).scalar_one())

    def listed(self, max_rows: int = 50, *conditions: Any, **equal: str) -> list[dict[str, Any]]:
        """The latest incidents first. `conditions`: SQLAlchemy conditions; `equal`: columns and the values they must have."""
        query = select(INCIDENT_TABLE).order_by(C.time.desc(), C.id.desc()).where(*conditions)
        for name, value in equal.items():
            query = query.where(C[name] == value)
        with self.engine.connect() as connection:
            return [dict(r._mapping) for r in connection.execute(query.limit(min(max_rows, MAX_LISTED)))]

    def shown(self, identity: int) -> dict[str, Any]:
        """The incident with the id `identity`; raises UsageError if there is none."""
        with self.engine.connect() as connection:
            row = connection.execute(select(INCIDENT_TABLE).where(C.id == identity)).first()
        if row is None:
            raise UsageError(f"no incident {identity}", self.place, "`forensics history list` shows the ids")
        return dict(row._mapping)

    def every(self) -> Iterator[Incident]:
        """All incidents in order of id, read in batches."""
        names = Incident.__struct_fields__
        with self.engine.connect().execution_options(yield_per=5000) as connection:
            for row in connection.execute(select(*(C[n] for n in names)).order_by(C.id)):
                yield Incident(*row)

    def resolve(self, identity: int, note: str, now: int) -> str:
        """Store a note on what helped against this incident and similar ones; returns their fingerprint."""
        similar = str(self.shown(identity)["similar"])
        with self.engine.begin() as connection:
            connection.execute(delete(RESOLUTIONS).where(RESOLUTIONS.c.similar == similar))
            connection.execute(RESOLUTIONS.insert(), [{"similar": similar, "note": note, "time": now}])
        return similar

    def prune(self, before: int) -> int:
        """Delete everything before the time `before` (seconds since 1970); returns the number of deleted incidents."""
        with self.engine.begin() as connection:
            connection.execute(delete(JOBS).where(JOBS.c.end < before))
            return int(connection.execute(delete(INCIDENT_TABLE).where(C.time < before)).rowcount)

    def forget(self, user: str) -> int:
        """Delete everything about a user, by name; returns the number of deleted incidents."""
        names = [user, pseudonym("user", user, self.salt)]
        with self.engine.begin() as connection:
            connection.execute(delete(JOBS).where(JOBS.c.user.in_(names)))
            return int(connection.execute(delete(INCIDENT_TABLE).where(C.user.in_(names))).rowcount)

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def _completed(job: Mapping[str, Any]) -> Any:
    """An UPDATE of a job's incidents: its name, user, GPU hours, and its node if it had only one and the incident has none."""
    hours = job["gpus"] * max(job["end"] - job["start"], 0) / 3600
    nodes = job["nodes"].split(",")
    values: dict[str, Any] = {"job": job["job"], **{name: job[name] for name in ("run", "user") if job[name]}}
    if job["gpus"]:
        values["gpu_hours"] = hours
    statement = update(INCIDENT_TABLE).where(C.job == job["job"])
    if len(nodes) == 1 and nodes[0]:
        from sqlalchemy import case

        values["node"] = case((C.node == "", nodes[0]), else_=C.node)
    return statement.values(**values)


def _pieces(rows: Iterator[dict[str, Any]], size: int) -> Iterator[list[dict[str, Any]]]:
    while piece := list(itertools.islice(rows, size)):
        yield piece
