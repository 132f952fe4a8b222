"""Brings a store to the schema of this version of Coppice.

A new store is made from schema.py at once. An older one goes through the numbered steps that it lacks,
all in one transaction, after a backup copy: either it is of the new version, or it is as it was.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, delete, insert, inspect, select, text

from coppice.errors import StorageFailedError
from coppice.store.engine import Database
from coppice.store.schema import METADATA, VERSION_TABLE


@dataclass(frozen=True, slots=True)
class Migration:
    """Takes a store from version `number - 1` to `number`."""

    number: int
    upgrade: Callable[[Database, Connection], None]


def _add_full_text_index(database: Database, connection: Connection) -> None:
    """Makes it empty: every conversation is behind, and caught up with as after an import."""
    for column in ("indexed_count", "indexed_key"):
        connection.execute(text(f"ALTER TABLE conversation ADD COLUMN {column} bigint NOT NULL DEFAULT 0"))
    connection.execute(
        text(
            "CREATE INDEX conversation_behind_index ON conversation (key) "
            "WHERE id IS NOT NULL AND entry_count > indexed_count"
        )
    )
    database.make_index(connection)


FIRST_VERSION: Final = 1
MIGRATIONS: Final[tuple[Migration, ...]] = (Migration(2, _add_full_text_index),)


def migrate(database: Database, steps: Sequence[Migration] = MIGRATIONS) -> None:
    """Makes or upgrades the store.

    Raises:
        StorageFailedError: the store is newer than this Coppice, is no store, or a step failed; it is
            as it was.
    """
    newest = steps[-1].number if steps else FIRST_VERSION
    database.prepare()
    with database.reading() as connection:
        found = _version(connection)
    if found is not None and found > newest:
        raise StorageFailedError(
            f"The conversation store was written by a newer Coppice (schema {found}, not {newest}). "
            "Update Coppice.",
            found=found,
            known=newest,
        )
    database.settle()
    if found == newest:
        return
    with database.writing() as connection:
        database.order_migrations(connection)
        # Another process may have been faster.
        found = _version(connection)
        if found is None:
            METADATA.create_all(connection)
            database.make_index(connection)
        elif found < newest:
            database.back_up(found)
            for step in steps:
                if step.number > found:
                    step.upgrade(database, connection)
        connection.execute(delete(VERSION_TABLE))
        connection.execute(insert(VERSION_TABLE), {"version": newest})


def _version(connection: Connection) -> int | None:
    if not inspect(connection).has_table(VERSION_TABLE.name):
        return None
    return connection.execute(select(VERSION_TABLE.c.version)).scalar()
