"""Open a Store, from a path or a URL.

~/.local/share/forensics/history.db    SQLite in WAL mode: any number of readers and one writer; other writers wait
postgresql://user@host/forensics       one store for a team
"""

import secrets
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forensics.core import user_folders
from forensics.core.errors import UsageError, files_at

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from forensics.history.store import Store

MAX_WRITER_WAIT_S = 60  # for another writer
WAL_RETRY_S = 0.01  # another process sets it in less
CREATION_LOCK = 0x666F7265  # chosen by hand: a number that other programs on the same PostgreSQL server are not likely to lock
SALT_BYTES = 16  # 128 bits: nobody can precompute hashed names for each salt
CHECKPOINT = "wal_autocheckpoint=10000"  # pages (40 MB) between waits for the disk; a row with eleven indexes changes some 15
INSTALL_HISTORY = "pip install sqlalchemy pyarrow"  # the packages of the extra, so that it works wherever this came from
INSTALL_POSTGRES = "pip install 'psycopg[binary]'"


def default_place() -> str:
    """The path of a user's own history: `history.db` in the user's data folder."""
    return str(user_folders.data() / "history.db")


def open_store(place: str, create: bool = True, keep_names: bool = False) -> "Store":
    """The Store at a path or URL; `:memory:` is one in memory. `create`: create a store that does not exist.

    `keep_names`: a new store keeps users, job names and lines unchanged. Raises UsageError if it cannot be opened.
    """
    try:
        from sqlalchemy.exc import SQLAlchemyError
    except ImportError as error:
        raise UsageError("a history needs SQLAlchemy", place, INSTALL_HISTORY) from error
    try:
        return _opened(_engine(place, create), place, keep_names)
    except SQLAlchemyError as error:
        raise UsageError(f"this history cannot be opened ({_first_line(error)})", without_password(place)) from error


def open_to_read(place: str) -> "Store":
    """The Store at a path or URL, which refuses every change. Raises UsageError if it cannot be opened."""
    store = open_store(place, create=False)  # says what is to be installed where SQLAlchemy is missing
    from sqlalchemy import event

    store.engine.dispose()  # connections so far may write

    @event.listens_for(store.engine, "connect")
    def _refuse_changes(connection: Any, _record: object) -> None:
        if store.engine.dialect.name == "sqlite":
            connection.execute("PRAGMA query_only=ON")
        else:
            connection.read_only = True

    return store


def without_password(place: str) -> str:
    """`place` without the password that a URL may hold."""
    if "://" not in place:
        return place
    from sqlalchemy import make_url

    return make_url(place).render_as_string(hide_password=True)


def _first_line(error: Exception) -> str:
    message = str(getattr(error, "orig", None) or error)
    return (message.strip().splitlines() or [type(error).__name__])[0]


def _engine(place: str, create: bool) -> "Engine":
    from sqlalchemy import create_engine, make_url

    if "://" in place and not place.startswith("sqlite:"):
        url = make_url(place)
        if url.get_backend_name() != "postgresql":
            raise UsageError(
                "a history is a SQLite file or PostgreSQL", without_password(place), "postgresql://user@host/database"
            )
        try:
            return create_engine(url.set(drivername="postgresql+psycopg"))
        except ImportError as error:
            raise UsageError("PostgreSQL needs psycopg", without_password(place), INSTALL_POSTGRES) from error
    return _sqlite(place.removeprefix("sqlite:///"), create)


def _sqlite(place: str, create: bool) -> "Engine":
    from sqlalchemy import create_engine, event

    if place != ":memory:":
        path = Path(place).expanduser()
        if not create and not path.exists():
            raise UsageError("there is no history", str(path), "`forensics analyze --remember` starts one")
        if path.is_dir():
            raise UsageError("this is a folder", str(path), "name a file for the history, history.db")
        with files_at(path, "cannot be written"):
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                path.touch(mode=0o600)  # only its user may read what failed
        place = str(path)
    engine = create_engine(
        f"sqlite:///{place}" if place != ":memory:" else "sqlite://", connect_args={"timeout": MAX_WRITER_WAIT_S}
    )

    @event.listens_for(engine, "connect")
    def _prepare(connection: object, _record: object) -> None:
        cursor = connection.cursor()  # type: ignore[attr-defined]
        _set_wal(cursor)
        for setting in ("synchronous=NORMAL", "cache_size=-65536", "temp_store=MEMORY", CHECKPOINT):
            cursor.execute(f"PRAGMA {setting}")
        cursor.close()

    return engine


def _set_wal(cursor: Any) -> None:
    """Set the journal's mode. While another process does so SQLite refuses at once, whatever time it was told to wait."""
    import sqlite3

    end = time.monotonic() + MAX_WRITER_WAIT_S
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(WAL_RETRY_S)


def _opened(engine: "Engine", place: str, keep_names: bool) -> "Store":
    from sqlalchemy import func, inspect, select

    from forensics.history.store import METADATA, SETTINGS_TABLE, STORE_VERSION, Store, insert_new

    with engine.begin() as connection:
        if connection.dialect.name == "sqlite":  # one process at a time looks for the tables and makes them
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            connection.execute(select(func.pg_advisory_xact_lock(CREATION_LOCK)))
        if not inspect(connection).has_table(SETTINGS_TABLE.name):
            METADATA.create_all(connection)
        made = {"version": STORE_VERSION, "salt": secrets.token_bytes(SALT_BYTES), "redacted": not keep_names}
        found = connection.execute(select(SETTINGS_TABLE)).first()
        if found is None:
            connection.execute(insert_new(connection, SETTINGS_TABLE), [made])
            found = connection.execute(select(SETTINGS_TABLE)).one()
    if found.version != STORE_VERSION:
        raise UsageError(
            f"a later version wrote this history (tables {found.version})", without_password(place), "update forensics"
        )
    if keep_names and found.redacted:
        raise UsageError("this history keeps no names", without_password(place), "start another one with names kept")
    return Store(engine, place, bytes(found.salt) if found.redacted else None)
