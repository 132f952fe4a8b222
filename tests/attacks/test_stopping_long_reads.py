"""What reads a whole conversation ends soon after a cancel: the client that asked has gone on."""

import asyncio
from typing import Any

import pytest
from conftest_service import Client, user
from waiting import until

from coppice.service.core import conversation_path
from coppice.store.search import indexing
from coppice.store.store import Store

ENTRIES = 200


@pytest.fixture
def pieces(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows with each piece that is read; a conversation has a hundred."""
    read: list[int] = []
    entries, rows = Store.entries, Store.rows

    def counted_entries(store: Store, end: Any, first: int, last: int) -> Any:
        read.append(first)
        return entries(store, end, first, last)

    def counted_rows(store: Store, end: Any, first: int, last: int) -> Any:
        read.append(first)
        return rows(store, end, first, last)

    monkeypatch.setattr(Store, "entries", counted_entries)
    monkeypatch.setattr(Store, "rows", counted_rows)
    monkeypatch.setattr(conversation_path, "_A_PIECE", 2)
    monkeypatch.setattr(conversation_path, "_ROWS", 2)
    return read


async def long_conversation(client: Client) -> str:
    conversation = await client.conversation()
    entries = [user(f"rowan {number}") for number in range(ENTRIES)]
    await client.ask("append", conversationId=conversation, entries=entries)
    return conversation


@pytest.mark.parametrize("method", ["ledger", "compactPreview"])
async def test_reading_ends_with_the_request(client: Client, pieces: list[int], method: str) -> None:
    about: dict[str, Any] = {"conversationId": await long_conversation(client)}
    if method == "compactPreview":
        about["settings"] = {"compaction": {"keepRecentTokens": 1}}
    asked = asyncio.create_task(client.ask(method, **about))
    await until(lambda: bool(pieces))
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    read = len(pieces)
    assert read < ENTRIES // 2
    await asyncio.sleep(0.1)
    assert len(pieces) <= read + 1


@pytest.mark.parametrize(
    ("method", "query"), [("conversation/search", "rowan"), ("recall", "rowan"), ("recall", "Where is it?")]
)
async def test_indexing_ends_with_the_request(
    client: Client, monkeypatch: pytest.MonkeyPatch, method: str, query: str
) -> None:
    monkeypatch.setattr(indexing, "BATCH_ENTRIES", 1)
    monkeypatch.setattr(indexing, "BATCH_CHARS", 1)
    indexed: list[int] = []
    index_some = indexing.index_some

    def counted(*args: Any) -> None:
        indexed.append(1)
        index_some(*args)

    monkeypatch.setattr(indexing, "index_some", counted)
    conversation = await long_conversation(client)
    asked = asyncio.create_task(client.ask(method, conversationId=conversation, query=query))
    await until(lambda: bool(indexed))
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    done = len(indexed)
    assert done < ENTRIES
    await asyncio.sleep(0.1)
    assert len(indexed) <= done + 1
