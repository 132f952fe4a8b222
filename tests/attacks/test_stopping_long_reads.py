"""What reads a whole conversation ends soon after a cancel: the client that asked has gone on."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from conftest_service import Client, user
from waiting import PATIENCE, until

from coppice.service.core import conversation_path
from coppice.store.search import indexing
from coppice.store.store import Store

ENTRIES = 200


class Held:
    """Counts the pieces that are read, and holds the reading at the first until `release` is called."""

    def __init__(self) -> None:
        self.pieces = 0
        self._released = threading.Event()

    def counting(self, work: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any) -> Any:
            self.pieces += 1
            self._released.wait(PATIENCE)
            return work(*args)

        return counted

    async def ended_by_a_cancel(self, asked: "asyncio.Task[Any]") -> None:
        await until(lambda: self.pieces == 1)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        self._released.set()
        await asyncio.sleep(0.1)
        assert self.pieces <= 2


async def long_conversation(client: Client) -> str:
    conversation = await client.conversation()
    entries = [user(f"rowan {number}") for number in range(ENTRIES)]
    await client.ask("append", conversationId=conversation, entries=entries)
    return conversation


@pytest.mark.parametrize("method", ["ledger", "compactPreview"])
async def test_reading_ends_with_the_request(
    client: Client, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    about: dict[str, Any] = {"conversationId": await long_conversation(client)}
    if method == "compactPreview":
        about["settings"] = {"compaction": {"keepRecentTokens": 1}}
    held = Held()
    monkeypatch.setattr(Store, "entries", held.counting(Store.entries))
    monkeypatch.setattr(Store, "rows", held.counting(Store.rows))
    monkeypatch.setattr(conversation_path, "_A_PIECE", 2)
    monkeypatch.setattr(conversation_path, "_ROWS", 2)
    await held.ended_by_a_cancel(asyncio.create_task(client.ask(method, **about)))


@pytest.mark.parametrize(
    ("method", "query"), [("conversation/search", "rowan"), ("recall", "rowan"), ("recall", "Where is it?")]
)
async def test_indexing_ends_with_the_request(
    client: Client, monkeypatch: pytest.MonkeyPatch, method: str, query: str
) -> None:
    conversation = await long_conversation(client)
    held = Held()
    monkeypatch.setattr(indexing, "BATCH_ENTRIES", 1)
    monkeypatch.setattr(indexing, "BATCH_CHARS", 1)
    monkeypatch.setattr(indexing, "index_some", held.counting(indexing.index_some))
    asked = asyncio.create_task(client.ask(method, conversationId=conversation, query=query))
    await held.ended_by_a_cancel(asked)
