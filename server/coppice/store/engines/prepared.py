"""The writes of every append, in the SQL that their statements are compiled to once.

To look a statement up by its whole structure, and to prepare a result where there is none, is half of what
an update takes. PostgreSQL's driver needs what SQLAlchemy knows of each value's type.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from sqlalchemy import Connection, CursorResult, Dialect, Insert, Update
from sqlalchemy.dialects import sqlite


def execute(
    connection: Connection, statement: Insert | Update, values: Mapping[str, Any]
) -> CursorResult[Any]:
    """As `connection.execute`, for a statement that is there as long as the process and gives no rows."""
    if not _is_sqlite(connection):
        return connection.execute(statement, values)
    sql, names, fixed = _compiled(statement, tuple(values))
    given = {**fixed, **values}
    return connection.exec_driver_sql(sql, tuple([given[name] for name in names]))


def inserted_key(connection: Connection, statement: Insert, values: Mapping[str, Any]) -> int:
    """The key of the row that `execute` inserts into a table whose keys the database makes."""
    result = execute(connection, statement, values)
    if _is_sqlite(connection):
        return result.lastrowid
    primary_key: Any = result.inserted_primary_key
    return int(primary_key[0])


def _is_sqlite(connection: Connection) -> bool:
    return connection.dialect.name == "sqlite"


@cache
def _compiled(
    statement: Insert | Update, names: Sequence[str]
) -> tuple[str, Sequence[str], Mapping[str, Any]]:
    """The SQL, its parameters in their order, and the values of those that are none of `names`."""
    compiled = statement.compile(dialect=_SQLITE, column_keys=list(names))
    return compiled.string, compiled.positiontup or (), compiled.params


_SQLITE: Final[Dialect] = sqlite.dialect()
"""One for all stores: each has a dialect of its own, which a cache would keep for ever."""
