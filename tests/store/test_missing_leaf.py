"""A conversation whose leaf, or the compaction before it, was lost to damage is written to by nothing."""

import pytest
from sqlalchemy import delete
from store.store_kit import NOW, compaction, pin, user

from coppice.errors import StoreDamagedError
from coppice.store.schema.tables import COMPACTION, ENTRY_TABLE
from coppice.store.store import Store


def test_nothing_is_written_after_a_leaf_whose_row_is_gone(store: Store, conversation: str) -> None:
    store.append(conversation, [user(entry_id="a"), user(entry_id="b")], modified_at=NOW)
    with store._database.writing() as connection:  # as damage takes it
        connection.execute(delete(ENTRY_TABLE).where(ENTRY_TABLE.c.id == "b"))
    with pytest.raises(StoreDamagedError, match="--repair"):
        store.append(conversation, [user(entry_id="c")], modified_at=NOW)
    with pytest.raises(StoreDamagedError, match="--repair"):
        store.set_leaf(conversation, "a", modified_at=NOW)
    assert [entry.id for entry in store.all_entries(conversation)] == ["a"]


def test_nothing_is_written_below_a_compaction_whose_row_is_gone(store: Store, conversation: str) -> None:
    entries = [user(entry_id="a"), user(entry_id="b"), compaction("b", "c"), user(entry_id="d")]
    store.append(conversation, entries, modified_at=NOW)
    store.append(conversation, [user(entry_id="e")], parent_id="a", modified_at=NOW)
    with store._database.writing() as connection:  # as damage takes it
        connection.execute(delete(COMPACTION))
    with pytest.raises(StoreDamagedError, match="--repair"):
        store.append(conversation, [user(entry_id="f")], parent_id="d", modified_at=NOW)
    store.set_leaf(conversation, "d", modified_at=NOW)
    for entry in (user(entry_id="g"), pin("a")):
        with pytest.raises(StoreDamagedError, match="--repair"):
            store.append(conversation, [entry], modified_at=NOW)
    assert [entry.id for entry in store.all_entries(conversation)] == ["a", "b", "c", "d", "e"]
