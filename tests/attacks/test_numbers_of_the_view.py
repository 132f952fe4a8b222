"""Reports and decisions count what the view holds, whatever else is on the path."""

import asyncio
from typing import Any

import pytest
from conftest_service import Client, MakeClient, assistant, user

from coppice.compaction.asking.summarizer import SummaryRequest, WrittenSummary

SETTINGS = {"tokens": {"counter": "estimate"}, "compaction": {"keepRecentTokens": 500}}
LARGE = 1_000_000
"""Tokens, by estimate."""


class Held:
    """A summarizer that writes when it is released."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.released = asyncio.Event()

    async def summarize(self, request: SummaryRequest) -> WrittenSummary:
        del request
        self.begun.set()
        await self.released.wait()
        return WrittenSummary("## Goal\nWrite the parts.", "held")


def work(turns: int) -> list[dict[str, Any]]:
    return [entry for _ in range(turns) for entry in (user("u" * 1_000), assistant("a" * 1_000))]


async def grown(client: Client, turns: int = 12) -> dict[str, str]:
    made = await client.conversation()
    await client.ask("append", conversationId=made, entries=work(turns))
    return {"conversationId": made}


async def test_what_is_appended_during_a_compaction_counts_in_its_report(make_client: MakeClient) -> None:
    held = Held()
    client: Client = await make_client(SETTINGS, held)
    about = await grown(client)
    compaction = asyncio.create_task(client.ask("compact", **about))
    await held.begun.wait()
    await client.ask("append", **about, entries=work(200))
    held.released.set()
    done = await compaction
    view = await client.ask("usage", **about)
    assert view["tokens"] > 100_000
    assert done["tokensAfter"] == done["entry"]["tokensAfter"] == view["tokens"]
    assert done["tokensBefore"] == (212 * 500)
    (ended,) = client.notified("compactionEnded")
    assert (ended["tokensBefore"], ended["tokensAfter"]) == (done["tokensBefore"], view["tokens"])


async def test_what_was_appended_during_a_compaction_can_be_compacted_at_once(
    make_client: MakeClient,
) -> None:
    held = Held()
    client: Client = await make_client(SETTINGS, held)
    about = await grown(client)
    compaction = asyncio.create_task(client.ask("compact", **about))
    await held.begun.wait()
    await client.ask("append", **about, entries=work(200))
    held.released.set()
    await compaction
    again = await client.ask("compact", **about)
    assert again["tokensBefore"] > 100_000
    assert again["tokensAfter"] < 2_000


@pytest.mark.parametrize("stop_reason", ["error", "aborted"])
async def test_a_failed_reply_is_no_token_and_no_reason_to_compact(
    make_client: MakeClient, stop_reason: str
) -> None:
    client: Client = await make_client(SETTINGS)
    about = await grown(client)
    before = await client.ask("usage", **about)
    failed = assistant("x" * 4 * LARGE, stopReason=stop_reason)
    answered = (await client.ask("append", **about, entries=[failed, user("Go on.")]))["usage"]
    assert answered["tokens"] == before["tokens"] + 2
    assert (answered["shouldCompact"], before["tokens"]) == (False, 12 * 500)
    assert (await client.ask("context", **about))["tokens"] == answered["tokens"]
    assert (await client.ask("preparePrompt", **about, prompt="And now?"))["compacted"] is False


async def test_output_that_the_user_kept_from_the_model_is_no_token(make_client: MakeClient) -> None:
    client: Client = await make_client(SETTINGS)
    about = await grown(client, 1)
    hidden = {"role": "bashExecution", "command": "cat log", "output": "x" * 4 * LARGE, "cancelled": False}
    message = {**hidden, "truncated": False, "excludeFromContext": True}
    done = await client.ask("append", **about, entries=[{"type": "message", "message": message}])
    assert done["usage"]["tokens"] == 500
