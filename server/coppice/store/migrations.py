"""Brings a store to the schema of this version of Coppice.

A new store is made from schema.py at once. An older one goes through the numbered steps that it lacks,
all in one transaction, after a backup copy: either it is of the new version, or it is as it was.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, delete, insert, inspect, select

from coppice.errors import StorageFailedError
from coppice.store.engine import Database
from coppice.store.schema import METADATA, VERSION_TABLE


@dataclass(frozen=True, slots=True)
class Migration:
    """Takes a store from version `number - 1` to `number`."""

    number: int
    upgrade: Callable[[Connection], None]


FIRST_VERSION: Final = 1
MIGRATIONS: Final[tuple[Migration, ...]] = ()


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
        # Another process may have been faster.
        found = _version(connection)
        if found is None:
            METADATA.create_all(connection)
        elif found < newest:
            database.back_up(found)
            for step in steps:
                if step.number > found:
                    step.upgrade(connection)
        connection.execute(delete(VERSION_TABLE))
        connection.execute(insert(VERSION_TABLE), {"version": newest})


def _version(connection: Connection) -> int | None:
    if not inspect(connection).has_table(VERSION_TABLE.name):
        return None
    return connection.execute(select(VERSION_TABLE.c.version)).scalar()
