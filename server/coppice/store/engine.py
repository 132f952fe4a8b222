"""The one file that knows which database it speaks to.

Everything that SQLite and PostgreSQL do differently is a method of `Database`; the rest of the room is
portable SQL.
"""

import os
import sqlite3
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Engine, Table, create_engine, event, inspect, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, OperationalError

from coppice.errors import StorageFailedError
from coppice.store.failures import is_busy, translated

_BEGIN: Final = "coppice_begin"


class Database(ABC):
    """A connection pool with transactions; every failure inside one is a `StorageFailedError`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._closed = False

    @abstractmethod
    def prepare(self) -> None:
        """Makes an empty database where there is none. Refuses, untouched, what is no Coppice store."""

    @abstractmethod
    def settle(self) -> None:
        """Makes the lasting settings of a database that `prepare` and the schema's version let through."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[Connection]:
        """A transaction that sees one state of the store."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[Connection]:
        """A transaction that is durable when the block ends, or did not happen."""

    @abstractmethod
    def reserve_keys(self, connection: Connection, table: Table, count: int) -> Sequence[int]:
        """Ascending keys for `count` new rows; never one that was used before."""

    @abstractmethod
    def order_changes(self, connection: Connection) -> None:
        """From here to the end of the transaction nobody else makes a row of the change table."""

    @abstractmethod
    def changed_elsewhere(self) -> bool:
        """Whether anything may have been written since the last call; cheap, true when in doubt."""

    @abstractmethod
    def back_up(self, version: int) -> None:
        """Copies the store, of schema `version`, to where it stays when the migration is done."""

    @abstractmethod
    def damages(self) -> list[str]:
        """What the engine's own check finds wrong, in its words; nothing where the engine has no check."""

    def close(self) -> None:
        self._closed = True
        self._engine.dispose()

    @contextmanager
    def _transaction(self, begin: str = "", isolation: str | None = None) -> Iterator[Connection]:
        if self._closed:
            raise StorageFailedError("The conversation store is closed.")
        options: dict[str, Any] = {_BEGIN: begin}
        if isolation is not None:
            options["isolation_level"] = isolation
        with (
            translated(),
            self._engine.connect().execution_options(**options) as connection,
            connection.begin(),
        ):
            yield connection


def database(url: str, busy_seconds: float) -> Database:
    """The database that `url` names.

    Raises:
        StorageFailedError: the URL is none of ours, or its driver is not installed.
    """
    try:
        parsed = make_url(url)
        if parsed.drivername in ("sqlite", "sqlite+pysqlite") and parsed.database:
            return SqliteDatabase(Path(parsed.database), busy_seconds)
        if parsed.drivername == "postgresql+psycopg":
            return PostgresDatabase(parsed)
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError) as error:
        raise StorageFailedError(
            "The storage URL cannot be used. For PostgreSQL install the extra `postgres`."
        ) from error
    raise StorageFailedError("A storage URL starts with sqlite:/// or postgresql+psycopg://.")


class SqliteDatabase(Database):
    """One file in WAL mode, only its owner's to read."""

    def __init__(self, path: Path, busy_seconds: float) -> None:
        self._path = path
        self._busy_seconds = busy_seconds
        # Threads of one process queue here: SQLite's own waiting is by polling, and unfair.
        self._writer = threading.Lock()
        self._watch_lock = threading.Lock()
        self._watch: sqlite3.Connection | None = None
        self._data_version: int | None = None
        super().__init__(create_engine(URL.create("sqlite", database=str(path)), pool_size=4))
        event.listen(self._engine, "connect", self._configure)
        event.listen(self._engine, "begin", _begin)

    def _configure(self, connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None
        connection.execute(f"PRAGMA busy_timeout = {int(self._busy_seconds * 1000)}")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")

    def prepare(self) -> None:
        with translated():
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            with self._engine.connect() as connection:
                tables = inspect(connection).get_table_names()
                if tables and "coppice_schema" not in tables:
                    raise StorageFailedError(
                        "The file of the conversation store belongs to another program. Choose another one."
                    )
            # The journal and the shared-memory file get the mode of the database.
            self._path.chmod(0o600)

    def settle(self) -> None:
        """Switches to WAL, which the file remembers. A second process doing the same has to wait."""
        deadline = time.monotonic() + self._busy_seconds
        while True:
            try:
                with translated_except_busy(), self._engine.connect() as connection:
                    connection.exec_driver_sql("PRAGMA journal_mode = WAL")
                    return
            except OperationalError as error:
                if time.monotonic() > deadline:
                    with translated():
                        raise error from None
                time.sleep(0.01)

    def reading(self) -> AbstractContextManager[Connection]:
        return self._transaction("BEGIN")

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self._writer, self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    def writing(self) -> AbstractContextManager[Connection]:
        return self._writing()

    def reserve_keys(self, connection: Connection, table: Table, count: int) -> Sequence[int]:
        # The writer is alone, and AUTOINCREMENT counts explicit keys too.
        last = connection.execute(_LAST_KEY, {"name": table.name}).scalar() or 0
        return range(last + 1, last + 1 + count)

    def order_changes(self, connection: Connection) -> None:
        """A writer is alone anyway."""

    def changed_elsewhere(self) -> bool:
        with translated(), self._watch_lock:
            if self._closed:
                raise StorageFailedError("The conversation store is closed.")
            if self._watch is None:
                self._watch = sqlite3.connect(self._path, check_same_thread=False, isolation_level=None)
            version: int = self._watch.execute("PRAGMA data_version").fetchone()[0]
            changed, self._data_version = version != self._data_version, version
            return changed

    def back_up(self, version: int) -> None:
        final = self._path.with_name(f"{self._path.name}.version-{version}.backup")
        partial = final.with_name(final.name + ".partial")
        with translated():
            partial.unlink(missing_ok=True)
            os.close(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            source, copy = sqlite3.connect(self._path), sqlite3.connect(partial)
            try:
                source.backup(copy)
            finally:
                copy.close()
                source.close()
            partial.replace(final)

    def damages(self) -> list[str]:
        try:
            with self.reading() as connection:
                found = connection.exec_driver_sql("PRAGMA integrity_check(5)").scalars().all()
        except StorageFailedError as error:
            # Some damage stops the check itself.
            return [str(error)]
        return [str(line) for line in found if line != "ok"]

    def close(self) -> None:
        with self._watch_lock:
            if self._watch is not None:
                self._watch.close()
                self._watch = None
            super().close()


_LAST_KEY: Final = text("SELECT seq FROM sqlite_sequence WHERE name = :name")


def _begin(connection: Connection) -> None:
    begin = connection.get_execution_options().get(_BEGIN)
    if begin:
        connection.exec_driver_sql(begin)


@contextmanager
def translated_except_busy() -> Iterator[None]:
    """Like `translated`, but lets a lock held by another process through, to be tried again."""
    try:
        yield
    except OperationalError as error:
        if is_busy(error):
            raise
        with translated():
            raise


class PostgresDatabase(Database):
    """A server that several machines share."""

    def __init__(self, url: URL) -> None:
        super().__init__(create_engine(url, pool_pre_ping=True))

    def prepare(self) -> None:
        """Whoever made the database gave it to us."""

    def settle(self) -> None:
        """Nothing lasts beyond a connection."""

    def reading(self) -> AbstractContextManager[Connection]:
        return self._transaction(isolation="REPEATABLE READ")

    def writing(self) -> AbstractContextManager[Connection]:
        return self._transaction(isolation="READ COMMITTED")

    def reserve_keys(self, connection: Connection, table: Table, count: int) -> Sequence[int]:
        keys = connection.execute(_NEXT_KEYS, {"name": table.name, "count": count}).scalars()
        return sorted(keys)

    def order_changes(self, connection: Connection) -> None:
        connection.execute(_CHANGE_LOCK)

    def changed_elsewhere(self) -> bool:
        return True

    def back_up(self, version: int) -> None:
        """A server is backed up by whoever runs it; the migration itself is one transaction."""

    def damages(self) -> list[str]:
        return []


_NEXT_KEYS: Final = text(
    "SELECT nextval(pg_get_serial_sequence(:name, 'key')) FROM generate_series(1, :count)"
)
# Keys are given when a row is made but seen when it is committed; a reader that goes by keys would miss
# the later commit of the smaller one.
_CHANGE_LOCK: Final = text("SELECT pg_advisory_xact_lock(hashtext('coppice.change'))")
