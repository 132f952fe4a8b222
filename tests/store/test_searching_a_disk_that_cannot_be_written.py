"""Search and recall give what is indexed where nothing can be written."""

import sqlite3

import pytest
from sqlalchemy import event
from store.conftest import OpenStore
from store.store_kit import NOW, new_conversation, user

from coppice.errors import StorageFailedError
from coppice.store.engines.sqlite import SqliteDatabase
from coppice.store.search.indexing import Scope
from coppice.store.search.recalling import Where


def test_what_is_indexed_is_found_where_nothing_can_be_written(open_store: OpenStore) -> None:
    store = open_store("one")
    if not isinstance(store._database, SqliteDatabase):
        pytest.skip("of SQLite's files")
    store.create(new_conversation("c"))
    store.append("c", [user("the rowan", "first")], modified_at=NOW)
    assert [hit.entry_id for hit in store.search("rowan", limit=5)] == ["first"]
    store.append("c", [user("another rowan")], modified_at=NOW)

    @event.listens_for(store._database._engine, "connect")
    def refuse(connection: sqlite3.Connection, _: object) -> None:
        connection.execute("PRAGMA query_only = ON")

    store._database.rest()
    assert [hit.entry_id for hit in store.search("rowan", limit=5)] == ["first"]
    store.make_searchable(Scope("c"))
    [postings] = store.recall_postings(["rowan"], Where(Scope("c")), 5)
    assert len(postings.keys) == 1
    with pytest.raises(StorageFailedError, match="read-only"):
        store.append("c", [user("a third")], modified_at=NOW)
