"""The first search of what is stored indexes it: it shows how far it is, and what was indexed stays."""

import asyncio
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from conftest_service import Client, user
from waiting import until

from coppice.service.core.progress import NoProgress
from coppice.store.search import indexing
from coppice.store.search.indexing import EVERYTHING, Indexer, count_unindexed

ENTRIES = 12
METHODS = pytest.mark.parametrize("method", ["conversation/search", "recall"])


@pytest.fixture(autouse=True)
def one_entry_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is indexed in the background, and each transaction indexes one entry."""
    monkeypatch.setattr(Indexer, "note", lambda _: None)
    monkeypatch.setattr(indexing, "BATCH_CHARS", 1)


class Watching(NoProgress):
    def __init__(self) -> None:
        self.percentages: list[int] = []

    def report(self, stage: str, percentage: int) -> None:
        assert stage == "Indexing"
        self.percentages.append(percentage)


async def filled(client: Client, **where: str) -> str:
    conversation = str((await client.ask("conversation/create", **where))["conversation"]["id"])
    entries = [user(f"rowan {number}") for number in range(ENTRIES)]
    await client.ask("append", conversationId=conversation, entries=entries)
    return conversation


async def percentages(client: Client, method: str, **params: Any) -> list[int]:
    progress = Watching()
    await client.call(method, progress, query="rowan", **params)
    return progress.percentages


def unindexed(client: Client, conversation: str) -> int:
    database = client.service.stores.of_conversation(conversation)._database
    return database.read(lambda connection: count_unindexed(connection, EVERYTHING))


@METHODS
async def test_the_percentage_rises_with_what_is_indexed(client: Client, method: str) -> None:
    conversation = await filled(client)
    seen = await percentages(client, method, conversationId=conversation)
    assert seen == [100 * done // ENTRIES for done in range(1, ENTRIES)]
    assert await percentages(client, method, conversationId=conversation) == []


async def test_the_percentage_rises_over_all_folders(client: Client, tmp_path: Path) -> None:
    folders = [(tmp_path / name).as_uri() for name in ("one", "two")]
    await client.service.set_workspace_folders(folders)
    for folder in folders:
        await filled(client, workspaceUri=folder)
    seen = await percentages(client, "conversation/search")
    assert len(seen) == 2 * (ENTRIES - 1)
    assert all(before < after for before, after in pairwise(seen))
    assert seen[-1] > 90


@METHODS
async def test_what_was_indexed_before_a_cancel_stays(
    client: Client, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    conversation = await filled(client)
    steps, cancelled, index_some = 0, threading.Event(), indexing.index_some

    def held_at_the_third(*args: Any) -> int:
        nonlocal steps
        steps += 1
        if steps == 3:
            cancelled.wait()
        return index_some(*args)

    monkeypatch.setattr(indexing, "index_some", held_at_the_third)
    asked = asyncio.create_task(client.ask(method, conversationId=conversation, query="rowan"))
    await until(lambda: steps == 3)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    cancelled.set()
    await until(lambda: unindexed(client, conversation) == ENTRIES - 3)
    left = ENTRIES - 3
    seen = await percentages(client, method, conversationId=conversation)
    assert seen == [100 * done // left for done in range(1, left)]
    assert steps == ENTRIES
