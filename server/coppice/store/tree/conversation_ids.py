"""The conversations in a SQLite store, listed at the cost of one query: nothing is made or migrated."""

import sqlite3
from pathlib import Path

from sqlalchemy.engine import make_url

from coppice.store.engines.sqlite_file import connect
from coppice.store.schema.errors import translated

Stamp = tuple[tuple[int, int, int, int], ...]
"""The device, inode, size and time of change in nanoseconds of a database and of its write-ahead log."""


def stamp_of(url: str) -> Stamp:
    """Changes whenever the store at `url` changes; empty where there is none."""
    path = _path(url)
    stamps = []
    for file in (path, path.with_name(path.name + "-wal")):
        try:
            status = file.stat()
        except OSError:
            continue
        stamps.append((status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns))
    return tuple(stamps)


def conversation_ids(url: str, *, busy_seconds: float) -> frozenset[str]:
    """The ids in the store at `url`. A lock on it is waited for during `busy_seconds`.

    Raises:
        StorageFailedError: the store cannot be read.
    """
    with translated():
        connection = connect(_path(url), busy_seconds=busy_seconds)
        try:
            rows = connection.execute("SELECT id FROM conversation WHERE id IS NOT NULL").fetchall()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_ERROR:
                # No such table: another program's database.
                return frozenset()
            raise
        finally:
            connection.close()
    return frozenset(row[0] for row in rows)


def _path(url: str) -> Path:
    return Path(make_url(url).database or "")
