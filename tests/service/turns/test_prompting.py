"""Turns in the service: stopped after every piece, left by the conversation, summarized by their model."""

import asyncio
from typing import Any

import pytest
from conftest_service import Client, MakeClient
from models.provider_replies import answer, cut_the_stream, hang_in_the_stream
from models.provider_server import Exchange, ProviderServer, Reply
from models.provider_window import ScriptedReply, Windowed
from waiting import PATIENCE

from coppice.errors import CoppiceError, ModelFailedError, StaleLeafError
from coppice.protocol.base import WireModel
from coppice.protocol.prompt import MessageUpdate
from coppice.protocol.server_requests import INVOKE_TOOL
from coppice.service.core.progress import NoProgress

WINDOW = 4_000
READ = {"name": "read", "description": "Reads a file.", "inputSchema": {"type": "object"}}
SUMMARY = "## Goal\nSo it is.\n\n## Next Steps\n1. Go on with question 19 and so it is."
CALLS = ScriptedReply(
    "I look.", calls=[("c1", "read", {"path": "a"}), ("c2", "read", {"path": "b"})], thinking="Hm."
)
LONG = [f"{'question' if number % 2 == 0 else 'answer'} {number} " + "so it is " * 80 for number in range(20)]


def settings(server: ProviderServer, **more: Any) -> dict[str, Any]:
    return {
        "model": {"provider": "openai", "name": "m", "baseUrl": server.url, "contextWindow": WINDOW},
        "summarizer": {"provider": "offline"},
        "tokens": {"counter": "estimate"},
        "compaction": {"reserveTokens": 500, "keepRecentTokens": 500},
        **more,
    }


def provider(*replies: Reply | ScriptedReply) -> ProviderServer:
    return ProviderServer([Windowed(WINDOW, replies)])


async def runs_tools(method: str, params: WireModel) -> Any:
    assert method == "coppice/invokeTool"
    path = params.model_dump(by_alias=True)["arguments"]["path"]
    return {"content": [{"type": "text", "text": f"what stands in {path}"}]}


async def prompting(make_client: MakeClient, server: ProviderServer, **more: Any) -> Client:
    client: Client = await make_client(settings(server, **more))
    client.port.answer(runs_tools, INVOKE_TOOL)
    return client


async def messages(client: Client, about: dict[str, Any]) -> list[dict[str, Any]]:
    entries = (await client.ask("entries", **about, limit=1000))["entries"]
    return [entry["message"] for entry in entries if entry["type"] == "message"]


class StopAfter(NoProgress):
    """Cancels the turn after so many reports."""

    def __init__(self, pieces: int) -> None:
        self.left = pieces
        self.running: asyncio.Task[WireModel] | None = None
        self.reports: list[WireModel] = []

    def partial(self, value: WireModel) -> None:
        self.reports.append(value)
        self.left -= 1
        if self.left == 0 and self.running is not None:
            self.running.cancel()


async def stopped_after(client: Client, about: dict[str, Any], pieces: int) -> tuple[StopAfter, bool]:
    """Runs a turn with tools until it has reported that much; whether it ended all the same."""
    progress = StopAfter(pieces)
    asked = client.call("prompt", progress, **about, content="Look.", tools=[READ])
    progress.running = asyncio.create_task(asked)
    try:
        await asyncio.wait_for(progress.running, PATIENCE)
    except asyncio.CancelledError:
        return progress, False
    return progress, True


async def test_a_turn_can_be_stopped_after_each_piece_it_sends(make_client: MakeClient) -> None:
    ends = 0
    for pieces in range(1, 100):
        async with provider(CALLS, ScriptedReply("Both read."), ScriptedReply("Here.")) as server:
            client = await prompting(make_client, server)
            about = {"conversationId": await client.conversation(*LONG)}
            before = await messages(client, about)
            progress, ended = await stopped_after(client, about, pieces)
            stored = (await messages(client, about))[len(before) :]
            reports = [one.message for one in progress.reports if isinstance(one, MessageUpdate)]
            assert [one.model_dump(mode="json", by_alias=True) for one in reports] == stored
            calls = [
                block["id"]
                for message in stored
                if message["role"] == "assistant"
                for block in message["content"]
                if block["type"] == "toolCall"
            ]
            results = [message["toolCallId"] for message in stored if message["role"] == "toolResult"]
            assert sorted(results) == calls
            assert (await client.ask("prompt", **about, content="And now?"))["stopReason"] == "stop"
            await client.service.close()
        ends += ended
        if ended and len(progress.reports) < pieces:
            break
    assert ends
    assert pieces > 12


async def test_a_conversation_that_is_taken_elsewhere_ends_the_turn(make_client: MakeClient) -> None:
    async with provider(CALLS, ScriptedReply("Never said.")) as server:
        client = await prompting(make_client, server)
        about = {"conversationId": await client.conversation(*LONG[:4])}
        target = (await client.ask("entries", **about))["entries"][1]["id"]

        async def goes_elsewhere(method: str, params: WireModel) -> Any:
            store = client.service.stores.of_conversation(about["conversationId"])
            await asyncio.to_thread(
                store.set_leaf, about["conversationId"], target, modified_at="2026-01-01T00:00:00Z"
            )
            return await runs_tools(method, params)

        client.port.answer(goes_elsewhere, INVOKE_TOOL)
        with pytest.raises(StaleLeafError):
            await client.ask("prompt", **about, content="Look.", tools=[READ])
        assert [message["role"] for message in await messages(client, about)] == ["user", "assistant"]
        client.port.answer(runs_tools, INVOKE_TOOL)
        assert (await client.ask("prompt", **about, content="And now?"))["stopReason"] == "stop"


async def test_deleting_a_conversation_ends_its_turn(make_client: MakeClient) -> None:
    async with provider(hang_in_the_stream) as server:
        client = await prompting(make_client, server)
        about = {"conversationId": await client.conversation()}
        running = asyncio.create_task(client.ask("prompt", **about, content="Look."))
        await server.until(lambda: server.requests != [])
        assert await client.ask("conversation/delete", **about) == {"deleted": True}
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(running, PATIENCE)
        with pytest.raises(CoppiceError):
            await client.ask("entries", **about)


async def by_purpose(exchange: Exchange) -> None:
    summarizes = "<conversation>" in str(exchange.request.body)
    await answer(SUMMARY if summarizes else "Yes.", usage=None)(exchange)


async def test_the_model_of_the_turn_may_write_its_summaries_too(make_client: MakeClient) -> None:
    async with provider(by_purpose) as server:
        client = await prompting(make_client, server, summarizer={"provider": "inherit"})
        about = {"conversationId": await client.conversation(*LONG)}
        done = await client.ask("prompt", **about, content="And now?")
        [compaction] = done["compactions"]
        entries = {entry["id"]: entry for entry in (await client.ask("entries", **about))["entries"]}
        assert entries[compaction]["model"].startswith("openai/")
        assert "So it is." in entries[compaction]["summary"]
        assert (await client.ask("context", **about))["messages"][0]["entryId"] == compaction
        assert entries[done["entryIds"][1]]["message"]["content"] == [{"type": "text", "text": "Yes."}]


async def test_what_failed_is_kept_with_what_had_come(make_client: MakeClient) -> None:
    async with provider(ScriptedReply("Here.")) as server:
        client = await prompting(make_client, server)
        about = {"conversationId": await client.conversation()}
        server.script = [cut_the_stream]
        with pytest.raises(ModelFailedError) as failure:
            await client.ask("prompt", **about, content="Hello?")
        message = (await messages(client, about))[-1]
        assert (message["stopReason"], message["errorMessage"]) == ("error", str(failure.value))
        assert message["content"] == [{"type": "text", "text": "The begin"}]


async def test_a_window_that_the_server_reports_holds_for_everything(make_client: MakeClient) -> None:
    listing = {"data": [{"id": "m", "max_model_len": WINDOW}]}
    async with ProviderServer([Windowed(WINDOW, [ScriptedReply("Yes.")])], {"/v1/models": listing}) as server:
        model = {"provider": "openai", "name": "m", "baseUrl": server.url}
        client = await prompting(make_client, server, model=model)
        about = {"conversationId": await client.conversation(*LONG)}
        assert (await client.ask("usage", **about))["contextWindow"] == 200_000
        done = await client.ask("prompt", **about, content="And now?")
        assert len(done["compactions"]) == 1
        assert done["usage"]["contextWindow"] == WINDOW
        assert client.notified("usageChanged")[-1]["usage"]["contextWindow"] == WINDOW
        assert (await client.ask("usage", **about))["contextWindow"] == WINDOW
        assert (await client.ask("prompt", **about, content="And then?"))["stopReason"] == "stop"
        assert len(server.asked) == 1


async def test_a_window_that_is_set_is_not_asked_for(make_client: MakeClient) -> None:
    async with provider(ScriptedReply("Yes.")) as server:
        client = await prompting(make_client, server)
        about = {"conversationId": await client.conversation()}
        await client.ask("prompt", **about, content="Hello?")
        assert server.asked == []
        assert (await client.ask("usage", **about))["contextWindow"] == WINDOW
