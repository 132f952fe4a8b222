"""Turns whose provider fails for the moment, and turns that go on after they were broken off."""

import asyncio
from typing import Any

import pytest
from conftest_service import Client, MakeClient, assistant, user
from models.provider_replies import answer, cut_the_stream, error
from models.provider_server import ProviderServer, Reply
from waiting import PATIENCE, until

from coppice.errors import ModelFailedError, NothingToContinueError
from coppice.models.chat import ModelError
from coppice.protocol.base import WireModel
from coppice.protocol.prompt import WaitUpdate
from coppice.service.core.progress import NoProgress
from coppice.service.turns.model_requests import Waiting

BUSY = error(429, "Slow down.", retry_after_ms="20")
MINUTES = error(503, "Overloaded.", retry_after="300")


class Waits(NoProgress):
    def __init__(self) -> None:
        self.seen: list[WaitUpdate] = []

    def partial(self, value: WireModel) -> None:
        if isinstance(value, WaitUpdate):
            self.seen.append(value)


async def client_of(make_client: MakeClient, server: ProviderServer, **more: Any) -> Client:
    model = {"provider": "openai", "name": "m", "baseUrl": server.url, "contextWindow": 50_000}
    client: Client = await make_client({"model": model, "summarizer": {"provider": "offline"}, **more})
    return client


async def texts(client: Client, about: dict[str, Any]) -> list[tuple[str, Any]]:
    entries = (await client.ask("entries", **about))["entries"]
    return [(entry["message"]["role"], entry["message"].get("stopReason")) for entry in entries]


@pytest.mark.parametrize("failure", [BUSY, cut_the_stream], ids=["429", "cut-off"])
async def test_a_provider_that_fails_for_the_moment_is_waited_for(
    make_client: MakeClient, failure: Reply
) -> None:
    async with ProviderServer([failure, failure, answer("Here.")]) as server:
        client = await client_of(make_client, server)
        about = {"conversationId": await client.conversation()}
        waits = Waits()
        running = asyncio.create_task(client.call("prompt", waits, **about, content="Hello?", patience=60))
        await until(lambda: len(waits.seen) == 1)
        await client.ask("askNow", **about)
        await until(lambda: len(waits.seen) == 2)
        await client.ask("askNow", **about)
        await asyncio.wait_for(running, PATIENCE)
        assert [wait.attempt for wait in waits.seen] == [1, 2]
        assert await texts(client, about) == [("user", None), ("assistant", "stop")]


async def test_each_pause_is_announced_with_its_length_and_its_reason(make_client: MakeClient) -> None:
    async with ProviderServer([MINUTES, error(500, "Broken."), answer("Here.")]) as server:
        client = await client_of(make_client, server)
        about = {"conversationId": await client.conversation()}
        waits = Waits()
        assert await client.ask("askNow", **about) == {"waited": False}
        running = asyncio.create_task(client.call("prompt", waits, **about, content="Hello?", patience=900))
        await until(lambda: len(waits.seen) == 1)
        assert waits.seen[0].seconds == 300
        assert "Overloaded" in waits.seen[0].message
        assert await client.ask("askNow", **about) == {"waited": True}
        await until(lambda: len(waits.seen) == 2)
        assert waits.seen[1].seconds == 2
        await client.ask("askNow", **about)
        await asyncio.wait_for(running, PATIENCE)
        assert await client.ask("askNow", **about) == {"waited": False}


async def test_a_pause_can_be_stopped_and_the_turn_goes_on_later(make_client: MakeClient) -> None:
    async with ProviderServer([MINUTES, answer("Here.")]) as server:
        client = await client_of(make_client, server)
        about = {"conversationId": await client.conversation()}
        waits = Waits()
        running = asyncio.create_task(client.call("prompt", waits, **about, content="Hello?", patience=900))
        await until(lambda: len(waits.seen) == 1)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(running, PATIENCE)
        assert await texts(client, about) == [("user", None)]
        assert (await client.ask("prompt", **about))["stopReason"] == "stop"
        assert await texts(client, about) == [("user", None), ("assistant", "stop")]


@pytest.mark.parametrize(
    ("failure", "patience"),
    [
        (error(429, "Slow down.", retry_after="601"), 3600),
        (error(429, "Slow down.", retry_after="120"), 60),
        (error(401, "No."), 60),
        (error(400, "What?"), 60),
    ],
    ids=["more than ten minutes", "more than the patience", "key", "refused"],
)
async def test_what_does_not_pass_soon_ends_the_turn_at_once(
    make_client: MakeClient, failure: Reply, patience: int
) -> None:
    async with ProviderServer([failure]) as server:
        client = await client_of(make_client, server)
        about = {"conversationId": await client.conversation()}
        with pytest.raises(ModelFailedError):
            await client.ask("prompt", **about, content="Hello?", patience=patience)
        assert len(server.requests) == 1


async def test_patience_ends(make_client: MakeClient) -> None:
    async with ProviderServer([BUSY]) as server:
        client = await client_of(make_client, server)
        about = {"conversationId": await client.conversation()}
        with pytest.raises(ModelFailedError):
            await client.ask("prompt", **about, content="Hello?", patience=1)
        assert len(server.requests) > 1
        assert await texts(client, about) == [("user", None), ("assistant", "error")]


async def test_a_turn_goes_on_after_a_failure_and_after_a_killed_tool(make_client: MakeClient) -> None:
    async with ProviderServer([cut_the_stream, answer("Here.")]) as server:
        client = await client_of(make_client, server)
        about = {"conversationId": await client.conversation()}
        with pytest.raises(ModelFailedError):
            await client.ask("prompt", **about, content="Hello?")
        await client.ask("prompt", **about)
        assert [role for role, _ in await texts(client, about)] == ["user", "assistant", "assistant"]
        assert [message["role"] for message in server.requests[-1].body["messages"]] == ["user"]

        called = assistant("I look.")
        called["message"]["content"].append({"type": "toolCall", "id": "c", "name": "read", "arguments": {}})
        await client.ask("append", **about, entries=[user("And now?"), called])
        await client.ask("prompt", **about)
        assert server.requests[-1].body["messages"][-1]["role"] == "tool"


async def test_a_reply_that_was_cut_at_its_limit_is_gone_on_with_and_nothing_is_put_into_the_users_mouth(
    make_client: MakeClient,
) -> None:
    replies = [
        answer("Once upon", stop="length"),
        answer("a time", stop="length"),
        answer("."),
        answer("Ok."),
    ]
    async with ProviderServer(replies) as server:
        client = await client_of(make_client, server)
        about = {"conversationId": await client.conversation()}
        ends = [(await client.ask("prompt", **about, content="Tell."))["stopReason"]]
        ends += [(await client.ask("prompt", **about))["stopReason"] for _ in range(2)]
        assert ends == ["length", "length", "stop"]
        stored = [("user", None), ("assistant", "length"), ("assistant", "length"), ("assistant", "stop")]
        assert await texts(client, about) == stored
        *sent, asked = server.requests[1].body["messages"]
        assert [message["role"] for message in sent] == ["user", "assistant"]
        assert (asked["role"], "cut off" in asked["content"]) == ("user", True)
        with pytest.raises(NothingToContinueError):
            await client.ask("prompt", **about)
        await client.ask("prompt", **about, content="Thanks.")
        assert "cut off" not in str(server.requests[-1].body["messages"])


async def test_what_comes_after_a_cut_reply_leaves_it_to_be_gone_on_with(make_client: MakeClient) -> None:
    replies = [answer("Once upon", stop="length"), answer(calls=[("c", "look", {})]), answer("a time.")]
    async with ProviderServer(replies) as server:
        client = await client_of(make_client, server)
        about = {"conversationId": await client.conversation()}
        await client.ask("prompt", **about, content="Tell.")
        await client.ask("note/add", text="Be brief.")
        await client.ask("prompt", **about)
        cut, note, asked = server.requests[1].body["messages"][1:]
        assert (cut["content"], "Be brief." in note["content"]) == ("Once upon", True)
        assert "cut off" in asked["content"]
        assert "cut off" not in str(server.requests[2].body["messages"])


@pytest.mark.parametrize(("kept", "is_kept"), [(1, False), (20_000, True)])
async def test_a_cut_reply_that_a_compaction_replaced_is_not_gone_on_with(
    make_client: MakeClient,
    kept: int,
    is_kept: bool,  # noqa: FBT001 - a table
) -> None:
    too_long = error(400, "prompt is too long", code="context_length_exceeded")
    replies = [answer("Once upon", stop="length"), too_long, answer("The end.")]
    async with ProviderServer(replies) as server:
        client = await client_of(make_client, server, compaction={"keepRecentTokens": kept})
        about = {"conversationId": await client.conversation(*(f"Tree {n}. " * 900 for n in range(8)))}
        await client.ask("prompt", **about, content="Tell.")
        await client.ask("note/add", text="Be brief.")
        assert len((await client.ask("prompt", **about))["compactions"]) == 1
        refused, again = (request.body["messages"] for request in server.requests[1:])
        assert "cut off" in refused[-1]["content"]
        assert ("cut off" in again[-1]["content"]) == is_kept
        assert ({"role": "assistant", "content": "Once upon"} in again) == is_kept


async def test_a_reply_that_was_cut_before_its_first_word_is_asked_for_again(make_client: MakeClient) -> None:
    thinking = answer("\n", thinking="Hm", stop="length")
    replies = [thinking, thinking, answer("Once upon", stop="length"), thinking, answer("a time.")]
    async with ProviderServer(replies) as server:
        client = await client_of(make_client, server)
        about = {"conversationId": await client.conversation()}
        await client.ask("prompt", **about, content="Tell.")
        for _ in range(4):
            await client.ask("prompt", **about)
        sent = [request.body["messages"] for request in server.requests]
        assert sent[:3] == [[{"role": "user", "content": "Tell."}]] * 3
        assert [message["role"] for message in sent[4]] == ["user", "assistant", "user"]
        assert sent[3] == sent[4]
        assert "cut off" in sent[4][-1]["content"]


async def test_an_answered_conversation_has_nothing_to_continue(make_client: MakeClient) -> None:
    async with ProviderServer([answer("Here.")]) as server:
        client = await client_of(make_client, server)
        for words in ((), ("Hello?", "Hello.")):
            about = {"conversationId": await client.conversation(*words)}
            with pytest.raises(NothingToContinueError):
                await client.ask("prompt", **about)
        assert server.requests == []


async def test_a_provider_that_asks_for_no_pause_is_not_asked_without_end() -> None:
    waiting = Waiting(1800.0)
    pauses = []
    for _ in range(8):
        pauses.append(waiting.next_pause(ModelError("Slow down.", kind="rate-limit", retry_after=0.0)))
        await waiting.pause(0.0)
    assert pauses == [0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
