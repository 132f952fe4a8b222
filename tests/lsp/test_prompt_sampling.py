"""Turns that the editor's own model answers, through `coppice/sample`."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from lsp.panel import READ, WINDOW, chatting, refused
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from waiting import until

SETTINGS = {
    "model": {"provider": "editor", "contextWindow": WINDOW},
    "tokens": {"counter": "estimate"},
    "compaction": {"reserveTokens": 1000, "keepRecentTokens": 1000, "enabled": False},
}


async def test_the_editors_model_answers_a_turn_and_calls_tools(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = []

    async def sample(params: dict[str, Any]) -> dict[str, Any]:
        asked.append(params)
        if len(asked) > 1:
            return {"text": "It says hello.", "model": "of-the-editor", "stopReason": "stop"}
        call = {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a.txt"}}
        return {"text": "", "toolCalls": [call]}

    async def read(_: dict[str, Any]) -> str:
        return "hello"

    async with chatting(tmp_path, settings=SETTINGS, sample=sample, tools={"read": read}) as panel:
        done = await panel.prompt("What does it say?", tools=[READ], system="Be brief.")
        assert done["stopReason"] == "stop"
        assert panel.line == [
            *("user", "call read", "assistant", "invoke read", "toolResult", "text", "assistant"),
        ]
        first, second = asked
        assert (first["purpose"], first["system"], first["tools"][:1]) == ("turn", "Be brief.", [READ])
        assert [each["name"] for each in first["tools"][1:]] == ["note_add", "note_replace", "note_remove"]
        assert first["maxTokens"] == 1000
        assert [message["role"] for message in second["messages"]] == ["user", "assistant", "toolResult"]
        reply = (await panel.messages())[-1]
        assert (reply["provider"], reply["model"]) == ("editor", "of-the-editor")


async def test_an_overflow_of_the_editors_model_is_recognized_by_its_words(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = []

    async def sample(params: dict[str, Any]) -> dict[str, Any]:
        asked.append(params)
        if len(str(params["messages"])) // 4 > WINDOW:
            raise JsonRpcException("Message exceeds token limit: prompt is too long", code=-32000)
        return {"text": "Yes."}

    async with chatting(tmp_path, settings=SETTINGS, sample=sample) as panel:
        await panel.append_turns(9_000)
        assert (await panel.prompt("And now?"))["stopReason"] == "stop"
        assert panel.line[-3:] == ["retry 1 compacted", "text", "assistant"]


async def test_an_editor_that_offers_no_model_has_none(tmp_path: Path) -> None:
    async with chatting(tmp_path, settings=SETTINGS) as panel:
        failure = await refused(panel.start("Hello?"))
        assert failure["code"] == "no-model"
        assert "coppice/sample" in failure["message"]


async def test_pieces_that_the_editor_sends_are_streamed_and_kept_when_the_turn_is_stopped(
    tmp_path: Path,
) -> None:
    async def sample(params: dict[str, Any]) -> Any:
        for text in ("It says", " hel"):
            part = types.ProgressParams(params["partialResultToken"], {"kind": "text", "text": text})
            panel.editor.client.protocol.notify(types.PROGRESS, part)
        await asyncio.Event().wait()

    async with chatting(tmp_path, settings=SETTINGS, sample=sample) as panel:
        running = panel.start("What does it say?")
        await until(lambda: len(panel.parts) == 3)
        assert [value.get("text") for value in panel.parts] == [None, "It says", " hel"]
        assert await panel.ask("cancel") == {"cancelled": ["turn"]}
        with pytest.raises(JsonRpcException):
            await running
        message = (await panel.messages())[-1]
        assert (message["content"], message["stopReason"]) == (
            [{"type": "text", "text": "It says hel"}],
            "aborted",
        )
