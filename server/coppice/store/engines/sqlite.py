"""SQLite: a file for each workspace, the default."""

import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from sqlalchemy import ColumnElement, Connection, create_engine, inspect, literal_column
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import QueuePool
from typing_extensions import override

from coppice.errors import StorageFailedError
from coppice.store.engines.checkpoints import Checkpoints
from coppice.store.engines.disk_reserve import DiskReserve
from coppice.store.engines.engine import Database, T, Work
from coppice.store.engines.sqlite_file import DatabaseFile
from coppice.store.engines.writer_queue import WriterQueue
from coppice.store.schema.errors import LOCKED, is_busy, is_full, translated
from coppice.store.words.word_index import SQLITE_INDEX, SQLITE_PIECES


class SqliteDatabase(Database):
    """One file in WAL mode, only its owner's to read."""

    index = SQLITE_INDEX
    pieces = SQLITE_PIECES
    next_keys: ColumnElement[Any] = literal_column("(SELECT seq FROM sqlite_sequence WHERE name = 'entry')")

    def __init__(self, path: Path, busy_seconds: float) -> None:
        self._file = DatabaseFile(path, busy_seconds)
        self._reserve = DiskReserve(path.parent)
        self._checkpoints = Checkpoints(self._checkpoint_what_can_be)
        # SQLite waits for readers and writers, but not for another checkpoint.
        self._checkpointing = threading.Lock()
        self._busy_seconds = busy_seconds
        # Threads of one process queue here, and processes in the queue.
        self._writer = threading.Lock()
        self._queue = WriterQueue(path)
        self._moved_on = 0.0
        self._watch_lock = threading.Lock()
        self._watch: sqlite3.Connection | None = None
        self._data_version: int | None = None
        super().__init__(
            create_engine(
                "sqlite://",
                creator=self._connect,
                poolclass=QueuePool,
                pool_size=_CONNECTIONS,
                max_overflow=-1,
                # Each connection has pages and statements of its own in memory: the others stay empty.
                pool_use_lifo=True,
                hide_parameters=True,
            )
        )

    @override
    def prepare(self, version: int) -> None:
        def fill(path: Path) -> None:
            new = SqliteDatabase(path, self._busy_seconds)
            try:
                new.fill(version)
            finally:
                new.close()

        with translated():
            if not self._file.path.exists():
                self._file.create(fill)
            self._file.open()
            self._reserve.keep()
            with self._engine.connect() as connection:
                tables = inspect(connection).get_table_names()
                if tables and "coppice_schema" not in tables:
                    raise StorageFailedError(
                        "The file of the conversation store belongs to another program. Choose another one."
                    )

    def _connect(self) -> sqlite3.Connection:
        """A connection that has read. On a full disk its shared memory takes from what is reserved."""
        try:
            return self._file.connect()
        except sqlite3.Error as error:
            if not is_full(error):
                raise
        self._reserve.lend()
        return self._file.connect()

    def fill(self, version: int) -> None:
        """Makes the schema in an empty file, which nobody else knows yet."""
        self._file.adopt()
        with translated(), self._engine.connect() as connection:
            # Can only be chosen while the file is empty; lets `shrink` shorten it.
            connection.exec_driver_sql("PRAGMA auto_vacuum = INCREMENTAL")
        self.settle()
        with self._transaction(partial(self._begin_writing, 0.0)) as connection:
            self.make_schema(connection, version)

    def settle(self) -> None:
        """Switches to WAL, which the file remembers. A second process doing the same has to wait."""
        deadline = time.monotonic() + self._busy_seconds
        with translated():
            while True:
                try:
                    with self._engine.connect() as connection:
                        connection.exec_driver_sql("PRAGMA journal_mode = WAL")
                        return
                except OperationalError as error:
                    if not is_busy(error) or time.monotonic() > deadline:
                        raise
                time.sleep(0.01)

    @contextmanager
    def _transaction(self, begin: Callable[[Connection], object]) -> Iterator[Connection]:
        self._check_open()
        with translated(), self._engine.connect() as connection, connection.begin():
            # SQLAlchemy leaves it to the driver to begin, which is set not to.
            begin(connection)
            yield connection

    @override
    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with self._transaction(_begin_reading) as connection:
            yield connection
            # A commit fails once damage was met, though nothing was written.
            connection.rollback()

    @override
    @contextmanager
    def writing(self) -> Iterator[Connection]:
        self._check_open()
        began = time.monotonic()
        while not self._writer.acquire(timeout=max(0.0, self._seconds_left(began))):
            if self._seconds_left(began) <= 0:
                raise StorageFailedError(LOCKED)
        try:
            with translated():
                self._file.check()
            with self._transaction(partial(self._begin_writing, began)) as connection:
                self._check_version(connection)
                yield connection
            self._moved_on = time.monotonic()
            with translated():
                self._file.check(uncertain=True)
            self._checkpoints.note()
        finally:
            self._writer.release()

    def _begin_writing(self, began: float, connection: Connection) -> None:
        """Takes the lock of the writer, at once or in turn: of those that wait, one process asks for it.

        Its turn ends when it has the lock, so that the next is awake and asks when the lock is free again.
        """
        if self._has_begun(connection):
            return
        seconds_left = self._watching(connection, began)
        with self._queue.turn(seconds_left) as is_alone:
            longest = _LONGEST_PAUSE_ALONE if is_alone else _LONGEST_PAUSE
            pause = _FIRST_PAUSE
            while not self._has_begun(connection):
                if seconds_left() <= 0:
                    raise StorageFailedError(LOCKED)
                time.sleep(pause * _RANDOM.uniform(0.2, 1))
                pause = min(2 * pause, longest)

    def _seconds_left(self, began: float) -> float:
        """How long a writer that waits since `began` goes on: others may be many, but not stop."""
        last = max(began, self._moved_on)
        longest = max(self._busy_seconds, _LONGEST_WAIT)
        return min(last + self._busy_seconds, began + longest) - time.monotonic()

    def _watching(self, connection: Connection, began: float) -> Callable[[], float]:
        """`_seconds_left`, which looks whether others have written since the last call."""
        seen = self._current_data_version(connection)

        def seconds_left() -> float:
            nonlocal seen
            if (version := self._current_data_version(connection)) != seen:
                seen, self._moved_on = version, time.monotonic()
            return self._seconds_left(began)

        return seconds_left

    def _has_begun(self, connection: Connection) -> bool:
        """Begins to write; false where another one does.

        SQLite's own waiting tries ten times a second in the end, so that of many waiting processes some never
        meet the moment in which the lock is free.
        """
        return self._at_once(connection, "BEGIN IMMEDIATE") is not None

    def _current_data_version(self, connection: Connection) -> int | None:
        """A number that changes when others write; None where their lock keeps readers out."""
        rows = self._at_once(connection, "PRAGMA data_version")
        return rows[0][0] if rows else None

    def _at_once(self, connection: Connection, statement: str) -> list[Any] | None:
        """The rows of a statement; None where it would have to wait for a lock."""
        _wait_for_locks(connection, 0)
        try:
            return _driver(connection).execute(statement).fetchall()
        except sqlite3.OperationalError as error:
            if not is_busy(error):
                raise
            return None
        finally:
            _wait_for_locks(connection, self._busy_seconds)

    @override
    def _schema_version(self, connection: Connection) -> int | None:
        # A writer is alone. SQLAlchemy would take as long as for the entry.
        row = _driver(connection).execute("SELECT version FROM coppice_schema").fetchone()
        return None if row is None else row[0]

    @override
    def _write(self, work: Work[T]) -> T:
        return self._write_with_room(work, self.await_space)

    @override
    def write_deletion(self, work: Work[T]) -> T:
        return self._write_with_room(work, self._give_up_reserve)

    def _write_with_room(self, work: Work[T], make_room: Callable[[], None]) -> T:
        """Writes once more after `make_room` where the disk is full."""
        try:
            return super()._write(work)
        except StorageFailedError as error:
            if not is_full(error):
                raise
        make_room()
        return super()._write(work)

    def _checkpoint_what_can_be(self) -> None:
        """Moves of the WAL into the database what no reader still needs there; writers go on meanwhile.

        The connection is its own: it closes where the store rests.
        """
        with self._checkpointing, translated(), closing(self._file.connect()) as connection:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def _give_up_reserve(self) -> None:
        self._reserve.give_up()
        self._checkpoint(self._busy_seconds)

    @override
    def shrink(self, stop: Callable[[], bool]) -> bool:
        while not stop() and self._vacuum_some():
            time.sleep(_VACUUM_PAUSE)
        give_up = time.monotonic() + self._busy_seconds
        while not (is_cut := self._checkpoint(_CHECKPOINT_SECONDS)):
            if stop() or time.monotonic() > give_up:
                break
            time.sleep(_CHECKPOINT_SECONDS)
        self._reserve.keep()
        return is_cut

    def _vacuum_some(self) -> bool:
        """Gives some free pages back; false when there are none, or the file was made without that."""
        with translated(), self._engine.connect() as connection:
            before = _free_pages(connection)
            # A row for each page: `execute` would stop after the first.
            _driver(connection).executescript(f"PRAGMA incremental_vacuum({_VACUUM_PAGES})")
            return _free_pages(connection) < before

    def _checkpoint(self, seconds: float) -> bool:
        """Moves the WAL into the database and cuts it; false when others prevent that for `seconds`.

        Nobody can write meanwhile (https://www.sqlite.org/pragma.html#pragma_wal_checkpoint).
        """
        with self._checkpointing, translated(), self._engine.connect() as connection:
            _wait_for_locks(connection, seconds)
            try:
                busy: int = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()[0]
            finally:
                _wait_for_locks(connection, self._busy_seconds)
        return busy == 0

    def lock_conversation(self, connection: Connection, conversation_id: str) -> None:
        """A writer is alone anyway."""

    @override
    def keys(self, next_keys: int | None, count: int) -> Sequence[int]:
        # The writer is alone, and AUTOINCREMENT counts explicit keys too.
        last = next_keys or 0
        return range(last + 1, last + 1 + count)

    def order_migrations(self, connection: Connection) -> None:
        """A writer is alone anyway."""

    def announce_change(self, connection: Connection) -> None:
        """`PRAGMA data_version` changes by itself."""

    @override
    def changed_elsewhere(self) -> bool:
        with translated(), self._watch_lock:
            self._check_open()
            if self._watch is None:
                self._watch = self._connect()
            version: int = self._watch.execute("PRAGMA data_version").fetchone()[0]
            changed, self._data_version = version != self._data_version, version
            return changed

    @override
    def back_up(self, version: int) -> None:
        path = self._file.path
        with translated():
            self._file.copy_to(path.with_name(f"{path.name}.version-{version}.backup"))

    @override
    def damages(self) -> list[str]:
        try:
            with self.reading() as connection:
                lines = connection.exec_driver_sql("PRAGMA integrity_check(5)").scalars().all()
        except StorageFailedError as error:
            # Some damage stops the check itself.
            return [str(error)]
        return [str(line) for line in lines if line != "ok"]

    def rest(self) -> None:
        """Closes the connections that are not in use; the next call opens them again."""
        self._checkpoints.forget()
        with self._watch_lock:
            if self._watch is not None:
                self._watch.close()
                self._watch = None
        super().rest()

    @override
    def close(self) -> None:
        self._checkpoints.stop()
        super().close()
        self.rest()


_CONNECTIONS: Final = 4
"""Connections that stay open while nothing is asked; workers.py limits how many there are at once. With the
one that looks for changes they have the eleven descriptors core/stores.py counts; one opens in 0.3 ms."""


_VACUUM_PAGES: Final = 500
"""The most pages that one transaction gives back: 2 MB, a few milliseconds."""

_VACUUM_PAUSE: Final = 0.005
"""Seconds in which others may write."""


_CHECKPOINT_SECONDS: Final = 0.1
"""How long writers wait for each try to cut the WAL after a purge, and may write before the next.

A person takes what comes within 0.1 s for immediate (Nielsen, Usability Engineering, 1993, 5.5).
"""


_LONGEST_WAIT: Final = 60.0
"""Seconds that a writer waits for others at most, while they write one after the other: 64 of them, each of
which takes the 0.1 s of a slow disk, are done in 7 s, and a person has given up after a minute."""

_FIRST_PAUSE: Final = 0.002  # seconds: below the 2.7 ms of a write among several processes (docs/adr/0001)
_LONGEST_PAUSE: Final = 0.05
"""Seconds between two tries of a writer, of which a random share is taken: as long as eight writes take where
24 processes poll, 6.1 ms each (docs/adr/0001-store.md)."""
_LONGEST_PAUSE_ALONE: Final = 0.005
"""The same where no other process tries: 400 tries a second use 0.01 of a processor."""
_RANDOM: Final = random.Random()  # noqa: S311 - spreads out tries


def _begin_reading(connection: Connection) -> None:
    _driver(connection).execute("BEGIN")


def _driver(connection: Connection) -> sqlite3.Connection:
    driver: Any = connection.connection.driver_connection
    return cast("sqlite3.Connection", driver)


def _wait_for_locks(connection: Connection, seconds: float) -> None:
    _driver(connection).execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")


def _free_pages(connection: Connection) -> int:
    return int(connection.exec_driver_sql("PRAGMA freelist_count").scalar_one())
