"""Reading around damage on the disk, and finding it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Executable, Select, bindparam, select
from sqlalchemy.exc import DatabaseError

from coppice.errors import StoreDamagedError
from coppice.store.schema.entry_json import entry_from
from coppice.store.schema.errors import is_damage
from coppice.store.schema.tables import CONVERSATION, ENTRY_TABLE

_ROWS_A_READ: Final = 200
"""Rows that are read at once: some pages of 4 KiB."""


def rows_around_damage(
    connection: Connection,
    statement: Select[Any],
    values: Mapping[str, Any],
    key: ColumnElement[int],
    keys: Executable,
    *,
    take: Callable[[Iterable[Any]], list[Any]] = list,
) -> list[Any]:
    """The rows of `statement`; where one is damaged, those with each `key` of `keys` that can be read.

    `take` may take the first rows alone; the others are not read.
    """
    try:
        with connection.execute(statement, dict(values)) as rows:
            return take(rows)
    except DatabaseError as error:
        if not is_damage(error):
            raise
    damaged_keys = connection.execute(keys, dict(values)).scalars().all()
    one = statement.where(key == bindparam("damaged_key"))
    return take(_readable(connection, one, [{**values, "damaged_key": each} for each in damaged_keys]))


def _readable(
    connection: Connection, statement: Executable, each: Iterable[Mapping[str, Any]]
) -> Iterator[Any]:
    """The rows of `statement` with each of these values, less those that are damaged."""
    for values in each:
        try:
            yield from connection.execute(statement, dict(values)).all()
        except DatabaseError as error:
            if not is_damage(error):
                raise


def damaged_entries(connection: Connection, most: int) -> list[str]:
    """A sentence for each of the first `most` entries of visible conversations that cannot be read."""
    damages: list[str] = []
    for conversation in connection.execute(_CONVERSATIONS).all():
        values = {"conversation": conversation.key, "last": 0, "rows": _ROWS_A_READ}
        while len(damages) < most and (keys := connection.execute(_KEYS, values).scalars().all()):
            rows = rows_around_damage(connection, _PAGE, values, ENTRY_TABLE.c.key, _KEYS)
            lost = sorted(set(keys) - {row.key for row in rows})
            names = [f"with the key {key}" for key in lost] + [row.id for row in rows if not _is_whole(row)]
            damages += [f"conversation {conversation.id}: the entry {name} cannot be read" for name in names]
            values["last"] = keys[-1]
    return damages[:most]


def _is_whole(row: Any) -> bool:
    try:
        entry_from(row.id, None, row.timestamp, row.type, row.body)
    except StoreDamagedError:
        return False
    return True


_CONVERSATIONS: Final = select(CONVERSATION.c.key, CONVERSATION.c.id).where(CONVERSATION.c.id.is_not(None))
# The index by conversation holds the keys, so that no row has to be read for them.
_KEYS: Final = (
    select(ENTRY_TABLE.c.key)
    .where(ENTRY_TABLE.c.conversation_key == bindparam("conversation"), ENTRY_TABLE.c.key > bindparam("last"))
    .order_by(ENTRY_TABLE.c.key)
    .limit(bindparam("rows"))
)
_PAGE: Final = (
    select(
        ENTRY_TABLE.c.key,
        ENTRY_TABLE.c.id,
        ENTRY_TABLE.c.timestamp,
        ENTRY_TABLE.c.type,
        ENTRY_TABLE.c.body,
    )
    .where(ENTRY_TABLE.c.key.in_(_KEYS))
    .order_by(ENTRY_TABLE.c.key)
)
