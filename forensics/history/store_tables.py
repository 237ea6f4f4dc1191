"""The tables of a store, the same in SQLite and PostgreSQL, and their indexes.

Each index holds every column that its query needs (a covering index), so a query over a million incidents does not read the rows:

    same     similar -> node, time; the latest of them, time first
    lemons   node, job -> cause. There is no index on the cause: SQLite would choose it, at fifty times the cost
    list     time
    trend    month -> cause; node or user -> month, so that only the months of the shown rows are read
"""

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
)

STORE_VERSION = 1  # of the tables; a store of a later version is refused
METADATA = MetaData()

SETTINGS_TABLE = Table(
    "settings",
    METADATA,
    Column("version", SmallInteger, primary_key=True),
    Column("salt", LargeBinary, nullable=False),
    Column("redacted", Boolean, nullable=False),
)
INCIDENT_TABLE = Table(
    "incidents",
    METADATA,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("key", Text, nullable=False, unique=True),
    Column("time", BigInteger, nullable=False),
    Column("month", Integer, nullable=False),
    Column("dated", Boolean, nullable=False),
    Column("added", BigInteger, nullable=False),
    Column("case", Text, nullable=False),
    Column("verdict", Text, nullable=False),
    Column("cause", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("probability", Float, nullable=False),
    Column("exact", Text, nullable=False),
    Column("similar", Text, nullable=False),
    Column("line", Text, nullable=False),
    Column("node", Text, nullable=False),
    Column("gpu", Text, nullable=False),
    Column("dimm", Text, nullable=False),
    Column("link", Text, nullable=False),
    Column("switch", Text, nullable=False),
    Column("job", Text, nullable=False),
    Column("run", Text, nullable=False),
    Column("user", Text, nullable=False),
    Column("gpu_hours", Float),
    Column("version", Text, nullable=False),
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
