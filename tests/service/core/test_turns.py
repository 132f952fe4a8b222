"""A client's own turns: one at a time, and out of a compaction's way."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from conftest_service import Client, MakeClient, assistant, user

from coppice.errors import ConversationBusyError, UnknownConversationError
from coppice.protocol.base import WireModel
from coppice.protocol.server_requests import ABORT_TURN

SMALL = {"compaction": {"keepRecentTokens": 200}, "tokens": {"counter": "estimate"}}
Answer = Callable[[str, WireModel], Awaitable[Any]]


async def long_conversation(client: Client) -> str:
    made = await client.conversation()
    entries = [each for n in range(9) for each in (user(f"{n} " + "ask " * 60), assistant("answer " * 60))]
    await client.ask("append", conversationId=made, entries=entries)
    return made


async def test_a_turn_begins_once_and_again_under_the_same_id(client: Client) -> None:
    made = await client.conversation()
    begun = await client.ask("turn/begin", conversationId=made, turnId="t1")
    assert begun == {"turnId": "t1"}
    assert await client.ask("turn/begin", conversationId=made, turnId="t1") == begun


@pytest.mark.parametrize("more", [{}, {"turnId": "t2"}])
async def test_a_second_turn_is_refused_while_one_runs(client: Client, more: dict[str, str]) -> None:
    made = await client.conversation()
    await client.ask("turn/begin", conversationId=made, turnId="t1")
    with pytest.raises(ConversationBusyError) as refusal:
        await client.ask("turn/begin", conversationId=made, **more)
    assert refusal.value.data == {"turnId": "t1"}
    elsewhere = await client.conversation()
    assert (await client.ask("turn/begin", conversationId=elsewhere))["turnId"]


async def test_a_turn_that_ended_makes_room_for_the_next(client: Client) -> None:
    made = await client.conversation()
    named = (await client.ask("turn/begin", conversationId=made))["turnId"]
    assert await client.ask("turn/end", conversationId=made, turnId=named) == {"turnId": named}
    assert await client.ask("turn/begin", conversationId=made, turnId="t2") == {"turnId": "t2"}
    assert await client.ask("turn/end", conversationId=made, turnId=named) == {"turnId": named}
    with pytest.raises(ConversationBusyError):
        await client.ask("turn/begin", conversationId=made, turnId="t3")
    assert await client.ask("turn/end", conversationId=made) == {"turnId": "t2"}
    assert await client.ask("turn/end", conversationId=made) == {"turnId": None}


async def test_a_turn_needs_a_conversation(client: Client) -> None:
    with pytest.raises(UnknownConversationError):
        await client.ask("turn/begin", conversationId="none")


async def test_a_manual_compaction_has_the_client_abort_its_turn_first(make_client: MakeClient) -> None:
    client = await make_client(SMALL)
    made = await long_conversation(client)
    await client.ask("turn/begin", conversationId=made, turnId="t1")
    asked: list[tuple[str, Any]] = []

    async def ask(method: str, params: WireModel) -> Any:
        asked.append((method, params.model_dump(mode="json", by_alias=True)))
        assert client.notified("compactionStarted") == []
        await client.ask("turn/end", conversationId=made, turnId="t1")
        return {"aborted": True}

    client.port.answer(ask, ABORT_TURN)
    await client.ask("compact", conversationId=made)
    wanted = {"conversationId": made, "turnId": "t1", "reason": "compaction"}
    assert asked == [("coppice/abortTurn", wanted)]
    assert [ended["status"] for ended in client.notified("compactionEnded")] == ["completed"]
    assert await client.ask("turn/begin", conversationId=made, turnId="t2") == {"turnId": "t2"}


async def refusing(_method: str, _params: WireModel) -> Any:
    return {"aborted": False}


async def babbling(_method: str, _params: WireModel) -> Any:
    return ["yes"]


async def failing(_method: str, _params: WireModel) -> Any:
    raise RuntimeError


async def silent(_method: str, _params: WireModel) -> Any:
    await asyncio.Event().wait()


@pytest.mark.parametrize("ask", [None, refusing, babbling, failing, silent])
async def test_a_turn_that_is_not_aborted_keeps_the_compaction_out(
    make_client: MakeClient, ask: Answer | None
) -> None:
    client = await make_client({**SMALL, "hooks": {"timeoutSeconds": 0.05}})
    made = await long_conversation(client)
    await client.ask("turn/begin", conversationId=made, turnId="t1")
    if ask is not None:
        client.port.answer(ask, ABORT_TURN)
    with pytest.raises(ConversationBusyError, match="turn/end"):
        await client.ask("compact", conversationId=made)
    assert client.notified("compactionStarted") == []
    assert await client.ask("turn/begin", conversationId=made, turnId="t1") == {"turnId": "t1"}


async def test_a_draft_asks_nobody_to_stop(make_client: MakeClient) -> None:
    client = await make_client(SMALL)
    made = await long_conversation(client)
    await client.ask("turn/begin", conversationId=made)
    draft = await client.ask("compact", conversationId=made, draft=True)
    assert draft["tokensAfter"] < draft["tokensBefore"]


async def test_the_turn_s_own_compactions_ask_nobody_to_stop(make_client: MakeClient) -> None:
    client = await make_client({**SMALL, "model": {"contextWindow": 4_000}})
    made = await long_conversation(client)
    await client.ask("turn/begin", conversationId=made)
    done = await client.ask("preparePrompt", conversationId=made, contextWindow=1_500)
    assert done["compacted"] is True


async def test_a_turn_that_ends_while_it_begins_is_over(client: Client) -> None:
    made = await client.conversation()
    shared = client.service.turns.shared
    await asyncio.gather(shared.begin(made), shared.end(made))
    assert await shared.where(made) is None
    assert [event["turn"] for event in client.notified("turnChanged")] == ["here", None]
