"""What an editor does in a day, over the real protocol."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from lsp.editor import NO_PROGRESS, PROGRESS, Editor, assistant, editing, user
from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcRequestCancelled
from waiting import PATIENCE, until

from coppice.protocol.methods import METHODS

STARTED, ENDED = "coppice/compactionStarted", "coppice/compactionEnded"
MINE: int | str = "mine"
CREATE = types.WINDOW_WORK_DONE_PROGRESS_CREATE


def values(reports: list[Any]) -> list[str]:
    return [report.kind for report in reports]


async def test_the_handshake_names_version_methods_and_commands(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        offered = editor.capabilities
        assert offered.experimental == {"coppice": {"protocolVersion": 2, "methods": list(METHODS)}}
        assert offered.execute_command_provider is not None
        assert "coppice.server.compact" in offered.execute_command_provider.commands


async def test_append_context_and_compact_on_the_clients_token(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        editor.open_gate()
        about = {"conversationId": await editor.conversation()}
        before = await editor.ask("coppice/context", about)
        reports = editor.progress("mine")
        done = await editor.ask("coppice/compact", {**about, "workDoneToken": "mine"})
        after = await editor.ask("coppice/context", about)
        assert done["tokensAfter"] < done["tokensBefore"]
        assert after["tokens"] < before["tokens"] == done["tokensBefore"]
        assert after["compactionId"] == done["entry"]["id"]
        assert after["firstKeptEntryId"] == done["firstKeptEntryId"]
        assert len(after["messages"]) < len(before["messages"])
        assert values(reports)[0] == "begin"
        assert reports[0].title == "Compacting"
        assert reports[0].cancellable
        assert reports[0].percentage == 0
        percentages = [report.percentage for report in reports[:-1]]
        assert percentages == sorted(percentages)
        assert values(reports).count("end") == 1
        assert values(reports)[-1] == "end"
        assert "→" in reports[-1].message
        assert list(editor.client.progress_reports) == ["mine"]
        [started], [ended] = await editor.wait_for(STARTED), await editor.wait_for(ENDED)
        assert started["compactionId"] == ended["compactionId"]
        assert (ended["status"], ended["entryId"]) == ("completed", done["entry"]["id"])


async def test_a_client_that_declares_progress_is_given_a_token(tmp_path: Path) -> None:
    async with editing(tmp_path, PROGRESS) as editor:
        editor.open_gate()
        await editor.ask("coppice/compact", {"conversationId": await editor.conversation()})
        [token] = editor.client.progress_reports
        reports = editor.progress(token)
        assert values(reports)[0] == "begin"
        assert values(reports)[-1] == "end"
        assert "→" in reports[-1].message


async def test_a_client_without_progress_receives_none(tmp_path: Path) -> None:
    async with editing(tmp_path, NO_PROGRESS) as editor:
        editor.open_gate()
        await editor.ask("coppice/compact", {"conversationId": await editor.conversation()})
        assert editor.client.progress_reports == {}


async def test_a_client_that_refuses_a_token_gets_its_result(tmp_path: Path) -> None:
    def refuse(_: types.WorkDoneProgressCreateParams) -> None:
        raise JsonRpcException("no progress here", code=-32601)

    async with editing(tmp_path, PROGRESS, features={CREATE: refuse}) as editor:
        editor.open_gate()
        done = await editor.ask("coppice/compact", {"conversationId": await editor.conversation()})
        assert done["entry"]["type"] == "compaction"
        assert editor.client.progress_reports == {}


async def test_a_client_that_never_answers_about_a_token_gets_its_result(tmp_path: Path) -> None:
    leaving = asyncio.Event()

    async def put_off(params: types.WorkDoneProgressCreateParams) -> None:
        await leaving.wait()
        editor.progress(params.token)

    async with editing(tmp_path, PROGRESS, features={CREATE: put_off}) as editor:
        editor.open_gate()
        done = await editor.ask("coppice/compact", {"conversationId": await editor.conversation()})
        assert done["entry"]["type"] == "compaction"
        assert editor.client.progress_reports == {}
        leaving.set()


async def cancel_the_request(editor: Editor, _: str) -> None:
    editor.client.protocol.notify(types.CANCEL_REQUEST, types.CancelParams(id="compacting"))


async def cancel_the_progress(editor: Editor, _: str) -> None:
    editor.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(MINE))


async def cancel_the_conversation(editor: Editor, conversation_id: str) -> None:
    stopped = await editor.ask("coppice/cancel", {"conversationId": conversation_id})
    assert stopped == {"cancelled": ["compaction"]}


@pytest.mark.parametrize("as_command", [False, True], ids=["request", "command"])
@pytest.mark.parametrize("cancel", [cancel_the_request, cancel_the_progress, cancel_the_conversation])
async def test_each_way_of_cancelling_leaves_everything_as_it_was(
    tmp_path: Path, cancel: Callable[[Editor, str], Awaitable[None]], *, as_command: bool
) -> None:
    async with editing(tmp_path) as editor:
        conversation_id = await editor.conversation()
        before = await editor.entries(conversation_id)
        reports = editor.progress(MINE)
        params = {"conversationId": conversation_id, "workDoneToken": MINE}
        if as_command:
            command = types.ExecuteCommandParams(command="coppice.server.compact", arguments=[params])
            running = editor.start("workspace/executeCommand", command, "compacting")
        else:
            running = editor.start("coppice/compact", params, "compacting")
        await editor.wait_for(STARTED)
        await cancel(editor, conversation_id)
        with pytest.raises(JsonRpcRequestCancelled):
            await running
        [ended] = await editor.wait_for(ENDED)
        assert ended["status"] == "cancelled"
        assert "entryId" not in ended
        assert values(reports)[-1] == "end"
        assert await editor.entries(conversation_id) == before
        editor.open_gate()
        assert (await editor.ask("coppice/compact", {"conversationId": conversation_id}))["entry"]


async def test_the_servers_own_token_cancels_too(tmp_path: Path) -> None:
    async with editing(tmp_path, PROGRESS) as editor:
        running = editor.start("coppice/compact", {"conversationId": await editor.conversation()})
        await editor.wait_for(STARTED)
        await until(lambda: any(editor.client.progress_reports.values()))
        [token] = editor.client.progress_reports
        editor.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token=token))
        with pytest.raises(JsonRpcRequestCancelled):
            await running
        assert (await editor.wait_for(ENDED))[0]["status"] == "cancelled"


async def test_a_second_compact_joins_the_first(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        about = {"conversationId": await editor.conversation()}
        reports = [editor.progress("one"), editor.progress("two")]
        first = editor.start("coppice/compact", {**about, "workDoneToken": "one"})
        await editor.wait_for(STARTED)
        second = editor.start("coppice/compact", {**about, "workDoneToken": "two"})
        await until(lambda: bool(reports[1]))
        editor.open_gate()
        assert (await first)["entry"] == (await second)["entry"]
        assert len(await editor.wait_for(ENDED)) == 1
        assert len(editor.notified(STARTED)) == 1
        assert [values(one)[-1] for one in reports] == ["end", "end"]


async def test_cancelling_one_of_two_leaves_the_other_its_result(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        about = {"conversationId": await editor.conversation()}
        reports = editor.progress("two")
        first = editor.start("coppice/compact", about, "compacting")
        await editor.wait_for(STARTED)
        second = editor.start("coppice/compact", {**about, "workDoneToken": "two"})
        await until(lambda: bool(reports))
        await cancel_the_request(editor, "")
        with pytest.raises(JsonRpcRequestCancelled):
            await first
        editor.open_gate()
        assert (await second)["entry"]["type"] == "compaction"


async def test_what_is_appended_during_a_compaction_lands_after_it(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        conversation_id = await editor.conversation()
        about = {"conversationId": conversation_id}
        running = editor.start("coppice/compact", about)
        await editor.wait_for(STARTED)
        appended = await editor.append(conversation_id, [user("One more thing.")])
        editor.open_gate()
        compaction = (await running)["entry"]
        ids = [entry["id"] for entry in await editor.entries(conversation_id)]
        assert ids[-2:] == [appended["entryIds"][0], compaction["id"]]
        view = await editor.ask("coppice/context", {**about, "format": "text"})
        assert "One more thing." in view["messages"]


async def test_appends_sent_without_waiting_land_in_the_order_they_were_sent(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        conversation_id = await editor.conversation(turns=1)
        sizes = [20_000, 1] * 10
        sent = [
            editor.start(
                "coppice/append",
                {"conversationId": conversation_id, "entries": [user(f"{number} " + "word " * size)]},
            )
            for number, size in enumerate(sizes)
        ]
        await asyncio.gather(*sent)
        texts = [
            entry["message"]["content"].split()[0] for entry in (await editor.entries(conversation_id))[2:]
        ]
        assert texts == [str(number) for number in range(len(sizes))]


async def test_every_command_does_what_its_method_does(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        editor.open_gate()
        about = {"conversationId": await editor.conversation()}

        async def run(command: str, *arguments: Any) -> Any:
            params: Any = types.ExecuteCommandParams(
                command=f"coppice.server.{command}", arguments=list(arguments)
            )
            return await asyncio.wait_for(editor.client.workspace_execute_command_async(params), PATIENCE)

        made = await run("newConversation", {"workspaceUri": "file:///editor", "name": "Second"})
        assert made["conversation"]["name"] == "Second"
        listed = await run("list")
        assert {one["id"] for one in listed["conversations"]} == {
            about["conversationId"],
            made["conversation"]["id"],
        }
        assert (await run("tree", about))["nodes"] == (await editor.ask("coppice/tree", about))["nodes"]
        assert (await run("compact", about))["entry"]["type"] == "compaction"
        with pytest.raises(JsonRpcException) as refused:
            await run("compact", {"conversationId": made["conversation"]["id"]})
        assert refused.value.code == -32803
        assert refused.value.data is not None
        assert refused.value.data["code"] == "nothing-to-compact"


async def test_a_conversation_survives_its_server(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        conversation_id = await editor.conversation(turns=3)
        before = await editor.entries(conversation_id)
    async with editing(tmp_path) as editor:
        assert await editor.entries(conversation_id) == before
        listed = await editor.ask("coppice/conversation/list", {"workspaceUri": "file:///editor"})
        assert [one["id"] for one in listed["conversations"]] == [conversation_id]


async def test_each_server_on_a_store_is_notified_of_what_the_other_did(tmp_path: Path) -> None:
    async with editing(tmp_path) as one, editing(tmp_path) as other:
        one.open_gate()
        conversation_id = await one.conversation()
        await other.entries(conversation_id)
        appended = await other.append(conversation_id, [assistant("From the other window.")])
        changed = "coppice/conversationChanged"

        def has_received(editor: Editor, leaf_id: str) -> bool:
            return any(params["leafId"] == leaf_id for params in editor.notified(changed))

        await until(lambda: has_received(one, appended["leafId"]))
        compacted = await one.ask("coppice/compact", {"conversationId": conversation_id})
        await until(lambda: has_received(other, compacted["entry"]["id"]))
        assert await one.entries(conversation_id) == await other.entries(conversation_id)
