"""Turns that are stopped, in each of their states: the conversation stays sound and goes on."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from lsp.panel import PROMPT_ID, READ, Panel, chatting, refused
from lsprotocol import types
from models.provider_replies import hang_in_the_stream
from models.provider_window import ScriptedReply
from pygls.exceptions import JsonRpcException
from summarizers.asking import PROVIDERS, Provider
from waiting import PATIENCE, until

from coppice.tree.messages import NOT_RUN

TURN = "turn"
CALLS = ScriptedReply(calls=[("c1", "quick", {}), ("c2", "slow", {})])
TOOLS = [{**READ, "name": name} for name in ("quick", "slow")]
Cancel = Callable[[Panel], Awaitable[None]]


async def cancel_the_request(panel: Panel) -> None:
    panel.editor.client.protocol.notify(types.CANCEL_REQUEST, types.CancelParams(id=PROMPT_ID))


async def cancel_the_progress(panel: Panel) -> None:
    panel.editor.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(TURN))


async def cancel_the_conversation(panel: Panel) -> None:
    assert await panel.ask("cancel") == {"cancelled": ["turn"]}


each_way = pytest.mark.parametrize(
    "cancel", [cancel_the_request, cancel_the_progress, cancel_the_conversation]
)
every_provider = pytest.mark.parametrize("provider", PROVIDERS)


async def quick(_: dict[str, Any]) -> str:
    return "done at once"


async def never(_: dict[str, Any]) -> str:
    await asyncio.Event().wait()
    return ""


def start(panel: Panel, content: str = "Go on.", **more: Any) -> "asyncio.Task[Any]":
    return panel.start(content, workDoneToken=TURN, tools=TOOLS, **more)


async def cancelled(running: "asyncio.Task[Any]") -> None:
    with pytest.raises(JsonRpcException) as failure:
        await running
    assert failure.value.code == -32800


async def goes_on(panel: Panel) -> None:
    """Another turn is answered, and what is sent then is valid."""
    assert (await panel.prompt("And now?"))["stopReason"] == "stop"
    sent = panel.provider.requests[-1].body["messages"]
    calls = [call["id"] for message in sent for call in message.get("tool_calls", ())]
    results = [message["tool_call_id"] for message in sent if message["role"] == "tool"]
    assert calls == results


@each_way
async def test_a_turn_cancelled_while_its_reply_streams_keeps_what_had_come(
    tmp_path: Path, cancel: Cancel
) -> None:
    async with chatting(tmp_path, hang_in_the_stream, ScriptedReply("Here.")) as panel:
        running = start(panel)
        await until(lambda: panel.line == ["user", "text"])
        await cancel(panel)
        await cancelled(running)
        assert panel.line == ["user", "text", "assistant aborted"]
        _, message = await panel.messages()
        assert (message["content"], message["stopReason"]) == (
            [{"type": "text", "text": "The begin"}],
            "aborted",
        )
        await panel.provider.until(lambda: panel.provider.dropped == 1)
        await goes_on(panel)
        assert "The begin" not in str(panel.provider.requests[-1].body)


@each_way
async def test_a_turn_cancelled_while_tools_run_answers_every_call(tmp_path: Path, cancel: Cancel) -> None:
    tools = {"quick": quick, "slow": never}
    async with chatting(tmp_path, CALLS, ScriptedReply("Here."), tools=tools) as panel:
        running = start(panel)
        await until(lambda: panel.line[-1:] == ["toolResult"])
        await cancel(panel)
        await cancelled(running)
        results = {m["toolCallId"]: m for m in await panel.messages() if m["role"] == "toolResult"}
        assert results["c1"]["content"] == [{"type": "text", "text": "done at once"}]
        assert (results["c2"]["isError"], results["c2"]["details"]) == (True, NOT_RUN)
        assert "interrupted" in results["c2"]["content"][0]["text"]
        assert panel.line[-2:] == ["toolResult", "toolResult"]
        await goes_on(panel)


@each_way
async def test_a_turn_cancelled_while_it_compacts_has_changed_nothing(tmp_path: Path, cancel: Cancel) -> None:
    async with chatting(tmp_path, ScriptedReply("Here.")) as panel:
        await panel.append_turns(7_500)
        before = await panel.messages()
        panel.editor.close_gate()
        running = start(panel)
        await panel.editor.wait_for("coppice/compactionStarted")
        await cancel(panel)
        await cancelled(running)
        assert panel.line == [
            *("started: threshold", "compaction started", "ended: cancelled", "compaction cancelled"),
        ]
        assert await panel.messages() == before
        panel.editor.open_gate()
        await goes_on(panel)


async def test_the_tools_of_a_cancelled_turn_are_asked_to_stop(tmp_path: Path) -> None:
    stopped = asyncio.Event()

    async def slow(_: dict[str, Any]) -> str:
        try:
            return await never({})
        finally:
            stopped.set()

    async with chatting(tmp_path, CALLS, tools={"quick": quick, "slow": slow}) as panel:
        running = start(panel)
        await until(lambda: len(panel.invoked) == 2)
        await cancel_the_request(panel)
        await cancelled(running)
        await asyncio.wait_for(stopped.wait(), PATIENCE)


@every_provider
async def test_a_compaction_that_somebody_asks_for_stops_the_turn_first(
    tmp_path: Path, provider: Provider
) -> None:
    async with chatting(tmp_path, hang_in_the_stream, ScriptedReply("Here."), provider=provider) as panel:
        await panel.append_turns(5_000)
        running = start(panel)
        await until(lambda: panel.line == ["user", "text"])
        done = await panel.ask("compact")
        await cancelled(running)
        assert done["entry"]["reason"] == "manual"
        assert panel.line == ["user", "text", "assistant aborted", "started: manual", "ended: completed"]
        assert (await panel.prompt("And now?"))["stopReason"] == "stop"


async def test_a_prompt_sent_during_a_compaction_waits_for_its_end(tmp_path: Path) -> None:
    async with chatting(tmp_path, ScriptedReply("Here.")) as panel:
        await panel.append_turns(5_000)
        panel.editor.close_gate()
        compacting = asyncio.create_task(panel.ask("compact"))
        await panel.editor.wait_for("coppice/compactionStarted")
        asked = {start(panel), panel.start("Me too.", "second")}
        (second,), (waiting,) = await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
        assert (await refused(second))["job"] == "turn"
        joining = asyncio.create_task(panel.ask("compact"))
        await panel.ask("usage")
        panel.editor.open_gate()
        assert (await compacting)["entry"] == (await joining)["entry"]
        assert (await waiting)["stopReason"] == "stop"
        assert panel.line == ["started: manual", "ended: completed", "user", "text", "assistant"]


async def test_a_prompt_that_waits_can_be_cancelled(tmp_path: Path) -> None:
    async with chatting(tmp_path, ScriptedReply("Here.")) as panel:
        await panel.append_turns(5_000)
        panel.editor.close_gate()
        compacting = asyncio.create_task(panel.ask("compact"))
        await panel.editor.wait_for("coppice/compactionStarted")
        waiting = start(panel)
        await panel.ask("usage")
        await cancel_the_request(panel)
        await cancelled(waiting)
        panel.editor.open_gate()
        assert (await compacting)["entry"]["type"] == "compaction"
        assert panel.line == ["started: manual", "ended: completed"]


async def test_a_server_that_shuts_down_stops_its_turns(tmp_path: Path) -> None:
    async with chatting(tmp_path, hang_in_the_stream) as panel:
        running = start(panel)
        await until(lambda: panel.line == ["user", "text"])
    await cancelled(running)
    assert panel.line == ["user", "text", "assistant aborted"]
