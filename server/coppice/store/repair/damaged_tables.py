"""Reads the rows of a damaged SQLite file around the damage."""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, Final

Row = dict[str, Any]

UNREADABLE: Final = (sqlite3.Error, UnicodeDecodeError)
"""What sqlite3 raises on damage; the second where its message quotes what is no UTF-8."""

_ROWS_A_READ: Final = 200
"""Rows read at once; where one of them is damaged, each is read by itself: some hundred kilobytes."""
_MOST_ROWS_A_PAGE: Final = 100
"""Gives an upper bound of the keys if no table can be read: a row of an entry takes at least 40 bytes."""
_NUMBERS: Final = {"entry": ("conversation_key", "run", "depth"), "run": ("fork_depth",)}
"""The columns, besides the keys of the rows, that must hold a number to find an entry's place."""


def rows(connection: sqlite3.Connection, table: str, names: Sequence[str] = ()) -> Iterator[Row]:
    """The rows of a table that can be read, by key; of each the columns `names`, or all."""
    query = _query(table, names)
    end = _last_key(connection, table)
    first: int | None = 1
    while first is not None and first <= end:
        last = first + _ROWS_A_READ - 1
        try:
            page = connection.execute(f"{query} BETWEEN ? AND ?", (first, last)).fetchall()
        except UNREADABLE:
            page = _one_by_one(connection, f"{query} = ?", range(first, last + 1))
        yield from (_with_numbers(dict(row), table) for row in page)
        first = _key_after(connection, table, last)


def row_at(connection: sqlite3.Connection, table: str, key: int) -> Row | None:
    """The row with this key; None where it is gone or cannot be read."""
    read_rows = _one_by_one(connection, f"{_query(table)} = ?", [key])
    return _with_numbers(dict(read_rows[0]), table) if read_rows else None


def _query(table: str, names: Sequence[str] = ()) -> str:
    # A store of an older version lacks columns of this one: what is there is read.
    return f"SELECT {', '.join(names) or '*'} FROM {table} WHERE rowid"  # noqa: S608 - names of our own


def _with_numbers(row: Row, table: str) -> Row:
    """`row` with 0, which is no key, in place of what is no number where there must be one."""
    for name in _NUMBERS.get(table, ()):
        if not isinstance(row[name], int):
            row[name] = 0
    return row


def _one_by_one(connection: sqlite3.Connection, query: str, keys: Sequence[int]) -> list[sqlite3.Row]:
    read_rows = []
    for key in keys:
        try:
            read_rows += connection.execute(query, (key,)).fetchall()
        except UNREADABLE:
            continue
    return read_rows


def _last_key(connection: sqlite3.Connection, table: str) -> int:
    for query in (
        f"SELECT max(rowid) FROM {table}",  # noqa: S608 - a name of our own schema
        f"SELECT seq FROM sqlite_sequence WHERE name = '{table}'",  # noqa: S608 - likewise
        f"SELECT page_count * {_MOST_ROWS_A_PAGE} FROM pragma_page_count",  # noqa: S608 - a number
    ):
        try:
            row = connection.execute(query).fetchone()
        except UNREADABLE:
            continue
        if row is not None:
            return int(row[0] or 0)
    return 0


def _key_after(connection: sqlite3.Connection, table: str, key: int) -> int | None:
    """The next key that may be there: steps up to a damaged key far above the others would take years."""
    try:
        query = f"SELECT min(rowid) FROM {table} WHERE rowid > ?"  # noqa: S608 - a name of our own schema
        [next_key] = connection.execute(query, (key,)).fetchone()
    except UNREADABLE:
        return key + 1
    return None if next_key is None else int(next_key)


def named_entries(connection: sqlite3.Connection) -> dict[int, dict[int, str]]:
    """The ids of all entries by conversation and key, from an index that has them besides the table."""
    names_of: dict[int, dict[int, str]] = {}
    query = "SELECT conversation_key, id, rowid FROM entry INDEXED BY sqlite_autoindex_entry_1"
    try:
        for conversation, entry_id, key in connection.execute(query):
            if isinstance(conversation, int) and isinstance(key, int):
                names_of.setdefault(conversation, {})[key] = entry_id
    except UNREADABLE:
        return {}
    return names_of
