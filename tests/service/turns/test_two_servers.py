"""Two servers on one store: both know of a turn, and only one runs."""

import asyncio
import platform
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from conftest_service import Client, MakeClient
from models.provider_replies import answer, hang_in_the_stream
from models.provider_server import ProviderServer, Reply
from waiting import until

from coppice.errors import ConversationBusyError

MODEL = {"provider": "openai", "name": "m"}


@asynccontextmanager
async def two(
    make_client: MakeClient, *replies: Reply
) -> AsyncIterator[tuple[Client, Client, dict[str, Any]]]:
    """Two clients, each of a server of its own, and a conversation that both know."""
    async with ProviderServer([*replies]) as server:
        settings = {"model": {**MODEL, "baseUrl": server.url}, "summarizer": {"provider": "offline"}}
        one, other = await make_client(settings), await make_client(settings)
        about = {"conversationId": await one.conversation()}
        await other.ask("conversation/get", **about)
        yield one, other, about


def methods(client: Client) -> set[str]:
    return {method.removeprefix("coppice/") for method, _ in client.notifications}


def turns(client: Client) -> list[Any]:
    return [params["turn"] for params in client.notified("turnChanged")]


async def test_a_turn_is_seen_and_refused_by_the_other_server(make_client: MakeClient) -> None:
    async with two(make_client, hang_in_the_stream, answer("Yes.")) as (one, other, about):
        turn = asyncio.create_task(one.ask("prompt", **about, content="Go."))
        await until(lambda: turns(other) == ["elsewhere"])
        assert (await other.ask("conversation/get", **about))["turn"] == "elsewhere"
        assert (await one.ask("conversation/get", **about))["turn"] == "here"
        await until(lambda: "usageChanged" in methods(other))
        leaf = (await other.ask("conversation/get", **about))["conversation"]["leafId"]
        for method, params in {
            "prompt": {"content": "Me too."},
            "compact": {},
            "undoCompaction": {},
            "truncateToolResults": {},
            "turn/begin": {},
        }.items():
            with pytest.raises(ConversationBusyError) as refusal:
                await other.ask(method, **about, **params)
            assert refusal.value.data["elsewhere"] is True
            assert "another window" in str(refusal.value)
        assert (await other.ask("conversation/get", **about))["conversation"]["leafId"] == leaf

        assert (await other.ask("cancel", **about))["cancelled"] == ["turn"]
        with pytest.raises(asyncio.CancelledError):
            await turn
        await until(lambda: turns(other) == ["elsewhere", None])
        assert turns(one) == ["here", None]
        assert (await other.ask("prompt", **about, content="Me too."))["stopReason"] == "stop"


async def test_both_count_the_same_after_a_turn(make_client: MakeClient) -> None:
    async with two(make_client, answer("Yes.", usage=(321, 45))) as (one, other, about):
        await one.ask("prompt", **about, content="Go.")
        usage = (await one.ask("usage", **about))["tokens"]
        await until(lambda: other.notified("usageChanged") != [])
        await until(lambda: other.notified("usageChanged")[-1]["usage"]["tokens"] == usage)
        assert usage == 366


async def test_a_client_s_own_turn_counts_as_well(make_client: MakeClient) -> None:
    async with two(make_client, answer("Yes.")) as (one, other, about):
        begun = await one.ask("turn/begin", **about)
        await until(lambda: turns(other) == ["elsewhere"])
        with pytest.raises(ConversationBusyError):
            await other.ask("prompt", **about, content="Me too.")
        await one.ask("turn/end", **about, **begun)
        await until(lambda: turns(other) == ["elsewhere", None])
        await other.ask("prompt", **about, content="Me too.")


async def test_a_turn_whose_server_closes_is_over(make_client: MakeClient) -> None:
    async with two(make_client, hang_in_the_stream, answer("Yes.")) as (one, other, about):
        turn = asyncio.create_task(one.ask("prompt", **about, content="Go."))
        await until(lambda: turns(other) == ["elsewhere"])
        await one.service.close()
        with pytest.raises(asyncio.CancelledError):
            await turn
        await until(lambda: turns(other) == ["elsewhere", None])


def ended_process() -> int:
    """The id of a process that there was."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


async def test_a_turn_whose_server_was_killed_is_over(make_client: MakeClient) -> None:
    async with two(make_client, answer("Yes.")) as (one, other, about):
        store = one.service.stores.of_conversation(about["conversationId"])
        killed = f"killed {ended_process()} {platform.node()}"
        assert store.turns.begin(about["conversationId"], killed, int(time.time()))
        assert "turn" not in await other.ask("conversation/get", **about)
        assert (await other.ask("prompt", **about, content="Go."))["stopReason"] == "stop"


@pytest.mark.parametrize(("seconds_ago", "turn"), [(0, "elsewhere"), (90, None)])
async def test_a_turn_of_another_machine_is_over_when_nothing_was_seen_of_it(
    make_client: MakeClient, seconds_ago: int, turn: str | None
) -> None:
    async with two(make_client, answer("Yes.")) as (one, other, about):
        store = one.service.stores.of_conversation(about["conversationId"])
        seen = int(time.time()) - seconds_ago
        assert store.turns.begin(about["conversationId"], "far 1 another-machine", seen)
        assert (await other.ask("conversation/get", **about)).get("turn") == turn
