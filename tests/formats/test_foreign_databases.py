"""The database of another program is read as tables, and what reads it can be ended."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from systems import needs_pipes

from coppice.errors import ImportFailedError
from coppice.formats import foreign_database
from coppice.formats.foreign_database import rows_of
from coppice.formats.source import Source
from coppice.sources import database as listing
from coppice.sources.registry import AGENTS

OPENCODE = next(agent for agent in AGENTS if agent.name == "opencode")
NUMBERS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x AS id, x AS data FROM c"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """With a table of two hundred rows."""
    path = tmp_path / "opencode.db"
    change(path, "CREATE TABLE part (id INTEGER, data TEXT)")
    change(path, f"INSERT INTO part {NUMBERS} LIMIT 200")
    return path


def change(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(script)


class StoppedError(Exception):
    pass


def test_a_query_is_ended_while_sqlite_works(path: Path) -> None:
    checks = 0

    def stop(*_: int) -> None:
        nonlocal checks
        checks += 1
        if checks > 5:
            raise StoppedError

    with pytest.raises(StoppedError):
        list(rows_of(Source(path, stop), "SELECT count(*) FROM part AS a, part AS b, part AS c"))
    assert checks < 10


def test_a_query_is_ended_between_its_rows(path: Path) -> None:
    def stop(*_: int) -> None:
        if stopping:
            raise StoppedError

    stopping = False
    rows = rows_of(Source(path, stop), "SELECT id FROM part")
    assert tuple(next(rows)) == (1,)
    stopping = True
    with pytest.raises(StoppedError):
        next(rows)


@pytest.mark.parametrize(
    "made",
    [
        f"CREATE VIEW part AS {NUMBERS}",
        "CREATE VIEW part AS SELECT * FROM other",
        "CREATE TABLE part (id INTEGER, data TEXT AS (hex(zeroblob(1e7))))",
        "CREATE TABLE part (id INTEGER, data TEXT GENERATED ALWAYS AS (id) STORED)",
        """CREATE TABLE part (id INTEGER, data AS (id)); PRAGMA writable_schema = ON;
        UPDATE sqlite_master SET type = 'Table', name = 'PART' WHERE name = 'part'""",
    ],
)
@pytest.mark.parametrize(
    "query", ["SELECT id, data FROM part", "SELECT 1 FROM part", "SELECT count(*) FROM part"]
)
def test_nothing_is_read_that_is_computed(path: Path, made: str, query: str) -> None:
    change(path, f"ALTER TABLE part RENAME TO other; {made}")
    with pytest.raises(ImportFailedError, match="cannot be read as the database"):
        list(rows_of(Source(path), f"{query} LIMIT 1"))


def test_a_schema_that_is_no_text_is_an_error_of_its_database(path: Path) -> None:
    damage = "UPDATE sqlite_master SET name = CAST(x'ff' AS TEXT) WHERE name = 'part'"
    change(path, f"PRAGMA writable_schema = ON; {damage}")
    with pytest.raises(ImportFailedError, match="cannot be read as the database"):
        list(rows_of(Source(path), "SELECT id FROM part"))


@pytest.mark.parametrize("other", [f"VIEW other AS {NUMBERS}", "TABLE other (id INTEGER, data AS (id))"])
def test_what_is_computed_and_not_asked_for_does_no_harm(path: Path, other: str) -> None:
    change(path, f"CREATE {other}")
    assert len(list(rows_of(Source(path), "SELECT id FROM part"))) == 200


def test_a_long_value_is_read_and_one_that_is_too_long_is_named_so(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(path, "PRAGMA synchronous = OFF; UPDATE part SET data = hex(zeroblob(1.7e7)) WHERE id = 1")
    query = "SELECT id, data FROM part WHERE id = 1 ORDER BY id"
    ((_, data),) = rows_of(Source(path), query)
    assert len(data) == 34_000_000
    monkeypatch.setattr(foreign_database, "_MAX_VALUE_BYTES", 100_000)
    with pytest.raises(ImportFailedError, match="too long to be read: more than 100,000 bytes"):
        list(rows_of(Source(path), query))


@needs_pipes
def test_a_journal_that_is_a_pipe_is_not_opened(path: Path) -> None:
    Path(f"{path}-wal").touch()
    os.mkfifo(f"{path}-journal")
    end = os.open(f"{path}-journal", os.O_RDWR)  # or SQLite would wait for it
    try:
        assert len(list(rows_of(Source(path), "SELECT id FROM part"))) == 200
    finally:
        os.close(end)


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "sessions" / "opencode.db"
    path.parent.mkdir()
    change(path, "CREATE TABLE session (id, parent_id, directory, time_updated)")
    change(path, "CREATE TABLE part (session_id, time_updated)")
    change(path, "INSERT INTO session VALUES ('s', NULL, '/w', 5000)")
    return path


def test_sessions_that_take_too_long_to_list_are_not_listed(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [each.key for each in OPENCODE.watch(session.parent).changed()] == ["s"]
    monkeypatch.setattr(listing, "_LEAST_SECONDS", -1e9)
    assert list(OPENCODE.watch(session.parent).changed()) == []


@pytest.mark.parametrize(
    ("updated", "seconds"), [("9e999", 0), (str(2**62), 0), ("-5", 0), ("NULL", 0), ("5000", 5)]
)
def test_a_time_that_cannot_be_is_none(session: Path, updated: str, seconds: float) -> None:
    change(session, f"UPDATE session SET time_updated = {updated}")  # noqa: S608 - a constant
    assert [each.modified for each in OPENCODE.watch(session.parent).changed()] == [seconds]
