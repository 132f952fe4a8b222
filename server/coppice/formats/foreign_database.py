"""Reads the SQLite database of another program, which may be writing to it, and the values there."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from coppice.errors import ImportFailedError


def rows_of(path: Path, query: str, *values: str) -> Iterator[sqlite3.Row]:
    """The rows that `query` gives, as tuples and by their names, with text that is not UTF-8 mended.

    A database that nobody has open is read without its log: opening that would make files next to it.
    Raises ImportFailedError when it cannot be read.
    """
    mode = "mode=ro" if Path(f"{path}-wal").exists() else "immutable=1"
    try:
        address = f"file:{quote(str(path))}?{mode}"
        with closing(sqlite3.connect(address, uri=True)) as connection:
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            connection.row_factory = sqlite3.Row
            yield from connection.execute(query, values)
    except sqlite3.Error as error:
        raise ImportFailedError(
            f"{path.name} cannot be read as the database of the agent ({error}). Check its version."
        ) from error


def object_of(value: object) -> dict[str, Any]:
    """The object that `value` is, or that is written in it; empty where there is none."""
    made = json_of(value)
    return made if isinstance(made, dict) else {}


def json_of(value: object) -> Any:
    """What is written in `value` where that is JSON, otherwise `value`."""
    if isinstance(value, str):
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return value
