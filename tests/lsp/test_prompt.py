"""Turns that the server runs, over the wire."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from lsp.panel import READ, WRITE, Panel, chatting, refused
from models.provider_replies import events
from models.provider_window import ScriptedReply
from pygls.exceptions import JsonRpcException
from summarizers.asking import PROVIDERS, Provider
from waiting import PATIENCE, until

from coppice.tree.messages import NOT_RUN

every_provider = pytest.mark.parametrize("provider", PROVIDERS)


async def contents(arguments: dict[str, Any]) -> str:
    return f"what stands in {arguments['path']}"


def parts_of(panel: Panel, kind: str) -> list[dict[str, Any]]:
    return [value for value in panel.parts if value["kind"] == kind]


@every_provider
async def test_a_turn_streams_what_it_stores(tmp_path: Path, provider: Provider) -> None:
    reply = ScriptedReply("Hello, I am here.", thinking="Am I asked?")
    async with chatting(tmp_path, reply, provider=provider) as panel:
        done = await panel.prompt("Are you there?", system="Be brief.")
        assert panel.line == ["user", "thinking", "text", "assistant"]
        assert "".join(piece["text"] for piece in parts_of(panel, "text")) == "Hello, I am here."
        assert "".join(piece["text"] for piece in parts_of(panel, "thinking")) == "Am I asked?"
        entries = await panel.editor.entries(panel.about["conversationId"])
        assert [entry["id"] for entry in entries] == done["entryIds"]
        assert [
            {"kind": "message", "entryId": entry["id"], "message": entry["message"]} for entry in entries
        ] == parts_of(panel, "message")
        assert entries[1]["message"]["usage"]["input"] == panel.model.sizes[0]
        assert (done["stopReason"], done["compactions"]) == ("stop", [])
        assert done["usage"] == await panel.ask("usage")
        assert "Be brief." in str(panel.provider.requests[0].body)
        assert "Be brief." not in str(entries)


@every_provider
async def test_several_tools_run_at_once_and_their_files_are_tracked(
    tmp_path: Path, provider: Provider
) -> None:
    both = asyncio.Event()

    async def run(arguments: dict[str, Any]) -> str:
        if len(panel.invoked) == 2:
            both.set()
        await asyncio.wait_for(both.wait(), PATIENCE)
        return await contents(arguments)

    async def write(arguments: dict[str, Any]) -> dict[str, Any]:
        output = await run(arguments)
        return {"content": [{"type": "text", "text": output}], "details": {"lines": 3}}

    calls = [("c1", "read", {"path": "src/a.py"}), ("c2", "write", {"path": "src/b.py", "content": "b"})]
    asked = ScriptedReply("I look.", calls=calls, thinking="Two files.")
    tools = {"read": run, "write": write}
    async with chatting(tmp_path, asked, ScriptedReply("Done."), provider=provider, tools=tools) as panel:
        done = await panel.prompt("Change b.", tools=[READ, WRITE])
        assert [event for event in panel.line if event not in ("text", "thinking")] == [
            "user",
            *("call read", "call write", "assistant", "invoke read", "invoke write"),
            *("toolResult", "toolResult", "assistant"),
        ]
        assert [call["toolCallId"] for call in panel.invoked] == ["c1", "c2"]
        results = [m for m in await panel.messages() if m["role"] == "toolResult"]
        assert {m["toolCallId"]: m.get("details") for m in results} == {"c1": None, "c2": {"lines": 3}}
        files = await panel.ask("files")
        assert (files["readFiles"], files["modifiedFiles"]) == (["src/a.py"], ["src/b.py"])
        second = str(panel.provider.requests[1].body)
        assert second.index("what stands in src/a.py") < second.index("what stands in src/b.py")
        assert len(done["entryIds"]) == 5
        if provider == "anthropic":
            sent = panel.provider.requests[1].body["messages"][1]["content"]
            assert sent[0] == {"type": "thinking", "thinking": "Two files.", "signature": "c2lnbmVk"}


async def fails(_: dict[str, Any]) -> Any:
    raise JsonRpcException("the disk is full", code=-32000)


async def makes_no_sense(_: dict[str, Any]) -> Any:
    return {"content": 7}


async def refuse(_: dict[str, Any]) -> Any:
    return {"content": [{"type": "text", "text": "no such file"}], "isError": True}


async def test_whatever_goes_wrong_with_a_tool_is_reported_to_the_model(tmp_path: Path) -> None:
    names = ["fails", "makes_no_sense", "says_no", "unknown"]
    calls: list[tuple[str, str, Any]] = [(f"c{number}", name, {}) for number, name in enumerate(names)]
    tools = {"fails": fails, "makes_no_sense": makes_no_sense, "says_no": refuse}
    offered = [{**READ, "name": name} for name in tools]
    async with chatting(tmp_path, ScriptedReply(calls=calls), ScriptedReply("I see."), tools=tools) as panel:
        done = await panel.prompt("Try.", tools=offered)
        assert done["stopReason"] == "stop"
        results = [m for m in await panel.messages() if m["role"] == "toolResult"]
        assert all(result["isError"] for result in results)
        texts = {result["toolName"]: result["content"][0]["text"] for result in results}
        assert texts == {
            "fails": "The tool failed: the disk is full",
            "makes_no_sense": "The tool gave an answer that cannot be read.",
            "says_no": "no such file",
            "unknown": "There is no such tool. Tools that can be called: fails, makes_no_sense, says_no, "
            "note_add, note_replace, note_remove.",
        }
        assert [r["toolName"] for r in results if r.get("details") == NOT_RUN] == ["unknown"]


async def test_the_progress_names_no_tool_that_is_not_offered(tmp_path: Path) -> None:
    asked = [ScriptedReply(calls=[("c1", name, {"path": "a"})]) for name in ("read", "%{system('reboot')}")]
    async with chatting(tmp_path, *asked, ScriptedReply("Done."), tools={"read": contents}) as panel:
        await panel.prompt("Read.", tools=[READ], workDoneToken="turn")
        steps = [step.get("message") for step in panel.editor.progress("turn")]
        assert [step for step in steps if step and step.startswith("Running")] == [
            "Running read",
            "Running a tool",
        ]


async def test_arguments_that_are_no_json_are_reported_to_the_model_and_no_tool_runs(tmp_path: Path) -> None:
    function = {"name": "read", "arguments": '{"path": '}
    call = {"index": 0, "id": "c1", "type": "function", "function": function}
    choice = {"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}
    broken = events({"choices": [choice]}, "[DONE]")
    async with chatting(tmp_path, broken, ScriptedReply("Sorry."), tools={"read": contents}) as panel:
        await panel.prompt("Read.", tools=[READ])
        _, asked, result, _ = await panel.messages()
        assert asked["content"][0]["invalidArguments"] == '{"path": '
        assert result["content"][0]["text"] == 'The arguments are no JSON object: {"path": '
        assert (result["isError"], result["details"], panel.invoked) == (True, NOT_RUN, [])
        again = panel.provider.requests[1].body["messages"][1]["tool_calls"][0]["function"]
        assert again == {"name": "read", "arguments": "{}"}


async def test_a_client_that_runs_no_tools_is_asked_for_none(tmp_path: Path) -> None:
    async with chatting(
        tmp_path, ScriptedReply(calls=[("c1", "read", {})]), ScriptedReply("Then not.")
    ) as panel:
        await panel.prompt("Read.", tools=[READ])
        assert "tools" not in panel.provider.requests[0].body
        assert (await panel.messages())[2]["isError"]
        assert panel.invoked == []


async def test_a_turn_stops_after_its_steps_with_every_call_answered(tmp_path: Path) -> None:
    again = ScriptedReply(calls=[("c", "read", {"path": "a"})])
    async with chatting(tmp_path, again, tools={"read": contents}) as panel:
        done = await panel.prompt("For ever.", tools=[READ], maxSteps=3)
        assert done["stopReason"] == "maxSteps"
        assert len(panel.provider.requests) == 3
        assert await panel.roles() == ["user", *["assistant", "toolResult"] * 3]


async def test_the_result_of_a_tool_can_end_the_turn_which_goes_on_with_other_tools(tmp_path: Path) -> None:
    async def end(_: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": "Approved."}], "endsTurn": True}

    calls = ScriptedReply(calls=[("c1", "read", {"path": "a"}), ("c2", "write", {"path": "b"})])
    tools = {"read": contents, "write": end}
    async with chatting(tmp_path, calls, ScriptedReply("Done."), tools=tools) as panel:
        done = await panel.prompt("Plan.", tools=[READ, WRITE])
        assert (done["stopReason"], len(panel.provider.requests)) == ("tool", 1)
        assert await panel.roles() == ["user", "assistant", "toolResult", "toolResult"]
        done = await panel.prompt(None, tools=[READ])
        assert done["stopReason"] == "stop"
        offered = [each["function"]["name"] for each in panel.provider.requests[1].body["tools"]]
        assert offered == ["read", "note_add", "note_replace", "note_remove"]
        assert "Approved." in str(panel.provider.requests[1].body)


async def test_without_a_model_a_turn_is_refused_and_everything_else_works(tmp_path: Path) -> None:
    async with chatting(tmp_path, settings={"tokens": {"counter": "estimate"}}) as panel:
        error = await refused(panel.start("Hello"))
        assert error["code"] == "no-model"
        assert "model.provider" in error["message"]
        assert panel.line == []
        assert await panel.messages() == []
        await panel.ask("append", entries=[{"type": "message", "message": {"role": "user", "content": "x"}}])
        assert (await panel.ask("usage"))["tokens"] == 1


async def test_a_conversation_has_one_turn_at_a_time(tmp_path: Path) -> None:
    goes_on = asyncio.Event()

    async def wait(_: dict[str, Any]) -> str:
        await asyncio.wait_for(goes_on.wait(), PATIENCE)
        return "read"

    replies = [ScriptedReply(calls=[("c", "read", {})]), ScriptedReply("Done."), ScriptedReply("Done again.")]
    async with chatting(tmp_path, *replies, tools={"read": wait}) as panel:
        first = panel.start("One.", tools=[READ])
        await until(lambda: panel.invoked != [])
        assert (await refused(panel.start("Two.", "second")))["code"] == "conversation-busy"
        assert (await refused(asyncio.create_task(panel.ask("turn/begin"))))["code"] == "conversation-busy"
        target = asyncio.create_task(panel.ask("navigate", targetId=panel.parts[0]["entryId"]))
        assert (await refused(target))["code"] == "conversation-busy"
        goes_on.set()
        assert (await first)["stopReason"] == "stop"
        turn = (await panel.ask("turn/begin"))["turnId"]
        assert (await refused(panel.start("Three.")))["turnId"] == turn
        await panel.ask("turn/end")
        assert (await panel.prompt("Four."))["stopReason"] == "stop"


async def test_what_the_client_says_during_a_turn_is_read_in_its_next_step(tmp_path: Path) -> None:
    async def read(_: dict[str, Any]) -> str:
        queued = {"role": "user", "content": "Only the first line, please."}
        await panel.ask("append", entries=[{"type": "message", "message": queued}])
        return "read"

    replies = [ScriptedReply(calls=[("c", "read", {})]), ScriptedReply("Done.")]
    async with chatting(tmp_path, *replies, tools={"read": read}) as panel:
        await panel.prompt("Read.", tools=[READ])
        assert [m["role"] for m in panel.provider.requests[1].body["messages"]] == [
            *("user", "assistant", "tool", "user"),
        ]


async def test_a_turn_without_a_partial_token_streams_nothing(tmp_path: Path) -> None:
    async with chatting(tmp_path, ScriptedReply("Yes.")) as panel:
        await panel.ask("prompt", content="Hello?")
        assert panel.parts == []
