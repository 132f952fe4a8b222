"""Reads the rows of a damaged SQLite file around the damage."""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, Final

Row = dict[str, Any]

UNREADABLE: Final = (sqlite3.Error, UnicodeDecodeError, OverflowError)
"""What sqlite3 raises on damage: the second where its message quotes what is no UTF-8, the third for a number
that is no key.
"""

_KEYS_A_STEP: Final = 200
"""Keys that are tried from one that is there on, before the next one is searched for."""
_MOST_ROWS_A_PAGE: Final = 100
"""Gives an upper bound of the keys if no table can be read: a row of an entry takes at least 40 bytes."""
_NUMBERS: Final = {"entry": ("conversation_key", "run", "depth"), "run": ("fork_depth",)}
"""The columns, besides the keys of the rows, that must hold a number to find an entry's place."""


def rows(connection: sqlite3.Connection, table: str, names: Sequence[str] = ()) -> Iterator[Row]:
    """The rows of a table that can be read, each key once; of each the column `key` and `names`, or all.

    A row that is read by its key is there. Beside a damaged key, where a page is out of order, rows are not
    found by their keys but in a range.
    """
    query = _query(table, names)
    given = set[int]()
    for key in _keys(connection, table):
        row = None if key in given else _row(connection, table, f"{query} = ?", key)
        if row is not None:
            given.add(key)
            yield row
    for first in _steps(connection, table):
        last = first + _KEYS_A_STEP - 1
        for scanned in _read(connection, f"{query} BETWEEN ? AND ?", (first, last)):
            if scanned["key"] not in given:
                given.add(scanned["key"])
                yield _with_numbers(dict(scanned), table)


def row_at(connection: sqlite3.Connection, table: str, key: int) -> Row | None:
    """The row with this key; None where it is gone or cannot be read."""
    return _row(connection, table, f"{_query(table)} = ?", key)


def _row(connection: sqlite3.Connection, table: str, query: str, key: int) -> Row | None:
    try:
        row = connection.execute(query, (key,)).fetchone()
    except UNREADABLE:
        return None
    return None if row is None else _with_numbers(dict(row), table)


def _keys(connection: sqlite3.Connection, table: str) -> Iterator[int]:
    """The keys that may be there, by the indexes and by the table.

    Where a page holds the content of another one, SQLite passes over rows behind it without an error, in a
    range and in the search for the next key.
    """
    indexes = f"SELECT name FROM pragma_index_list('{table}')"  # noqa: S608 - a name of our own schema
    for (index,) in _read(connection, indexes):
        query = f'SELECT rowid FROM {table} INDEXED BY "{index}"'  # noqa: S608 - likewise
        yield from (key for (key,) in _read(connection, query) if isinstance(key, int))
    for first in _steps(connection, table):
        yield from range(first, first + _KEYS_A_STEP)


def _steps(connection: sqlite3.Connection, table: str) -> Iterator[int]:
    """The first key of each step through the table, in ascending order."""
    end = _last_key(connection, table)
    first: int | None = 1
    while first is not None and first <= end:
        yield first
        first = _key_after(connection, table, first + _KEYS_A_STEP - 1)


def _read(connection: sqlite3.Connection, query: str, values: Sequence[int] = ()) -> Iterator[sqlite3.Row]:
    """What a query gives before the first damage."""
    try:
        yield from connection.execute(query, values)
    except UNREADABLE:
        return


def _query(table: str, names: Sequence[str] = ()) -> str:
    # A store of an older version lacks columns of this one: what is there is read.
    return f"SELECT {', '.join(names) or '*'} FROM {table} WHERE rowid"  # noqa: S608 - names of our own


def _with_numbers(row: Row, table: str) -> Row:
    """`row` with 0, which is no key, in place of what is no number where there must be one."""
    for name in _NUMBERS.get(table, ()):
        if not isinstance(row[name], int):
            row[name] = 0
    return row


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
    # On a page that is out of order the next key can be a smaller one.
    return None if next_key is None else max(int(next_key), key + 1)


def named_entries(connection: sqlite3.Connection) -> dict[int, dict[int, str]]:
    """The ids of all entries by conversation and key, from an index that has them besides the table."""
    names_of: dict[int, dict[int, str]] = {}
    query = "SELECT conversation_key, id, rowid FROM entry INDEXED BY sqlite_autoindex_entry_1"
    for conversation, entry_id, key in _read(connection, query):
        if isinstance(conversation, int) and isinstance(key, int):
            names_of.setdefault(conversation, {})[key] = entry_id
    return names_of
