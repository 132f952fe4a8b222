"""Which transcripts of other agents there are, and where the reading of each ended."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from coppice.errors import StoreDamagedError
from coppice.store.engines.sqlite_file import connect
from coppice.store.schema.errors import DAMAGED, is_damage, translated

FILE_NAME: Final = "transcripts.db"
_BUSY_SECONDS: Final = 10.0  # as long as a store's writer waits for another process
_VERSION: Final = 1  # of the table; one of another version is made anew, which costs a reading


@dataclass(frozen=True)
class Reading:
    """One transcript. `stamp` is that of the last reading, empty before the first.

    `store` is the URL of the store that holds the conversation. `checkpoint` is where the next reading
    begins, as JSON, None for the start. `leaf` is the leaf that the last reading set. `held`: the last
    reading left out entries at the end. `read_at` is an ISO 8601 time. `problem` is why it could not be read.
    `forgotten`: it is not to be read.
    """

    agent: str
    key: str
    path: str
    size: int = 0
    modified: float = 0.0
    workspace: str | None = None
    parent: str | None = None
    stamp: str = ""
    store: str | None = None
    checkpoint: str | None = None
    leaf: str | None = None
    entries: int = 0
    skipped: int = 0
    held: bool = False
    read_at: str | None = None
    problem: str | None = None
    forgotten: bool = False


class TranscriptCatalog:
    """The readings of one data directory; several processes may use it. Each method is a transaction.

    Every method raises StorageFailedError when the database fails.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE_NAME

    @property
    def identity(self) -> int | None:
        """Tells the database from another that was made in its place; None where there is none."""
        try:
            return self._path.stat().st_ino
        except OSError:
            return None

    def readings(self, of: Iterable[tuple[str, str]] | None = None) -> dict[tuple[str, str], Reading]:
        """Those `of` some agents and keys, or with None all, by agent and key."""
        if not self._path.exists():
            return {}
        with self._opened() as connection:
            if of is None:
                rows = connection.execute(_SELECT).fetchall()
            else:
                rows = [row for each in of for row in connection.execute(_SELECT_ONE, each)]
            return _readings(rows)

    def put(self, readings: Iterable[Reading]) -> None:
        """Stores them in place of what was there of the same transcripts."""
        rows = [_row(each) for each in readings]
        if not rows:
            return
        with self._opened() as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(_PUT, rows)
            connection.execute("COMMIT")

    def remove(self, reading: Reading) -> None:
        """As if its transcript had never been looked at."""
        with self._opened() as connection:
            connection.execute(_DELETE, (reading.agent, reading.key))

    def check(self) -> None:
        """Raises StoreDamagedError where not all of it can be read."""
        if not self._path.exists():
            return
        with self._opened() as connection:
            if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                raise StoreDamagedError(DAMAGED)

    def make(self) -> None:
        """Makes the database where there is none."""
        with self._opened():
            pass

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        with translated():
            if not self._path.exists():
                self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._path.touch(mode=0o600)
            with closing(connect(self._path, _BUSY_SECONDS)) as connection:
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute("PRAGMA secure_delete = ON")
                if _version(connection) != _VERSION:
                    _make_table(connection)
                yield connection


_CHECKED: Final = TypeAdapter(Reading)  # SQLite keeps any value in any column
_COLUMNS: Final = tuple(field.name for field in fields(Reading))
_TABLE: Final = f"CREATE TABLE reading ({', '.join(_COLUMNS)}, PRIMARY KEY (agent, key)) WITHOUT ROWID"
_SELECT: Final = f"SELECT {', '.join(_COLUMNS)} FROM reading"  # noqa: S608 - names of the fields above
_SELECT_ONE: Final = f"{_SELECT} WHERE agent = ? AND key = ?"
_DELETE: Final = "DELETE FROM reading WHERE agent = ? AND key = ?"
_PUT: Final = (
    f"INSERT OR REPLACE INTO reading ({', '.join(_COLUMNS)}) "  # noqa: S608 - names of the fields above
    f"VALUES ({', '.join('?' * len(_COLUMNS))})"
)


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _make_table(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    if _version(connection) != _VERSION:  # another process may have been faster
        connection.execute("DROP TABLE IF EXISTS reading")
        connection.execute(_TABLE)
        connection.execute(f"PRAGMA user_version = {_VERSION}")
    connection.execute("COMMIT")


def readable(connection: sqlite3.Connection) -> list[Reading]:
    """Of a damaged database what comes before the first damage in the order of the table, and after the last.

    Raises sqlite3.Error where it is not damage that prevents more.
    """
    readings: dict[tuple[str, str], Reading] = {}
    for order in ("ASC", "DESC"):
        try:
            for row in connection.execute(f"{_SELECT} ORDER BY agent {order}, key {order}"):
                readings |= _readings([row])
        except sqlite3.Error as error:
            if not is_damage(error):
                raise
    return [*readings.values()]


def _row(reading: Reading) -> tuple[Any, ...]:
    return astuple(reading)


def _readings(rows: Iterable[tuple[Any, ...]]) -> dict[tuple[str, str], Reading]:
    """By agent and key; without those that are rotten, as if their transcripts were not read yet."""
    readings = (reading for row in rows if (reading := _reading(row)) is not None)
    return {(each.agent, each.key): each for each in readings}


def _reading(row: tuple[Any, ...]) -> Reading | None:
    values = dict(zip(_COLUMNS, row, strict=True))
    values |= {"held": bool(values["held"]), "forgotten": bool(values["forgotten"])}
    try:
        return _CHECKED.validate_python(values)
    except ValidationError:
        if not values["forgotten"]:
            return None
        return Reading(str(values["agent"]), str(values["key"]), "", forgotten=True)
