"""What the rest of the room asks of a database.

Everything that SQLite and PostgreSQL do differently is a method of `Database`, told in sqlite.py and
postgres.py; the rest of the room is portable SQL.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from sqlalchemy import ColumnElement, Connection, Engine, FromClause, Table

from coppice.errors import StorageFailedError
from coppice.store.failures import translated
from coppice.store.words import Term

BEGIN: Final = "coppice_begin"
"""The execution option with the statement that begins a transaction, where the driver does not."""

T = TypeVar("T")
Work = Callable[[Connection], T]
"""What is done in one transaction. It may be done again, so nothing of it may last but in the database."""


@dataclass(frozen=True, slots=True)
class WordIndex:
    """The full-text index as something to join: `key` is the entry's, `matches` has a parameter `words`.

    Ordered by `order`, which is by key, a search of everything costs what it finds. With `newest` that is
    too much for a frequent word, and the newest so many keys are looked through first.
    """

    table: FromClause
    key: ColumnElement[int]
    matches: ColumnElement[Any]
    order: ColumnElement[int]
    newest: int | None = None


class Database(ABC):
    """A connection pool with transactions; every failure inside one is a `StorageFailedError`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._closed = False

    def read(self, work: Work[T]) -> T:
        """What `work` reads from one state of the store."""
        with self.reading() as connection:
            return work(connection)

    def write(self, work: Work[T]) -> T:
        """The result of `work`, which is durable; when this raises, nothing of it was stored.

        Raises:
            StorageFailedError: with `uncertain` in `data` where it is not known whether it was stored.
        """
        with self.writing() as connection:
            return work(connection)

    @abstractmethod
    def prepare(self) -> None:
        """Makes an empty database where there is none. Refuses, untouched, what is no Coppice store."""

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
        """From here to the end of the transaction nobody else changes the schema."""

    @abstractmethod
    def reserve_keys(self, connection: Connection, table: Table, count: int) -> Sequence[int]:
        """Ascending keys for `count` new rows; never one that was used before."""

    @abstractmethod
    def announce_change(self, connection: Connection) -> None:
        """Tells other servers once this is committed.

        From here to the end of the transaction nobody else makes a row of the change table.
        """

    @abstractmethod
    def changed_elsewhere(self) -> bool:
        """Whether anything may have been written since the last call; cheap, true when in doubt."""

    @abstractmethod
    def make_index(self, connection: Connection) -> None:
        """Makes the full-text index. A row of it goes when its entry is deleted."""

    @property
    @abstractmethod
    def index(self) -> WordIndex:
        """The full-text index, to be searched."""

    @abstractmethod
    def add_to_index(self, connection: Connection, rows: Sequence[tuple[int, str]]) -> None:
        """Indexes entries, each by its key and its `prepared` text."""

    @abstractmethod
    def expression(self, terms: Sequence[Term]) -> str:
        """The parameter `words` that finds what holds all `terms`."""

    @abstractmethod
    def back_up(self, version: int) -> None:
        """Copies the store, of schema `version`, to where it stays when the migration is done."""

    @abstractmethod
    def damages(self) -> list[str]:
        """What the engine's own check finds wrong, in its words; nothing where the engine has no check."""

    def close(self) -> None:
        self._closed = True
        self._engine.dispose()

    def _check_open(self) -> None:
        if self._closed:
            raise StorageFailedError("The conversation store is closed.")

    @contextmanager
    def _transaction(self, begin: str = "", isolation: str | None = None) -> Iterator[Connection]:
        self._check_open()
        options: dict[str, Any] = {BEGIN: begin}
        if isolation is not None:
            options["isolation_level"] = isolation
        with (
            translated(),
            self._engine.connect().execution_options(**options) as connection,
            connection.begin(),
        ):
            yield connection
