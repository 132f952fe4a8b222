"""Brings a store to the schema of this version of Coppice.

A new store is made from schema.py at once. An older one goes through the numbered steps that it lacks,
all in one transaction, after a backup copy: either it is of the new version, or it is as it was.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, inspect, select, text, update

from coppice.errors import StorageFailedError, StoreDamagedError
from coppice.store.engines.engine import Database
from coppice.store.schema.errors import DAMAGED
from coppice.store.schema.tables import VERSION_TABLE


@dataclass(frozen=True, slots=True)
class Migration:
    """Takes a store from version `number - 1` to `number`."""

    number: int
    upgrade: Callable[[Database, Connection], None]


def _add_full_text_index(database: Database, connection: Connection) -> None:
    """Creates it empty: no conversation is indexed, and the indexer adds them as after an import."""
    for column in ("indexed_count", "indexed_key"):
        connection.execute(text(f"ALTER TABLE conversation ADD COLUMN {column} bigint NOT NULL DEFAULT 0"))
    connection.execute(
        text(
            "CREATE INDEX conversation_behind_index ON conversation (key) "
            "WHERE id IS NOT NULL AND entry_count > indexed_count"
        )
    )
    database.index.make(connection)


def _add_running_turns(_: Database, connection: Connection) -> None:
    for column in ("turn_holder text", "turn_seen bigint", "turn_stop boolean"):
        connection.execute(text(f"ALTER TABLE conversation ADD COLUMN {column}"))


def _add_index_of_pieces(database: Database, connection: Connection) -> None:
    """Creates it empty, and the other index again: both are filled in one reading of an entry."""
    for statement in database.index.removal:
        connection.execute(text(statement))
    database.index.make(connection)
    database.pieces.make(connection)
    connection.execute(text("UPDATE conversation SET indexed_count = 0, indexed_key = 0"))


def _add_savings(_: Database, connection: Connection) -> None:
    for column in ("saved_tokenizer", "saved_estimate"):
        connection.execute(text(f"ALTER TABLE entry ADD COLUMN {column} bigint NOT NULL DEFAULT 0"))


def _add_chosen_models(_: Database, connection: Connection) -> None:
    for column in ("model", "thinking_level"):
        connection.execute(text(f"ALTER TABLE conversation ADD COLUMN {column} text"))


FIRST_VERSION: Final = 1  # of the schema
MIGRATIONS: Final[tuple[Migration, ...]] = (
    Migration(2, _add_full_text_index),
    Migration(3, _add_running_turns),
    Migration(4, _add_index_of_pieces),
    Migration(5, _add_savings),
    Migration(6, _add_chosen_models),
)


def migrate(database: Database, steps: Sequence[Migration] = MIGRATIONS) -> None:
    """Makes or upgrades the store.

    Raises:
        StorageFailedError: the store is newer than this Coppice, is no store, or a step failed; it is
            as it was.
        StoreDamagedError: its version is none.
    """
    newest = steps[-1].number if steps else FIRST_VERSION
    database.prepare(newest)
    with database.reading() as connection:
        version = _version(connection)
    if version is not None and version > newest:
        raise StorageFailedError(
            f"The conversation store was written by a newer Coppice (schema {version}, not {newest}). "
            "Update Coppice.",
            found=version,
            known=newest,
        )
    database.settle()
    if version != newest:
        _upgrade(database, steps, newest)
    database.keep_to(newest)


def _upgrade(database: Database, steps: Sequence[Migration], newest: int) -> None:
    with database.writing() as connection:
        database.order_migrations(connection)
        # Another process may have been faster.
        version = _version(connection, lock=True)
        if version is None:
            database.make_schema(connection, newest)
        elif version < newest:
            database.back_up(version)
            for step in steps:
                if step.number > version:
                    step.upgrade(database, connection)
            connection.execute(update(VERSION_TABLE), {"version": newest})


def _version(connection: Connection, *, lock: bool = False) -> int | None:
    """With `lock`, writers are waited for, and there are no others until the transaction ends."""
    if not inspect(connection).has_table(VERSION_TABLE.name):
        return None
    select_version = select(VERSION_TABLE.c.version)
    version = connection.execute(select_version.with_for_update() if lock else select_version).scalar()
    # SQLite keeps any value in any column.
    if not isinstance(version, int) or version < FIRST_VERSION:
        raise StoreDamagedError(DAMAGED)
    return version
