"""Reads the SQLite database of another program, which may be writing to it, and the values there."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from coppice.errors import ImportFailedError
from coppice.formats.lines import value_of
from coppice.formats.source import Source

_STEPS: Final = 10_000
"""Of SQLite's machine between two checks: less than a millisecond."""
_MAX_VALUE_BYTES: Final = 256 * 2**20  # also of what SQLite sorts by: a row
_COMPUTED: Final = """
SELECT lower(name) FROM sqlite_master AS made
WHERE lower(type) = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'
    AND EXISTS (SELECT 1 FROM pragma_table_xinfo(made.name) WHERE hidden > 1)
"""


def rows_of(source: Source, query: str, *values: str) -> Iterator[sqlite3.Row]:
    """The rows that `query` gives, as tuples and by their names, with text that is not UTF-8 mended.

    `source.check` is called for each row and while SQLite works; what it raises, each time, ends the query.
    A database that nobody has open is read without its log: opening that would make files next to it.

    Raises ImportFailedError when it cannot be read. Views and tables with generated columns are not: a single
    function in them can take any time.
    """
    path = source.file()
    journal = Path(f"{path}-journal")  # SQLite would wait for one that is a pipe
    is_live = Path(f"{path}-wal").is_file() and (journal.is_file() or not journal.exists())
    try:
        address = f"file:{quote(str(path))}?{'mode=ro' if is_live else 'immutable=1'}"
        with closing(sqlite3.connect(address, uri=True)) as connection:
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            connection.row_factory = sqlite3.Row
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
            connection.set_progress_handler(source.check, _STEPS)
            computed: set[str] = set()
            connection.set_authorizer(partial(_permission, computed))
            computed.update([name.lower() for (name,) in connection.execute(_COMPUTED)])
            for row in connection.execute(query, values):
                source.check()
                yield row
    except sqlite3.DataError as error:
        raise ImportFailedError(
            f"A value in {path.name} is too long to be read: more than {_MAX_VALUE_BYTES:,} bytes."
        ) from error
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the sentence of an error may hold names of it
        source.check()
        raise ImportFailedError(
            f"{path.name} cannot be read as the database of the agent ({error}). Check its version."
        ) from error


def _permission(computed: set[str], _action: int, name: str | None, *rest: str | None) -> int:
    """None for the tables of `computed`, and in a view, of which the last argument is the name."""
    is_denied = rest[-1] or (name or "").lower() in computed
    return sqlite3.SQLITE_DENY if is_denied else sqlite3.SQLITE_OK


def object_of(value: object) -> dict[str, Any]:
    """The object that `value` is, or that is written in it; empty where there is none."""
    made = json_of(value)
    return made if isinstance(made, dict) else {}


def json_of(value: object) -> Any:
    """What is written in `value` where that is JSON, mended as in a line, otherwise `value`."""
    if isinstance(value, str):
        with suppress(ValueError, RecursionError):
            return value_of(value)
    return value
