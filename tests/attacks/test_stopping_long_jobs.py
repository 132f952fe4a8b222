"""Copying a long conversation stops within a second of a cancel, and changes nothing."""

import asyncio
import time
from typing import Any

import pytest
from conftest_service import Client, assistant, user

TURNS = 6_000
LIMIT = 1.0
"""Seconds of processor time."""


async def grown(client: Client) -> dict[str, str]:
    made = await client.conversation()
    first = [entry for _ in range(20) for entry in (user("Begin. " * 500), assistant("Yes."))]
    await client.ask("append", conversationId=made, entries=first)
    await client.ask("compact", conversationId=made, settings={"compaction": {"keepRecentTokens": 500}})
    for start in range(0, TURNS, 1_000):
        turns = [entry for _ in range(start, start + 1_000) for entry in (user("More."), assistant("Done."))]
        await client.ask("append", conversationId=made, entries=turns)
    return {"conversationId": made}


async def cancelled_after(client: Client, seconds: float, method: str, **params: Any) -> float:
    """Cancels a request after some time; the processor seconds until it was answered then."""
    running = asyncio.create_task(client.ask(method, **params))
    await asyncio.sleep(seconds)
    assert not running.done()
    begun = time.process_time()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    return time.process_time() - begun


async def test_fork_and_undo_stop_within_a_second_and_change_nothing(client: Client) -> None:
    about = await grown(client)
    before = await client.ask("conversation/get", **about)
    listed = await client.ask("conversation/list")
    leaf = before["conversation"]["leafId"]
    fork = await cancelled_after(client, 0.1, "conversation/fork", **about, entryId=leaf, position="at")
    undo = await cancelled_after(client, 0.1, "undoCompaction", **about)
    assert max(fork, undo) < LIMIT
    assert await client.ask("conversation/get", **about) == before
    assert await client.ask("conversation/list") == listed
    done = await client.ask("undoCompaction", **about)
    assert done["leafId"] != leaf
