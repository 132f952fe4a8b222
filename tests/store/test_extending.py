"""A stored transcript grows with its file: what is new is added, what changed is stored beside the old."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from store.conftest import OpenStore
from store.store_kit import (
    activity,
    assistant,
    compaction,
    label,
    named,
    new_conversation,
    news,
    record,
    user,
)

from coppice.errors import UnknownEntryError
from coppice.store.schema.records import NewRecord
from coppice.store.store import Store
from coppice.store.tree.extending import ExtendWriter
from coppice.tree.entries import HARNESS_TYPE

SAVED = {"tokenizer": 1, "estimate": 1}
LATER = "2025-06-02T12:00:00.000Z"


@pytest.fixture
def store(open_store: OpenStore) -> Store:
    """A store with the conversation `c` of two messages."""
    store = open_store()
    with store.importing(new_conversation("c")) as writer:
        writer.add([user("Plant.", "a"), assistant("Planted.", "b", parent="a")])
    return store


def fresh(writer: ExtendWriter, records: Sequence[NewRecord]) -> list[NewRecord]:
    """Those of the records that are not stored yet, under their new ids."""
    entries = writer.fresh([each.entry for each in records])
    sizes = {writer.renamed.get(each.entry.id, each.entry.id): each for each in records}
    return [replace(sizes[entry.id], entry=entry) for entry in entries]


def extend(store: Store, *records: NewRecord) -> ExtendWriter:
    writer = store.extending("c")
    writer.add(fresh(writer, records))
    return writer


def path_to(store: Store, entry_id: str) -> list[str]:
    end = store.end("c", entry_id)
    return [] if end is None else [row.id for row in store.rows(end, 0, end.depth)]


def test_what_follows_is_added_once(store: Store) -> None:
    grown = [assistant("Planted.", "b", parent="a"), user("And a beech?", "d", parent="b", timestamp=LATER)]
    assert extend(store, *grown).stored == 1
    assert extend(store, *grown).stored == 0
    conversation = store.conversation("c")
    assert (conversation.entry_count, conversation.modified_at) == (3, LATER)
    assert path_to(store, "d") == ["a", "b", "d"]


def test_what_another_conversation_has_under_the_same_ids_is_added(store: Store) -> None:
    grown = [user("And a beech?", "d", parent="b")]
    extend(store, *grown)
    with store.importing(new_conversation("copy")) as importer:
        importer.add([user("Plant.", "a"), assistant("Planted.", "b", parent="a")])
    writer = store.extending("copy")
    writer.add(fresh(writer, grown))
    assert (writer.stored, writer.renamed) == (1, {})
    assert store.conversation("copy").entry_count == 3


def test_servers_that_read_the_same_growth_at_once_store_it_once(store: Store, open_store: OpenStore) -> None:
    one, other = store.extending("c"), open_store("other").extending("c")
    grown = [user("And a beech?", "d", parent="b")]
    of_one, of_other = fresh(one, grown), fresh(other, grown)
    one.add(of_one)
    store.changes()
    other.add(of_other)
    assert (one.stored, other.stored) == (1, 0)
    assert store.conversation("c").entry_count == 3
    assert store.changes() == []


def test_other_servers_are_notified_of_what_was_added(store: Store, open_store: OpenStore) -> None:
    other = open_store("other")
    extend(store, user("And a beech?", "d", parent="b"), named("Trees", "n", parent="d"))
    (change,) = news(other)
    assert (change.conversation_id, set(change.kinds)) == ("c", {"entries", "name"})
    assert other.conversation("c").name == "Trees"


def test_metadata_that_leads_on_lies_on_the_path_and_other_metadata_beside_it(store: Store) -> None:
    extend(
        store,
        named("Trees", "n", parent="b"),
        user("And a beech?", "d", parent="n"),
        activity("beech.txt", "f", parent="d"),
        user("And an oak?", "e", parent="d"),
    )
    assert path_to(store, "e") == ["a", "b", "n", "d", "e"]


def test_an_entry_whose_parent_is_missing_is_refused(store: Store) -> None:
    with pytest.raises(UnknownEntryError):
        extend(store, user("And a beech?", "d", parent="nowhere"))
    assert store.conversation("c").entry_count == 2


def test_what_follows_a_changed_entry_refers_to_its_copy(store: Store) -> None:
    writer = extend(
        store,
        assistant("Planted two.", "b", parent="a"),
        label("b", "here", "l", parent="b"),
        record("context_edit", "x", parent="b", cleared=["a", "b"], saved=SAVED),
        compaction("b", "k", parent="b"),
        record("branch_summary", "s", parent="a", summary="Two trees.", fromId="b"),
    )
    assert writer.renamed == {"b": "b~2"}
    entries = {entry.id: entry.model_dump(by_alias=True) for entry in store.all_entries("c")}
    assert {entries[each]["parentId"] for each in ("l", "x", "k")} == {"b~2"}
    assert entries["l"]["targetId"] == "b~2"
    assert entries["x"]["cleared"] == ["a", "b~2"]
    assert entries["k"]["firstKeptEntryId"] == "b~2"
    assert (entries["s"]["parentId"], entries["s"]["fromId"]) == ("a", "b~2")
    assert entries["b"]["message"]["content"] == [{"type": "text", "text": "Planted."}]


def test_an_entry_that_moved_to_another_parent_is_stored_beside_the_old_one(store: Store) -> None:
    writer = extend(store, user("Water it.", "d", parent="b"))
    assert writer.renamed == {}
    writer = extend(store, user("Water it.", "d", parent="a"))
    assert (writer.renamed, writer.stored) == ({"d": "d~2"}, 1)
    assert path_to(store, "d~2") == ["a", "d~2"]


def test_a_changed_entry_that_is_stored_already_is_not_stored_again(store: Store) -> None:
    changed = assistant("Planted two.", "b", parent="a")
    assert extend(store, changed).stored == 1
    again = extend(store, changed)
    assert (again.stored, again.renamed) == (0, {"b": "b~2"})


def by_harness(text: str, kind: str = HARNESS_TYPE) -> NewRecord:
    return record("custom_message", "d", parent="b", customType=kind, content=text, display=False)


def by_user(text: str) -> NewRecord:
    return user(text, "d", parent="b")


def result(text: str = "No.", **more: Any) -> NewRecord:
    content = [{"type": "text", "text": text}]
    message = {"role": "toolResult", "toolCallId": "c", "toolName": "bash", "content": content, **more}
    return record("message", "d", parent="b", message=message)


@pytest.mark.parametrize(
    ("before", "after", "is_same"),
    [
        (by_user("Water it."), by_harness("Water it."), True),
        (by_harness("Water it."), by_user("Water it."), True),
        (by_user("Water it."), by_harness("Water them."), False),
        (by_user("Water it."), user("Water it.", "d", parent="b", note=1), False),
        (by_user("Water it."), by_harness("Water it.", "other"), False),
        (result(details={"denied": True}), result(), True),
        (result(details={"denied": True, "n": 1}), result(details={"n": 1, "pi.denied": True}), True),
        (result(), result(details={"answered": True, "answer": "No."}), True),
        (result(details={"answered": True, "answer": "Yes"}), result(details={"answered": True}), True),
        (result(details={"denied": True}), result("Yes."), False),
        (result(details={"denied": True}), result(isError=True), False),
        (result(details={"denied": True, "n": 1}), result(details={"n": 2}), False),
    ],
)
def test_what_is_only_taken_for_another_s_words_is_not_stored_again(
    store: Store,
    before: NewRecord,
    after: NewRecord,
    is_same: bool,  # noqa: FBT001 - a table
) -> None:
    extend(store, before)
    writer = extend(store, after, assistant("Watered.", "e", parent="d"))
    assert (writer.stored, writer.renamed) == ((1, {}) if is_same else (2, {"d": "d~2"}))


def test_an_entry_that_changes_all_the_time_is_stored_some_times_only(store: Store) -> None:
    stored = [extend(store, assistant(f"Planted {number}.", "b", parent="a")).stored for number in range(20)]
    assert 0 < sum(stored) < 10
