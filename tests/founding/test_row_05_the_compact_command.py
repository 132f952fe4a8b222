"""`/compact [focus]` typed where a message is expected is the command, for every client."""

from pathlib import Path
from typing import Any

import pytest
from conftest_service import Client, MakeClient
from lsp.panel import chatting
from models.provider_window import ScriptedReply

from coppice.protocol.server_requests import WILL_COMPACT

NO_MODEL = {
    "model": {"contextWindow": 8_000},
    "summarizer": {"provider": "offline"},
    "compaction": {"keepRecentTokens": 1_000, "reserveTokens": 1_000},
}


@pytest.mark.parametrize(
    "typed", ["/compact", [{"type": "text", "text": " /compact\nkeep Part 3 "}]], ids=["text", "block"]
)
async def test_the_command_compacts_and_needs_no_model(tmp_path: Path, typed: Any) -> None:
    async with chatting(tmp_path, settings=NO_MODEL) as panel:
        await panel.append_turns(6_600)
        before = await panel.messages()
        done = await panel.prompt(typed)
        assert done["stopReason"] == "compacted"
        assert done["entryIds"] == []
        assert await panel.messages() == before
        context = await panel.ask("context")
        assert context["compactionId"] == done["compactions"][0]
        assert context["tokens"] == done["usage"]["tokens"]


async def test_the_words_after_the_command_are_the_instructions(make_client: MakeClient) -> None:
    client: Client = await make_client(NO_MODEL)
    asked: list[str | None] = []

    async def hook(_: str, params: Any) -> Any:
        asked.append(params.instructions)
        return {}

    client.port.answer(hook, WILL_COMPACT)
    made = await client.conversation(*["It must stay small and fast. " * 40] * 20)
    await client.ask("prompt", conversationId=made, content="/compact keep\nPart 3 ")
    assert asked == ["keep\nPart 3"]


@pytest.mark.parametrize("typed", ["/compaction is a word", "What does /compact do?", "/ compact"])
async def test_a_message_that_mentions_the_command_is_a_message(tmp_path: Path, typed: str) -> None:
    async with chatting(tmp_path, ScriptedReply("Yes.")) as panel:
        done = await panel.prompt(typed)
        assert done["stopReason"] == "stop"
        assert await panel.roles() == ["user", "assistant"]
