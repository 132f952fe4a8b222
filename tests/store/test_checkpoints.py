"""Checkpoints of SQLite's log: in pauses, so that the log stays short and no commit has to make them."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from store.conftest import OpenStore
from store.store_kit import NOW, new_conversation, user
from waiting import PATIENCE

from coppice.errors import StorageFailedError
from coppice.store.engines import checkpoints
from coppice.store.engines.checkpoints import MANY_COMMITS, MOST_PAGES, Checkpoints
from coppice.store.engines.sqlite import SqliteDatabase
from coppice.store.store import Store

NEVER = 1e9  # seconds


@pytest.fixture
def url(sqlite_url: str) -> str:
    return sqlite_url


@pytest.fixture
def counted() -> Iterator[Callable[[], tuple[Checkpoints, threading.Semaphore]]]:
    """Checkpoints that release a semaphore; the first one fails, as on a full disk."""
    made: list[Checkpoints] = []

    def make() -> tuple[Checkpoints, threading.Semaphore]:
        done = threading.Semaphore(0)

        def checkpoint() -> None:
            done.release()
            raise StorageFailedError("The disk is full.")

        made.append(Checkpoints(checkpoint))
        return made[-1], done

    yield make
    for each in made:
        each.stop()


@pytest.mark.parametrize(("commits", "pause", "idle"), [(MANY_COMMITS, 0.0, NEVER), (1, NEVER, 0.0)])
def test_they_are_made_in_a_pause_after_many_commits_and_after_a_single_one_in_the_end(
    counted: Callable[[], tuple[Checkpoints, threading.Semaphore]],
    monkeypatch: pytest.MonkeyPatch,
    commits: int,
    pause: float,
    idle: float,
) -> None:
    monkeypatch.setattr(checkpoints, "PAUSE_SECONDS", pause)
    monkeypatch.setattr(checkpoints, "IDLE_SECONDS", idle)
    made, done = counted()
    for _ in range(2):
        for _ in range(commits):
            made.note()
        assert done.acquire(timeout=PATIENCE)


def test_nothing_is_moved_while_commits_come_without_a_pause(
    counted: Callable[[], tuple[Checkpoints, threading.Semaphore]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "PAUSE_SECONDS", NEVER)
    made, done = counted()
    for _ in range(10 * MANY_COMMITS):
        made.note()
    made.stop()
    assert not done.acquire(blocking=False)


def test_the_log_begins_anew_before_a_commit_has_to_move_it(
    open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(checkpoints, "IDLE_SECONDS", 0.0)
    store = open_store()
    made = store.create(new_conversation()).id
    path = file_of(store)
    for _ in range(20):
        for _ in range(MANY_COMMITS):
            store.append(made, [user("Water the larch. " * 40)], modified_at=NOW)
        database_of(store)._checkpoints.wait(PATIENCE)
    pages = path.with_name(path.name + "-wal").stat().st_size // 4096
    assert 0 < pages < MOST_PAGES / 2
    alone = path.with_name("alone.sqlite3")
    alone.write_bytes(path.read_bytes())
    with closing(sqlite3.connect(alone)) as connection:
        (entries,) = connection.execute("SELECT count(*) FROM entry").fetchone()
    assert entries == 20 * MANY_COMMITS


def test_each_connection_bounds_the_log(open_store: OpenStore) -> None:
    with database_of(open_store()).reading() as connection:
        assert connection.exec_driver_sql("PRAGMA wal_autocheckpoint").scalar_one() == MOST_PAGES


def test_a_store_that_rests_or_closes_waits_for_none(
    open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "IDLE_SECONDS", NEVER)
    store = open_store()
    store.create(new_conversation())
    log = file_of(store).with_name(file_of(store).name + "-wal")
    assert log.exists()
    store.rest()
    assert not log.exists()
    store.close()


def database_of(store: Store) -> SqliteDatabase:
    assert isinstance(store._database, SqliteDatabase)
    return store._database


def file_of(store: Store) -> Path:
    return database_of(store)._file.path
