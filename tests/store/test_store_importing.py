"""An import is whole or not there."""

import pytest
from sqlalchemy import text
from store.conftest import OpenStore
from store.store_kit import NOW, activity, assistant, compaction, label, named, new_conversation, news, user

from coppice.errors import IdConflictError, ImportPausedError, UnknownConversationError, UnknownEntryError
from coppice.store.schema.records import NewRecord
from coppice.store.store import Store
from coppice.store.tree import purging
from coppice.store.tree.importing import ImportWriter


def path_of(store: Store, conversation: str) -> list[str]:
    end = store.end(conversation)
    return [] if end is None else [row.id for row in store.rows(end, 0, end.depth)]


def test_an_import_appears_when_it_is_whole(store: Store) -> None:
    with store.importing(new_conversation("c"), modified_at="2025-07-01T00:00:00Z") as writer:
        writer.add([named("Oaks", "n"), user("Plant.", "a", parent="n")])
        with pytest.raises(UnknownConversationError):
            store.conversation("c")
        assert store.conversations(limit=5) == ([], None)
        writer.add([assistant(entry_id="b", parent="a")])
    record_of_c = store.conversation("c")
    assert (record_of_c.leaf_id, record_of_c.entry_count, record_of_c.name, record_of_c.first_message) == (
        "b",
        3,
        "Oaks",
        "Plant.",
    )
    assert (record_of_c.created_at, record_of_c.modified_at) == (NOW, "2025-07-01T00:00:00Z")


def test_metadata_that_leads_on_lies_on_the_path(store: Store) -> None:
    records = [
        user(entry_id="a"),
        label("a", "start", "l", parent="a"),
        user(entry_id="b", parent="l"),
        activity("x.py", "f", parent="b"),
        user(entry_id="c", parent="b"),
    ]
    with store.importing(new_conversation("c")) as writer:
        for new in records:
            writer.add([new])
    assert path_of(store, "c") == ["a", "l", "b", "c"]
    assert [entry.parent_id for entry in store.all_entries("c")] == [None, "a", "l", "b", "b"]


def test_the_leaf_is_the_last_entry_given_or_the_one_named(store: Store) -> None:
    records = [user(entry_id="a"), user(entry_id="b", parent="a"), named("N", "n", parent="b")]
    with store.importing(new_conversation("c")) as writer:
        writer.add(records)
    assert path_of(store, "c") == ["a", "b", "n"]
    with store.importing(new_conversation("d")) as writer:
        writer.add(records)
        writer.leaf("a")
    assert path_of(store, "d") == ["a"]
    with store.importing(new_conversation("e")) as writer:
        writer.add(records)
        writer.leaf(None)
    assert path_of(store, "e") == []


def test_an_append_goes_on_from_an_imported_metadata_leaf(store: Store) -> None:
    with store.importing(new_conversation("c")) as writer:
        writer.add([user(entry_id="a"), named("N", "n", parent="a")])
    store.append("c", [user(entry_id="b")], modified_at=NOW)
    assert path_of(store, "c") == ["a", "n", "b"]
    assert [row.id for row in store.tree("c", mode="branches", limit=5)[0]] == ["b"]


def test_reads_work_while_the_import_goes_on(store: Store) -> None:
    with store.importing(new_conversation("c")) as writer:
        writer.add([user(entry_id="a"), user(entry_id="b", parent="a"), compaction("b", "k", parent="b")])
        end = writer.end("k")
        cut = store.compaction(end)
        assert cut is not None
        assert (cut.kept_depth, [row.id for row in store.rows(end, 0, 9)]) == (1, ["a", "b", "k"])
        assert [entry.id for entry in store.entries(end, 1, 1)] == ["b"]
        with pytest.raises(UnknownEntryError):
            writer.end("nowhere")


def test_an_import_that_fails_leaves_nothing(store: Store) -> None:
    def fail_after(records: list[NewRecord]) -> None:
        with store.importing(new_conversation("c")) as writer:
            writer.add(records)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail_after([user(entry_id="a")])
    store._purger.wait()
    with pytest.raises(UnknownConversationError):
        store.conversation("c")
    with store._database.reading() as connection:  # garbage shows nowhere else
        assert connection.execute(text("SELECT count(*) FROM entry")).scalar() == 0


def test_a_parent_that_is_not_there_yet_is_refused(store: Store) -> None:
    def add(*records: NewRecord) -> None:
        with store.importing(new_conversation("c")) as writer:
            writer.add(records)

    with pytest.raises(UnknownEntryError):
        add(user(entry_id="b", parent="a"), user(entry_id="a"))


def test_an_entry_given_twice_is_stored_once_and_other_content_is_refused(store: Store) -> None:
    with store.importing(new_conversation("c")) as writer:
        writer.add([user(entry_id="a"), user(entry_id="a"), user(entry_id="b", parent="a")])
        writer.add([user(entry_id="b", parent="a"), user(entry_id="c", parent="b")])
        with pytest.raises(IdConflictError):
            writer.add([user("Other.", "a")])
    assert path_of(store, "c") == ["a", "b", "c"]
    assert store.conversation("c").entry_count == 3


def test_a_mark_without_its_target_is_kept_and_marks_nothing(store: Store) -> None:
    with store.importing(new_conversation("c")) as writer:
        writer.add([user(entry_id="a"), label("nowhere", "x", "l", parent="a")])
        writer.leaf("a")
    assert [entry.id for entry in store.all_entries("c")] == ["a", "l"]
    assert [row.label for row in store.tree("c", mode="all", limit=5)[0]] == [None, None]


def test_an_id_that_is_taken_is_refused_before_and_after(store: Store) -> None:
    store.create(new_conversation("c"))
    with pytest.raises(IdConflictError), store.importing(new_conversation("c")):
        pass
    with pytest.raises(IdConflictError), store.importing(new_conversation("d")):
        store.create(new_conversation("d"))
    assert store.conversation("d").entry_count == 0


def test_two_imports_at_once_end_as_two_conversations(store: Store) -> None:
    with store.importing(new_conversation("c")) as one:
        one.add([user("Oaks.", "a")])
        with store.importing(new_conversation("d")) as other:
            other.add([user("Beeches.", "a"), assistant(entry_id="b", parent="a")])
        one.add([assistant("Planted.", "b", parent="a"), user(entry_id="e", parent="b")])
    conversations = [store.conversation(each) for each in ("c", "d")]
    assert [(each.first_message, each.entry_count) for each in conversations] == [
        ("Oaks.", 3),
        ("Beeches.", 2),
    ]
    assert (path_of(store, "c"), path_of(store, "d")) == (["a", "b", "e"], ["a", "b"])


def test_more_entries_than_a_transaction_takes_are_stored(store: Store) -> None:
    records = [user(entry_id="e0")]
    records += [user(entry_id=f"e{number}", parent=f"e{number - 1}") for number in range(1, 2500)]
    with store.importing(new_conversation("c")) as writer:
        writer.add(records)
    end = store.end("c")
    assert end is not None
    assert (end.depth, end.run) == (2499, writer.end("e0").run)


def test_a_running_import_is_no_garbage_and_a_dead_one_is(
    open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store()
    writer = ImportWriter(store._database, new_conversation("c"))  # never finished, as after a crash
    writer.add([user(entry_id="a")])
    other = open_store("other")
    other._purger.wait()
    writer.add([user(entry_id="b", parent="a")])
    monkeypatch.setattr(purging, "IMPORT_SECONDS", -60)
    open_store("later")._purger.wait()
    with pytest.raises(ImportPausedError):
        writer.add([user(entry_id="c", parent="b")])


@pytest.mark.parametrize("is_ended", [False, True])
def test_an_import_that_another_server_takes_for_dead_ends_before_anything_of_it_goes(
    open_store: OpenStore, monkeypatch: pytest.MonkeyPatch, *, is_ended: bool
) -> None:
    monkeypatch.setattr(purging.Purger, "wake", lambda _: None)
    store, other = open_store(), open_store("other")
    writer = ImportWriter(store._database, new_conversation("c"))
    writer.add([user(entry_id="a"), user(entry_id="b", parent="a")])
    writer.leaf("b")
    monkeypatch.setattr(purging, "IMPORT_SECONDS", -60)  # as of a clock that is ahead
    assert other._database.write(lambda connection: purging.purge_some(connection, 1))
    monkeypatch.undo()
    with pytest.raises(ImportPausedError, match="clock of a server"):
        writer.finish("one", NOW) if is_ended else writer.add([user(entry_id="c", parent="a")])
    writer.abandon()
    with store._database.reading() as connection:
        assert connection.execute(text("SELECT count(*) FROM entry")).scalar() == 2
    other._purger.wake()
    other._purger.wait()
    with store._database.reading() as connection:
        assert connection.execute(text("SELECT count(*) FROM conversation")).scalar() == 0


def test_an_import_is_announced_once(open_store: OpenStore) -> None:
    one, other = open_store("one"), open_store("other")
    with one.importing(new_conversation("c")) as writer:
        writer.add([user(entry_id="a")])
        assert other.changes() == []
    assert [(change.conversation_id, change.kinds) for change in news(other)] == [("c", ["created"])]
