"""The list of conversations, and how one leaves it."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import func, select
from store.conftest import OpenStore
from store.store_kit import NOW, assistant, compaction, label, new_conversation, pin, user
from waiting import PATIENCE

from coppice.errors import IdConflictError, StorageFailedError, UnknownConversationError, UnknownEntryError
from coppice.store.engines.sqlite import SqliteDatabase
from coppice.store.schema.records import ConversationRecord
from coppice.store.schema.tables import (
    COMPACTION,
    CONVERSATION,
    ENTRY_TABLE,
    LABEL,
    LANDMARK,
    PIN,
    RUN,
)
from coppice.store.store import Store
from coppice.store.tree import purging


def rows_left(store: Store) -> int:
    tables = (CONVERSATION, ENTRY_TABLE, RUN, COMPACTION, LABEL, PIN, LANDMARK)
    with store._database.reading() as connection:  # garbage shows nowhere else
        return sum(
            connection.execute(select(func.count()).select_from(table)).scalar_one() for table in tables
        )


def test_a_new_conversation_is_what_it_was_made_of(store: Store) -> None:
    new = new_conversation(
        "c", name="Oaks", parent_conversation_id="p", source={"format": "pi", "木": [1, None]}
    )
    made = store.create(new)
    assert made == store.conversation("c")
    assert (made.id, made.name, made.parent_conversation_id, made.source) == ("c", "Oaks", "p", new.source)
    assert (made.created_at, made.modified_at, made.entry_count, made.leaf_id) == (NOW, NOW, 0, None)


def test_a_conversation_of_the_same_id_is_refused(store: Store) -> None:
    store.create(new_conversation("c"))
    with pytest.raises(IdConflictError):
        store.create(new_conversation("c"))


def test_pages_list_every_conversation_once_newest_first(store: Store) -> None:
    for number in range(10):
        store.create(new_conversation(f"c{number}", created_at=f"2025-01-0{number // 2 + 1}T00:00:00Z"))
    store.append("c0", [user()], modified_at="2025-02-01T00:00:00Z")
    listed: list[ConversationRecord] = []
    cursor = None
    while True:
        page, cursor = store.conversations(limit=3, cursor=cursor)
        listed += page
        if cursor is None:
            break
        assert len(page) == 3
    assert [one.id for one in listed] == ["c0", "c9", "c8", "c7", "c6", "c5", "c4", "c3", "c2", "c1"]


def test_a_full_last_page_has_no_next_one(store: Store) -> None:
    store.create(new_conversation())
    assert store.conversations(limit=1)[1] is None


def test_the_workspace_is_found_in_any_spelling(store: Store) -> None:
    store.create(new_conversation("here", workspace_uri="file:///home/someone/the garden/"))
    store.create(new_conversation("there", workspace_uri="file:///home/someone"))
    listed, _ = store.conversations(workspace_uri="file:///home/someone/the%20garden", limit=5)
    assert [(one.id, one.workspace_uri) for one in listed] == [("here", "file:///home/someone/the garden/")]


@pytest.mark.parametrize(
    "cursor",
    ["", "x", "WzEsMl0=", "bnVsbA==", "WyJhIiwgOTk5OTk5OTk5OTk5OTk5OTk5OTk5XQ==", "木", "W1tb", "\ud800"],
)
def test_a_cursor_of_somebody_else_is_refused(store: Store, cursor: str) -> None:
    with pytest.raises(UnknownEntryError, match="cursor"):
        store.conversations(limit=3, cursor=cursor)


def fill(store: Store, conversation: str) -> None:
    store.create(new_conversation(conversation))
    store.append(conversation, [user(entry_id="a"), assistant(entry_id="b")], modified_at=NOW)
    store.append(conversation, [user(entry_id="c"), compaction("a")], parent_id="a", modified_at=NOW)
    store.append(conversation, [label("a", "x"), pin("b")], modified_at=NOW)


def test_a_deleted_conversation_is_unknown_at_once_and_leaves_nothing(store: Store) -> None:
    fill(store, "c")
    store.delete("c")
    for ask in (store.conversation, store.end, store.delete):
        with pytest.raises(UnknownConversationError):
            ask("c")
    assert store.conversations(limit=5) == ([], None)
    store._purger.wait()
    assert rows_left(store) == 0


def test_deleting_one_conversation_leaves_the_others(store: Store) -> None:
    fill(store, "c")
    fill(store, "d")
    store.delete("c")
    store._purger.wait()
    assert [entry.id for entry in store.all_entries("d")][:4] == [
        "a",
        "b",
        "c",
        store.conversation("d").leaf_id,
    ]


def test_the_id_of_a_deleted_conversation_is_free(store: Store) -> None:
    fill(store, "c")
    store.delete("c")
    fill(store, "c")
    assert store.conversation("c").entry_count == 6


def test_a_path_whose_conversation_was_deleted_is_unknown(store: Store) -> None:
    fill(store, "c")
    end = store.end("c")
    assert end is not None
    store.delete("c")
    store._purger.wait()
    for ask in (store.rows, store.entries):
        with pytest.raises(UnknownConversationError):
            ask(end, 0, 9)
    with pytest.raises(UnknownConversationError):
        store.compaction(end)


def test_what_a_crash_left_of_a_deleted_conversation_goes_when_the_store_is_opened(
    open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store()
    with monkeypatch.context() as patched:
        # As if the process had died before the first piece was purged.
        patched.setattr(purging.Purger, "wake", lambda _: None)
        fill(store, "c")
        store.delete("c")
        assert rows_left(store) > 0
        store.close()
    store = open_store()
    store._purger.wait()
    assert rows_left(store) == 0


def test_a_purge_transaction_is_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(purging.Purger, "wake", lambda _: None)
    store.create(new_conversation("c"))
    store.append("c", [user() for _ in range(50)], modified_at=NOW)
    store.delete("c")
    before, pieces = rows_left(store), 0
    while True:
        with store._database.writing() as connection:  # one piece, as the purger takes it
            if not purging.purge_some(connection, 7):
                break
        left = rows_left(store)
        assert before - left <= 7
        before, pieces = left, pieces + 1
    assert (before, pieces) == (1, 1 + 8 + 1 + 1)
    with store._database.writing() as connection:
        assert purging.purge_some_words(connection, [store._database.index])
    assert rows_left(store) == 0


def test_others_append_while_a_conversation_is_purged(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    purged, appended = threading.Event(), threading.Event()
    purge_rows = purging.Purger._purge_rows

    def one_piece(purger: purging.Purger) -> bool:
        is_left = purge_rows(purger)
        purged.set()
        appended.wait(PATIENCE)
        return is_left

    monkeypatch.setattr(purging.Purger, "_purge_rows", one_piece)
    store.create(new_conversation("big"))
    store.append("big", [user("x" * 500) for _ in range(4000)], modified_at=NOW)
    store.create(new_conversation("small"))
    store.delete("big")
    assert purged.wait(PATIENCE)
    store.append("small", [user()], modified_at=NOW)
    left = rows_left(store)
    appended.set()
    assert left > 2000


def test_others_append_while_a_purge_meets_a_long_read(open_store: OpenStore) -> None:
    deleting, writing = open_store("deleting", busy_seconds=60), open_store("writing", busy_seconds=60)
    writing.create(new_conversation("small"))
    fill(deleting, "c")
    with writing._database.reading() as connection:  # as an export does
        connection.execute(select(CONVERSATION.c.key)).all()
        deleting.delete("c")
        deleting._purger.wait(1)
        writing.append("small", [user()], modified_at=NOW)
    assert writing.conversation("small").entry_count == 1


def test_the_write_ahead_log_is_cut_once_a_read_that_a_purge_met_has_ended(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    deleting, reading = (Store.open(sqlite_url, server_id=name) for name in ("deleting", "reading"))
    deleting.create(new_conversation("big"))
    deleting.append("big", [user("x" * 500) for _ in range(2000)], modified_at=NOW)
    tried = threading.Event()
    checkpoint = SqliteDatabase._checkpoint

    def noted(database: SqliteDatabase, seconds: float) -> bool:
        done = checkpoint(database, seconds)
        tried.set()
        return done

    monkeypatch.setattr(SqliteDatabase, "_checkpoint", noted)
    with reading._database.reading() as connection:
        connection.execute(select(CONVERSATION.c.key)).all()
        deleting.delete("big")
        assert tried.wait(PATIENCE)
    deleting._purger.wait()
    log = Path(sqlite_url.removeprefix("sqlite:///") + "-wal")
    assert log.stat().st_size == 0
    deleting.close()
    reading.close()


def test_what_stays_in_the_files_while_another_reads_is_no_secret(sqlite_url: str) -> None:
    deleting = Store.open(sqlite_url, server_id="deleting", busy_seconds=0.1, index_idle_seconds=None)
    reading = Store.open(sqlite_url, server_id="reading", index_idle_seconds=None)
    deleting.create(new_conversation("big"))
    deleting.append("big", [user("juniper " * 500)], modified_at=NOW)
    files = [Path(sqlite_url.removeprefix("sqlite:///") + end) for end in ("", "-wal")]
    with reading._database.reading() as connection:
        connection.execute(select(CONVERSATION.c.key)).all()
        deleting.delete("big")
        assert not deleting.erase()
        assert any(b"juniper" in file.read_bytes() for file in files)
    assert deleting.erase()
    assert not any(b"juniper" in file.read_bytes() for file in files)
    deleting.close()
    reading.close()


def test_a_purge_that_fails_has_not_erased(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_purger: purging.Purger) -> bool:
        raise StorageFailedError("The disk is full.")

    store.create(new_conversation("big"))
    store.delete("big")
    assert store.erase()
    monkeypatch.setattr(purging.Purger, "_purge_words", fails)
    assert not store.erase()


def test_servers_purge_side_by_side(open_store: OpenStore, caplog: pytest.LogCaptureFixture) -> None:
    stores = [open_store(f"server {number}") for number in range(3)]
    for name in "abc":
        stores[0].create(new_conversation(name))
        stores[0].append(name, [user() for _ in range(1500)], modified_at=NOW)
    assert len(stores[0].search("tree", limit=9)) == 9
    for store, name in zip(stores, "abc", strict=True):
        store.delete(name)
        for each in stores:
            each._purger.wake()
    for store in stores:
        store._purger.wait()
    assert rows_left(stores[0]) == 0
    assert caplog.text == ""


def test_of_servers_that_make_one_conversation_at_once_one_succeeds(open_store: OpenStore) -> None:
    stores = [open_store(f"server {number}") for number in range(4)]

    def make(store: Store) -> bool:
        try:
            store.create(new_conversation("c"))
        except IdConflictError:
            return False
        return True

    for _ in range(5):
        with ThreadPoolExecutor(len(stores)) as pool:
            assert sorted(pool.map(make, stores)) == [False, False, False, True]
        stores[0].delete("c")


def test_threads_share_a_store(store: Store, conversation: str) -> None:
    failed: list[BaseException] = []

    def work(name: str) -> None:
        try:
            for number in range(15):
                store.append(conversation, [user(entry_id=f"{name}{number}")], modified_at=NOW)
                end = store.end(conversation)
                assert end is not None
                assert len(store.rows(end, 0, end.depth)) == end.depth + 1
        except (AssertionError, StorageFailedError) as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcdef"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    end = store.end(conversation)
    assert end is not None
    assert end.depth == 89
