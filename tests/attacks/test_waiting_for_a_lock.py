"""What waits for another program's lock, or looks through many stores, delays and keeps little."""

import asyncio
import sqlite3
import threading
import time
from pathlib import Path

import psutil
import pytest
from attacks.store_attacks import filled_store, opened, url_of
from conftest_service import Client
from conftest_service import user as message
from lsp.raw_client import RawServer
from sqlalchemy import event
from store.store_kit import NOW, user
from waiting import PATIENCE

from coppice.errors import StorageFailedError
from coppice.service.core import conversation_index
from coppice.service.core import stores as stores_module
from coppice.service.core.conversation_index import ConversationIndex
from coppice.service.core.workers import release_writers, run_read, run_write
from coppice.store.tree.conversation_ids import conversation_ids


async def test_writers_waiting_for_a_lock_do_not_keep_a_read_waiting(tmp_path: Path) -> None:
    paths = [tmp_path / name / "trees.sqlite3" for name in ("locked", "other")]
    for path in paths:
        filled_store(path)
    lock = sqlite3.connect(paths[0], isolation_level=None)
    with opened(paths[0], busy_seconds=3 * PATIENCE) as locked, opened(paths[1]) as other:
        lock.execute("BEGIN IMMEDIATE")
        waiting = [
            asyncio.ensure_future(run_write(url_of(paths[0]), locked.append, "c0", [user()], modified_at=NOW))
            for _ in range(14)
        ]
        await asyncio.sleep(0.1)
        for store in (locked, other):
            await asyncio.wait_for(run_read(store.conversation, "c1"), PATIENCE)
        assert not any(each.done() for each in waiting)
        lock.execute("ROLLBACK")
        lock.close()
        await asyncio.gather(*waiting)
    release_writers(url_of(paths[0]))


def test_a_window_opens_without_its_store(tmp_path: Path) -> None:
    """No lock that others hold can keep `initialize` waiting, nor the requests that concern no store."""
    store = tmp_path / "store"
    with RawServer(tmp_path) as server:
        server.initialize()
        server.result("coppice/conversation/create", {})
        assert _opened_in(store, server)
    with RawServer(tmp_path) as window:
        window.initialize()
        assert window.result("coppice/historyTools", {})["tools"]
        assert not _opened_in(store, window)


def _opened_in(folder: Path, server: RawServer) -> list[str]:
    opened_files = psutil.Process(server.process.pid).open_files()
    return [file.path for file in opened_files if folder in Path(file.path).parents]


def test_a_writer_often_asks_for_a_lock_and_never_in_step_with_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "trees.sqlite3"
    filled_store(path)
    lock = sqlite3.connect(path, isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    asked = 0
    pauses: list[float] = []
    here, sleep = threading.get_ident(), time.sleep

    def pause(seconds: float) -> None:
        if threading.get_ident() == here:
            pauses.append(seconds)
        sleep(seconds)

    monkeypatch.setattr(time, "sleep", pause)
    with opened(path, busy_seconds=1.5) as store:
        store._database.rest()

        def note(statement: str) -> None:
            nonlocal asked
            asked += statement == "BEGIN IMMEDIATE"

        @event.listens_for(store._database._engine, "connect")
        def watch(connection: sqlite3.Connection, _: object) -> None:
            connection.set_trace_callback(note)

        with pytest.raises(StorageFailedError, match="locked"):
            store.append("c0", [user()], modified_at=NOW)
    lock.close()
    assert asked >= len(pauses)
    assert max(pauses) <= 0.05
    assert len(set(pauses)) > 5


async def test_a_store_of_no_open_folder_is_closed_when_it_is_idle(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores, process = client.service.stores, psutil.Process()
    await client.ask("conversation/list")
    before = process.num_fds()
    made = []
    for number in range(10):
        created = await client.ask("conversation/create", workspaceUri=f"file:///workspaces/{number}")
        made.append(created["conversation"]["id"])
    assert process.num_fds() > before + 20
    monkeypatch.setattr(stores_module, "IDLE_SECONDS", 0.0)
    assert len(stores.watched()) == 1
    assert process.num_fds() <= before + 2
    for each in made:
        await client.ask("append", conversationId=each, entries=[message("Plant.")])


def test_an_unknown_id_reads_no_store_twice_and_keeps_no_descriptor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = []
    for number in range(60):
        path = tmp_path / f"{number}.sqlite3"
        filled_store(path, 1, 1)
        urls.append(url_of(path))
    read: list[str] = []

    def counted(url: str, *, busy_seconds: float) -> frozenset[str]:
        read.append(url)
        return conversation_ids(url, busy_seconds=busy_seconds)

    monkeypatch.setattr(conversation_index, "conversation_ids", counted)
    index = ConversationIndex()
    before = psutil.Process().num_fds()
    for _ in range(3):
        assert index.find("unknown", urls) == (None, [])
    assert sorted(read) == sorted(urls)
    assert psutil.Process().num_fds() <= before + 4


def test_a_search_waits_for_a_store_that_is_locked_for_a_moment(tmp_path: Path) -> None:
    paths = [tmp_path / name / "trees.sqlite3" for name in ("locked", "other")]
    for path in paths:
        filled_store(path)
    lock = sqlite3.connect(paths[0], isolation_level=None, check_same_thread=False)
    # The log is taken away while its file is closed; readers are refused meanwhile.
    lock.execute("PRAGMA locking_mode = EXCLUSIVE")
    lock.execute("BEGIN EXCLUSIVE")
    index, urls = ConversationIndex(), [url_of(path) for path in paths]
    home, failures = index.find("c1", urls[:1])
    assert home is None
    assert "locked by another program" in failures[0]
    assert index.find("c1", urls) == (urls[1], [])
    ends = threading.Timer(conversation_index.LOCKED_SECONDS / 5, lock.close)
    ends.start()
    assert index.find("c1", urls[:1]) == (urls[0], [])
    ends.join()
