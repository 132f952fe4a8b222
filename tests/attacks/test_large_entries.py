"""Entries with large pictures cost what is read of them, however many there are."""

import sqlite3
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attacks.store_attacks import opened
from sqlalchemy import event
from store.store_kit import NOW, new_conversation, user

from coppice.store.schema.records import LEAF, NewRecord
from coppice.store.search import indexing
from coppice.store.store import Store
from coppice.store.tree import paging
from coppice.tree.entries import MessageEntry
from coppice.tree.messages import ImageContent, TextContent, UserContent, UserMessage

ENTRIES = 100
CHARS = 1_000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with opened(tmp_path / "trees.sqlite3") as made:
        made.create(new_conversation("c"))
        yield made


def count_measured(store: Store) -> list[int]:
    """The lengths of bodies that the database is made to compute from now on."""
    measured: list[int] = []

    def length(text: str) -> int:
        measured.append(len(text))
        return len(text)

    def connected(connection: sqlite3.Connection, _: Any) -> None:
        connection.create_function("length", 1, length)

    event.listen(store._database._engine, "connect", connected)
    store.rest()
    return measured


def picture(number: int, chars: int) -> NewRecord:
    content: list[UserContent] = [
        TextContent(text=f"oak {number}"),
        ImageContent(data="A" * chars, mime_type="image/png"),
    ]
    entry = MessageEntry(id=f"p{number}", parent_id=None, timestamp=NOW, message=UserMessage(content=content))
    return NewRecord(entry, user().size, None)


def test_each_entry_is_measured_about_once_for_the_index(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "BATCH_CHARS", 3 * CHARS)
    store.append("c", [user("oak " + "x" * CHARS) for _ in range(ENTRIES)], modified_at=NOW)
    measured = count_measured(store)
    assert len(store.search("oak", limit=2 * ENTRIES)) == ENTRIES
    assert ENTRIES <= len(measured) <= 2 * ENTRIES


@pytest.mark.parametrize("backward", [False, True])
def test_each_entry_is_measured_about_once_for_pages(
    store: Store, monkeypatch: pytest.MonkeyPatch, *, backward: bool
) -> None:
    monkeypatch.setattr(paging, "PAGE_CHARS", 3 * CHARS)
    store.append("c", [user("x" * CHARS) for _ in range(ENTRIES)], modified_at=NOW)
    measured = count_measured(store)
    end = store.end("c", LEAF)
    assert end is not None
    low, high, read = 0, end.depth, 0
    while low <= high:
        page = len(store.page(end, low, high, backward=backward))
        read += page
        low, high = (low, high - page) if backward else (low + page, high)
    assert read == ENTRIES
    assert ENTRIES <= len(measured) <= 2 * ENTRIES


def test_pictures_of_candidates_are_not_held_in_memory(store: Store) -> None:
    chars = 1_000_000
    for number in range(30):
        store.append("c", [picture(number, chars)], modified_at=NOW)
    keys = [store.key_of("c", f"p{number}") for number in range(30)]
    tracemalloc.start()
    try:
        rows = store.recall_rows(keys)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [row.message["content"] for row in rows] == [
        [{"type": "text", "text": f"oak {number}"}] for number in range(30)
    ]
    assert peak < 10 * chars
