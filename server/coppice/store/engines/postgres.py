"""PostgreSQL: a server that several machines share."""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Integer,
    bindparam,
    create_engine,
    event,
    func,
    inspect,
    select,
    text,
)
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from typing_extensions import override

from coppice.errors import StorageFailedError
from coppice.store.engines.engine import Database, T, Work
from coppice.store.schema.entry_json import storable
from coppice.store.schema.errors import is_conflict, is_lost_connection, is_unknown_transaction, translated
from coppice.store.schema.tables import (
    CONVERSATION,
    ENTRY_TABLE,
    METADATA,
    UNINDEXED,
    UNINDEXED_INDEX,
    VERSION_TABLE,
)
from coppice.store.words.word_index import POSTGRES_INDEX, POSTGRES_PIECES

CHANNEL: Final = "coppice_change"
_RETRY_SECONDS: Final = 1.0  # seconds between two attempts to listen; one that is refused takes 0.4 ms

_LOG: Final = logging.getLogger(__name__)
_OLDEST: Final = (13,)
_CONNECTIONS: Final = 4  # connections a server keeps: one for each thread that writes
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 1.0
# A peer that is gone is noticed within half a minute on either side. The URL can set other values.
_CONNECTION: Final = {
    "application_name": "coppice",
    "connect_timeout": 10,
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
_IDLE_IN_TRANSACTION: Final = "60s"
_SECRETS: Final = ("password", "sslpassword")


class Listener:
    """A connection of its own that is looked at now and then, without asking the server anything."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._connection: Any = None
        self._next_try = 0.0
        self._closed = False

    def poll(self) -> bool:
        """Whether a change was announced since the last call, or an announcement may have been missed."""
        with self._lock:
            if self._closed:
                return False
            if self._connection is None:
                self._listen()
                return True
            try:
                server = self._connection.pgconn
                server.consume_input()
                notified = False
                while server.notifies() is not None:
                    notified = True
            except self._engine.dialect.loaded_dbapi.Error:
                self._hang_up()
                return True
            return notified

    def close(self) -> None:
        """Ends the listening connection; later polls report no change."""
        with self._lock:
            self._closed = True
            self._hang_up()

    def _listen(self) -> None:
        if time.monotonic() < self._next_try:
            return
        self._next_try = time.monotonic() + _RETRY_SECONDS
        try:
            taken = self._engine.raw_connection()
            connection: Any = taken.driver_connection
            taken.detach()
        except (SQLAlchemyError, self._engine.dialect.loaded_dbapi.Error):
            # The next read of the store raises the error.
            return
        try:
            connection.autocommit = True
            connection.execute(f"LISTEN {CHANNEL}")
        except self._engine.dialect.loaded_dbapi.Error:
            connection.close()
        else:
            self._connection = connection

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class PostgresDatabase(Database):
    """Repeats reads when the connection is lost, and writes when it is certain that nothing was stored.

    If a commit was not answered, the server is asked for the outcome of the transaction by its number.
    """

    index = POSTGRES_INDEX
    pieces = POSTGRES_PIECES
    next_keys: ColumnElement[Any] = (
        select(func.array_agg(func.nextval(func.pg_get_serial_sequence(ENTRY_TABLE.name, "key"))))
        .select_from(func.generate_series(1, bindparam("count", type_=Integer)))
        .scalar_subquery()
    )

    def __init__(self, url: URL, busy_seconds: float) -> None:
        # SQLAlchemy would show them in its printed form of the URL's query.
        hidden = {name: url.query[name] for name in _SECRETS if name in url.query}
        given = {name: value for name, value in _CONNECTION.items() if name not in url.query}
        super().__init__(
            create_engine(
                url.difference_update_query(_SECRETS),
                connect_args=given | hidden,
                pool_pre_ping=True,
                pool_size=_CONNECTIONS,
                max_overflow=_CONNECTIONS,
                hide_parameters=True,
            )
        )
        self._busy_seconds = busy_seconds
        self._search_path: str | None = None
        self._listener = Listener(self._engine)
        event.listen(self._engine, "connect", self._configure)
        event.listen(self._engine, "checkin", self._hang_up_if_closed)

    def _configure(self, connection: Any, _record: object) -> None:
        """Just-in-time compilation takes longer than any of our statements; the rest bounds waiting.

        A server may be set to answer commits before they are on disk; what we acknowledge is.
        """
        values = (f"{int(self._busy_seconds * 1000)}ms", _IDLE_IN_TRANSACTION, self._search_path)
        connection.execute(_CONFIGURE, values)
        connection.commit()

    def _hang_up_if_closed(self, connection: Any, _record: object) -> None:
        """A thread may still be at work when the store is closed; nobody takes its connection after it."""
        if self._closed and connection is not None:
            connection.close()

    def prepare(self, version: int) -> None:
        """The server has made the database; `migrate` makes the tables.

        From here on the search path is one schema: whoever may make another that comes before it would
        be written to.
        """
        del version
        with self.reading() as connection:
            server = connection.dialect.server_version_info or _OLDEST
            schemas = connection.execute(_SCHEMAS, {"table": VERSION_TABLE.name}).scalars().all()
            if len(schemas) > 1:
                raise StorageFailedError(
                    f"Several schemas of the search path have a table {VERSION_TABLE.name}: "
                    f"{', '.join(schemas)}. Name the one of the store in the URL (options=-csearch_path%3D…)."
                )
            self._search_path = schemas[0] if schemas else connection.execute(_FIRST_SCHEMA).scalar()
            connection.execute(_SET_SEARCH_PATH, {"path": self._search_path})
            names = set(inspect(connection).get_table_names())
        if server < _OLDEST:
            raise StorageFailedError("The database server is too old: PostgreSQL 13 or newer is needed.")
        if VERSION_TABLE.name not in names and names & set(METADATA.tables):
            raise StorageFailedError(
                "The database holds tables of another program. Choose another database or schema."
            )

    def settle(self) -> None:
        """Nothing lasts beyond a connection."""

    @override
    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with translated(), self._connected("REPEATABLE READ") as connection, connection.begin():
            yield connection

    @override
    @contextmanager
    def writing(self) -> Iterator[Connection]:
        with translated(), self._connected("READ COMMITTED") as connection, connection.begin():
            yield connection

    @override
    def _read(self, work: Work[T]) -> T:
        def attempt() -> T:
            with self._connected("REPEATABLE READ") as connection:
                return work(connection)

        return self._patiently(attempt)

    @override
    def _write(self, work: Work[T]) -> T:
        def attempt() -> T:
            with self._connected("READ COMMITTED") as connection:
                self._check_version(connection)
                result = work(connection)
                transaction = connection.execute(_TRANSACTION).scalar()
                try:
                    connection.commit()
                except DBAPIError as error:
                    if not is_lost_connection(error) or not self._was_committed(transaction):
                        raise
                return result

        return self._patiently(attempt)

    def _was_committed(self, transaction: str | None) -> bool:
        if transaction is None:
            # It wrote nothing.
            return True

        def attempt() -> bool:
            try:
                with self._connected("READ COMMITTED") as connection:
                    status = connection.execute(_STATUS, {"transaction": transaction}).scalar()
            except SQLAlchemyError as error:
                if is_unknown_transaction(error):
                    # A crash forgets the numbers of transactions of which nothing had reached the disk.
                    return False
                raise
            if status not in ("committed", "aborted"):
                raise _UndecidedError
            return bool(status == "committed")

        try:
            return self._patiently(attempt)
        except (StorageFailedError, _UndecidedError) as error:
            raise StorageFailedError(
                "The connection to the database server was lost while a change was being stored, and it is "
                "not known whether it was. Read the conversation again; sending the same entries again "
                "under the same ids stores none of them twice.",
                uncertain=True,
            ) from error

    def _patiently(self, attempt: Callable[[], T]) -> T:
        """What `attempt` returns, tried again while a lost connection may come back and after a conflict."""
        deadline, pause = time.monotonic() + self._busy_seconds, _FIRST_PAUSE
        while True:
            try:
                return attempt()
            except (SQLAlchemyError, _UndecidedError) as error:
                worth_it = (
                    is_conflict(error) or is_lost_connection(error) or isinstance(error, _UndecidedError)
                )
                if not worth_it or time.monotonic() > deadline:
                    with translated():
                        raise
                _LOG.debug("trying again: %s", type(error).__name__)
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    @contextmanager
    def _connected(self, isolation: str) -> Iterator[Connection]:
        self._check_open()
        with self._engine.connect().execution_options(isolation_level=isolation) as connection:
            yield connection

    @override
    def order_migrations(self, connection: Connection) -> None:
        connection.execute(_MIGRATION_LOCK)

    @override
    def lock_conversation(self, connection: Connection, conversation_id: str) -> None:
        # A statement of its own: what another one reads of other tables is from before it waited.
        connection.execute(_CONVERSATION_LOCK, {"id": storable(conversation_id)})

    @override
    def keys(self, next_keys: list[int] | None, count: int) -> Sequence[int]:
        return sorted(next_keys or ())

    @override
    def announce_change(self, connection: Connection) -> None:
        connection.execute(_ANNOUNCE)

    @override
    def changed_elsewhere(self) -> bool:
        self._check_open()
        return self._listener.poll()

    def back_up(self, version: int) -> None:
        """A server is backed up by whoever runs it; the migration itself is one transaction."""

    @override
    def damages(self) -> list[str]:
        return []

    @override
    def close(self) -> None:
        self._listener.close()
        super().close()


class _UndecidedError(Exception):
    """The server does not know yet how a transaction ended."""


_CONFIGURE: Final = (
    "SELECT set_config('jit', 'off', false), set_config('lock_timeout', %s, false), "
    "set_config('idle_in_transaction_session_timeout', %s, false), "
    "set_config('search_path', coalesce(%s, current_setting('search_path')), false), "
    "set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit') = 'off' "
    "THEN 'on' ELSE current_setting('synchronous_commit') END, false)"
)
UNINDEXED_INDEX.dialect_options["postgresql"]["where"] = UNINDEXED
_CONVERSATION_LOCK: Final = (
    select(CONVERSATION.c.key).where(CONVERSATION.c.id == bindparam("id")).with_for_update()
)
# Names are quoted as the search path wants them.
_SCHEMAS: Final = text(
    "SELECT quote_ident(nspname) FROM pg_namespace JOIN pg_class ON relnamespace = pg_namespace.oid "
    "WHERE relname = :table AND nspname = ANY(current_schemas(false)) ORDER BY 1"
)
_FIRST_SCHEMA: Final = text("SELECT coalesce(quote_ident(current_schema()), current_setting('search_path'))")
_SET_SEARCH_PATH: Final = text("SELECT set_config('search_path', :path, false)")
_TRANSACTION: Final = text("SELECT CAST(pg_current_xact_id_if_assigned() AS text)")
_STATUS: Final = text("SELECT pg_xact_status(CAST(:transaction AS xid8))")
# The locks are known by "copp" in ASCII and a number.
_MIGRATION_LOCK: Final = text("SELECT pg_advisory_xact_lock(1668247664, 1)")
# Keys are given when a row is made but seen when it is committed; a reader that goes by keys would miss
# the later commit of the smaller one.
_ANNOUNCE: Final = text(f"SELECT pg_advisory_xact_lock(1668247664, 2), pg_notify('{CHANNEL}', '')")
