"""The Store: add incidents and jobs, list them, delete them. Queries: again.py, trend.py, lemons.py.

Each report is a transaction of its own: two writers lose nothing, and a writer that is killed loses at most its current report.

The tables of a store, the same in SQLite and PostgreSQL, and their indexes.

Each index holds every column that its query needs (a covering index), so a query over a million incidents does not read the rows:

    same     similar -> node, time; the latest of them, time first
    lemons   node, job -> cause. There is no index on the cause: SQLite would choose it, at fifty times the cost
    list     time
    trend    month -> cause; node or user -> month, so that only the months of the shown rows are read
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    delete,
    func,
    select,
    update,
)

from forensics.core.errors import UsageError
from forensics.history.fingerprint import Incident, pseudonym

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine


STORE_VERSION = 1  # of the tables; a store of a later version is refused
METADATA = MetaData()

SETTINGS_TABLE = Table(
    "settings",
    METADATA,
    Column("version", SmallInteger, primary_key=True),
    Column("salt", LargeBinary, nullable=False),
    Column("redacted", Boolean, nullable=False),
)
OTHER_KINDS: dict[str, Any] = {
    **dict.fromkeys(("time", "added"), BigInteger),
    **dict.fromkeys(("probability", "gpu_hours"), Float),
    "dated": Boolean,
}  # of the columns of an incident; all others are texts
INCIDENT_TABLE = Table(
    "incidents",
    METADATA,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("month", Integer, nullable=False),
    *(
        Column(name, OTHER_KINDS.get(name, Text), nullable=name == "gpu_hours", unique=name == "key")
        for name in Incident.__struct_fields__
    ),
)
JOBS = Table(  # rows of the scheduler's accounting, see accounting.py
    "jobs",
    METADATA,
    Column("job", Text, primary_key=True),
    Column("run", Text, nullable=False),
    Column("user", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("start", BigInteger, nullable=False),
    Column("end", BigInteger, nullable=False),
    Column("nodes", Text, nullable=False),
    Column("asked", Text, nullable=False),
    Column("gpus", Integer, nullable=False),
)
RESOLUTIONS = Table(
    "resolutions",
    METADATA,
    Column("similar", Text, primary_key=True),
    Column("note", Text, nullable=False),
    Column("time", BigInteger, nullable=False),
)
C = INCIDENT_TABLE.c
Index("incidents_same", C.similar, C.node, C.exact, C.time)
Index("incidents_latest", C.similar, C.time, C.exact, C.job, C.run, C.user)
Index("incidents_units", C.node, C.job, C.cause, C.verdict, C.time)
Index("incidents_time", C.time)
Index("incidents_trend", C.month, C.verdict, C.cause, C.gpu_hours)
Index("incidents_nodes", C.node, C.verdict, C.month, C.gpu_hours)
Index("incidents_users", C.user, C.verdict, C.month, C.gpu_hours)
Index("incidents_run", C.run, C.time)
Index("incidents_job", C.job)
Index("jobs_run", JOBS.c.run, JOBS.c.user, JOBS.c.start)


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
