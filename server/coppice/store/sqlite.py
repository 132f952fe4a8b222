"""SQLite: a file for each workspace, the default."""

import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Table, bindparam, column, create_engine, event, inspect, table, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import OperationalError

from coppice.errors import StorageFailedError
from coppice.store.engine import BEGIN, Database, WordIndex
from coppice.store.failures import is_busy, translated
from coppice.store.words import Term


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
        super().__init__(
            create_engine(URL.create("sqlite", database=str(path)), pool_size=4, hide_parameters=True)
        )
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

    def order_migrations(self, connection: Connection) -> None:
        """A writer is alone anyway."""

    def announce_change(self, connection: Connection) -> None:
        """`PRAGMA data_version` tells by itself."""

    def changed_elsewhere(self) -> bool:
        with translated(), self._watch_lock:
            self._check_open()
            if self._watch is None:
                self._watch = sqlite3.connect(self._path, check_same_thread=False, isolation_level=None)
            version: int = self._watch.execute("PRAGMA data_version").fetchone()[0]
            changed, self._data_version = version != self._data_version, version
            return changed

    def make_index(self, connection: Connection) -> None:
        for statement in _INDEX_DDL:
            connection.exec_driver_sql(statement)

    @property
    def index(self) -> WordIndex:
        return _INDEX

    def add_to_index(self, connection: Connection, rows: Sequence[tuple[int, str]]) -> None:
        connection.execute(_ADD_TO_INDEX, [{"key": key, "words": words} for key, words in rows])

    def expression(self, terms: Sequence[Term]) -> str:
        """In FTS5's language, where what stands in double quotes is text whatever it is."""
        return " AND ".join(f'"{" ".join(term.words)}"{" *" if term.prefix else ""}' for term in terms)

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


_WORDS: Final = table("entry_words", column("rowid"), column("words"))
_INDEX: Final = WordIndex(_WORDS, _WORDS.c.rowid, _WORDS.c.words.match(bindparam("words")), _WORDS.c.rowid)
_ADD_TO_INDEX: Final = text("INSERT INTO entry_words (rowid, words) VALUES (:key, :words)")
_INDEX_DDL: Final = (
    """
    CREATE VIRTUAL TABLE entry_words
    USING fts5(words, tokenize = 'unicode61 remove_diacritics 2', columnsize = 0)
    """,
    """
    CREATE TRIGGER entry_words_deleted AFTER DELETE ON entry
    BEGIN DELETE FROM entry_words WHERE rowid = old.key; END
    """,
)
_LAST_KEY: Final = text("SELECT seq FROM sqlite_sequence WHERE name = :name")


def _begin(connection: Connection) -> None:
    begin = connection.get_execution_options().get(BEGIN)
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
