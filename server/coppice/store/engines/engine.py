"""The interface of a database to the rest of the package.

Everything that SQLite and PostgreSQL do differently is a method of `Database`, implemented in sqlite.py
and postgres.py, or a part of its `index`; the rest of the package is portable SQL.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final, TypeVar

from sqlalchemy import ColumnElement, Connection, Engine, insert, select

from coppice.errors import StorageFailedError
from coppice.store.schema.tables import METADATA, VERSION_TABLE
from coppice.store.words.word_index import WordIndex

T = TypeVar("T")
Work = Callable[[Connection], T]
"""What is done in one transaction. It may be done again, so nothing of it may last but in the database."""


class Database(ABC):
    """A connection pool with transactions; every failure inside one is a `StorageFailedError`."""

    index: WordIndex
    pieces: WordIndex
    next_keys: ColumnElement[Any]
    """Reserves keys for as many new entries as the parameter `count` says, for this transaction."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._closed = False
        self._version: int | None = None
        self._joint = threading.local()
        self.await_space: Callable[[], None] = lambda: None
        """Called when the disk is full, before a write is tried once more."""

    def keep_to(self, version: int) -> None:
        """Refuses writes from now on while the schema is not of this version: another Coppice changed it."""
        self._version = version

    def read(self, work: Work[T]) -> T:
        """What `work` reads from one state of the store."""
        joint = self._joint_connection
        return self._read(work) if joint is None else work(joint)

    def write(self, work: Work[T]) -> T:
        """The result of `work`, which is durable; when this raises, nothing of it was stored.

        Raises:
            StorageFailedError: with `uncertain` in `data` where it is not known whether it was stored.
        """
        joint = self._joint_connection
        if joint is None:
            return self._write(work)
        with joint.begin_nested():
            return work(joint)

    @property
    def is_together(self) -> bool:
        """Whether what this thread reads may not be stored in the end: it is within `together`."""
        return self._joint_connection is not None

    @property
    def _joint_connection(self) -> Connection | None:
        connection: Connection | None = getattr(self._joint, "connection", None)
        return connection

    @contextmanager
    def together(self) -> Iterator[None]:
        """What this thread writes in the block is one transaction, durable when it ends.

        Other writers wait meanwhile. Raises StorageFailedError where nothing of all of it was stored.
        """
        with self.writing() as connection:
            self._joint.connection = connection
            try:
                yield
            finally:
                self._joint.connection = None

    def _read(self, work: Work[T]) -> T:
        with self.reading() as connection:
            return work(connection)

    def _write(self, work: Work[T]) -> T:
        with self.writing() as connection:
            return work(connection)

    def write_deletion(self, work: Work[T]) -> T:
        """Like `write`, for work that frees space: it may use what is reserved for a full disk."""
        return self.write(work)

    def shrink(self, stop: Callable[[], bool]) -> bool:  # noqa: ARG002 - a server does it by itself
        """Gives the space of what was deleted back to the disk, in short steps until `stop()`. Whether there
        is nothing left of it to give back; a database server does that in its own time.
        """
        return True

    @abstractmethod
    def prepare(self, version: int) -> None:
        """Makes the file where there is none, with a schema of `version`; on a server `migrate` makes it.

        Refuses, untouched, what is no Coppice store.
        """

    def make_schema(self, connection: Connection, version: int) -> None:
        """Makes the tables in an empty database."""
        METADATA.create_all(connection)
        self.index.make(connection)
        self.pieces.make(connection)
        connection.execute(insert(VERSION_TABLE), {"version": version})

    @abstractmethod
    def settle(self) -> None:
        """Makes the lasting settings of a database that `prepare` and the schema's version let through."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[Connection]:
        """A transaction that sees one state of the store. Tried once."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[Connection]:
        """A transaction that is durable when the block ends, or did not happen. Tried once."""

    @abstractmethod
    def order_migrations(self, connection: Connection) -> None:
        """Until the end of the transaction no other one can change the schema."""

    @abstractmethod
    def lock_conversation(self, connection: Connection, conversation_id: str) -> None:
        """Until the end of the transaction no other one writes to the conversation, if there is one."""

    @abstractmethod
    def keys(self, next_keys: Any, count: int) -> Sequence[int]:
        """Ascending keys for `count` new entries, from the value of `next_keys`; none was used before."""

    @abstractmethod
    def announce_change(self, connection: Connection) -> None:
        """Notifies other servers when this transaction is committed.

        Until the end of the transaction no other one can insert into the change table.
        """

    @abstractmethod
    def changed_elsewhere(self) -> bool:
        """Whether anything may have been written since the last call; cheap, true when in doubt."""

    @abstractmethod
    def back_up(self, version: int) -> None:
        """Copies the store, of schema `version`, to where it stays when the migration is done."""

    @abstractmethod
    def damages(self) -> list[str]:
        """What the engine's own check finds wrong, in its words; nothing where the engine has no check."""

    def rest(self) -> None:
        """Closes the connections that are not in use; the next call opens them again."""
        self._engine.dispose()

    def close(self) -> None:
        """Any later call raises `StorageFailedError`."""
        self._closed = True
        self._engine.dispose()

    def _check_open(self) -> None:
        if self._closed:
            raise StorageFailedError("The conversation store is closed.")

    def _check_version(self, connection: Connection) -> None:
        """To be called first in each transaction that writes; the schema stays as it is until its end."""
        if self._version is None:
            return
        version = self._schema_version(connection)
        if version != self._version:
            raise StorageFailedError(
                f"Another Coppice changed the conversation store while it was open (schema {version}, not "
                f"{self._version}). Update Coppice and restart the server; in VS Code, reload the window.",
                found=version,
                known=self._version,
            )

    def _schema_version(self, connection: Connection) -> int | None:
        """As the transaction sees it. Migrations change the row, which is locked."""
        return connection.execute(_VERSION).scalar()


_VERSION: Final = select(VERSION_TABLE.c.version).with_for_update(read=True)
