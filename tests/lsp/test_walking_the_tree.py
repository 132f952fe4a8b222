"""An editor walks a conversation's tree: where it comes to, and the summary that the entered branch gets."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from lsp.editor import PROGRESS, SETTINGS, assistant, editing, user
from lsp.walk import CHANGED, Walk, begin, closed_gate, ids_to, tool
from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcRequestCancelled
from waiting import until

WATCHED: int | str = "walk"
REQUEST = "walking"


async def test_any_other_entry_becomes_the_leaf_and_going_back_is_one_call(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        walk, ids = await begin(editor)
        preview = await walk.ask("navigatePreview", targetId=ids[1])
        assert preview["commonAncestorId"] == ids[1]
        assert preview["entriesToSummarize"] == ids[2:]
        assert preview["tokens"] > 0
        assert preview["leafId"] == ids[-1]
        editor.received.clear()
        assert await walk.ask("navigate", targetId=ids[1]) == {"leafId": ids[1], "cancelled": False}
        [notification] = await editor.wait_for(CHANGED)
        assert notification == {**walk.about, "leafId": ids[1], "changes": ["leaf"]}
        [usage] = await editor.wait_for("coppice/usageChanged")
        assert usage["usage"]["tokens"] == (await walk.ask("context"))["tokens"]
        assert await walk.shown() == ids[:2]
        assert (await walk.ask("navigate", targetId=preview["leafId"]))["leafId"] == ids[-1]
        assert await walk.shown() == ids


async def test_a_persons_or_an_extensions_words_come_back_to_be_edited(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        walk, ids = await begin(editor)
        note = {
            "type": "custom_message",
            "customType": "notes",
            "content": "from an extension",
            "display": True,
        }
        added = await editor.append(walk.about["conversationId"], [note, assistant("noted")])
        answer = await walk.ask("navigate", targetId=added["entryIds"][0])
        assert answer == {"leafId": ids[-1], "editorText": "from an extension", "cancelled": False}
        answer = await walk.ask("navigate", targetId=ids[2])
        assert answer == {"leafId": ids[1], "editorText": "second question", "cancelled": False}
        answer = await walk.ask("navigate", targetId=ids[0])
        assert answer == {"leafId": None, "editorText": "first question", "cancelled": False}
        assert (await walk.ask("context"))["messages"] == []


async def test_navigating_to_the_leaf_changes_nothing(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        walk, ids = await begin(editor)
        before = await walk.state()
        editor.received.clear()
        answer = await walk.ask("navigate", targetId=ids[-1], summarize=True, label="here")
        assert answer == {"leafId": ids[-1], "cancelled": False}
        assert await walk.state() == before
        assert editor.received == []


async def test_between_two_branches_the_deepest_shared_entry_is_the_ancestor(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        walk, ids = await begin(editor)
        branch = {"entries": [user("another way"), assistant("as you like")], "parentId": ids[1]}
        other = (await walk.ask("append", **branch))["entryIds"]
        preview = await walk.ask("navigatePreview", targetId=ids[5])
        assert preview["commonAncestorId"] == ids[1]
        assert preview["entriesToSummarize"] == other
        root = (await walk.ask("append", entries=[user("afresh")], parentId=None))["entryIds"]
        preview = await walk.ask("navigatePreview", targetId=ids[5])
        assert preview["commonAncestorId"] is None
        assert preview["entriesToSummarize"] == root


async def test_the_branch_that_is_entered_is_given_a_summary_of_the_other(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        walk, ids = await begin(editor)
        reports = editor.progress(WATCHED)
        answer = await walk.ask(
            "navigate", targetId=ids[1], summarize=True, label="tried a.py", workDoneToken=WATCHED
        )
        entry = answer["summaryEntry"]
        assert (entry["parentId"], entry["fromId"]) == (ids[1], ids[-1])
        assert answer["leafId"] == entry["id"] == await walk.leaf()
        assert entry["details"]["modifiedFiles"] == ["src/a.py"]
        assert entry["details"]["readFiles"] == ["src/b.py"]
        assert "<modified-files>\nsrc/a.py\n</modified-files>" in entry["summary"]
        view = (await walk.ask("context", format="text"))["messages"]
        assert "Another branch of this conversation was explored" in view
        nodes = (await walk.ask("tree", mode="branches"))["nodes"]
        assert {node["id"]: node["label"] for node in nodes if "label" in node} == {entry["id"]: "tried a.py"}
        assert reports[0].title == "Summarizing branch"
        assert (reports[0].cancellable, reports[0].percentage) == (True, 0)
        percentages = [report.percentage for report in reports[:-1]]
        assert percentages == sorted(percentages)
        assert [report.kind for report in reports].count("end") == 1
        assert reports[-1].kind == "end"
        notification = editor.notified(CHANGED)[-1]
        assert (notification["leafId"], notification["changes"]) == (
            entry["id"],
            ["entries", "leaf", "labels"],
        )


async def test_files_come_from_all_that_is_left_out_of_budget_and_nested_too(tmp_path: Path) -> None:
    settings = {**SETTINGS, "model": {"contextWindow": 4_000}}
    async with editing(tmp_path, settings=settings) as editor:
        walk, ids = await begin(editor)
        conversation_id = walk.about["conversationId"]
        nested = await walk.ask("navigate", targetId=ids[1], summarize=True)
        await editor.append(conversation_id, [*tool(3, "write", "src/early.py"), user("x" * 90_000)])
        await editor.append(conversation_id, [assistant("y" * 90_000), user("the last words")])
        preview = await walk.ask("navigatePreview", targetId=ids[1])
        assert preview["entriesToSummarize"][0] == nested["leafId"]
        assert preview["tokens"] > 40_000
        summary = (await walk.ask("navigate", targetId=ids[1], summarize=True))["summaryEntry"]
        assert summary["details"]["modifiedFiles"] == ["src/a.py", "src/early.py"]
        assert summary["details"]["readFiles"] == ["src/b.py"]
        assert "the last words" in summary["summary"]
        assert len(summary["summary"]) < 20_000


async def test_what_is_left_holds_its_compactions_and_branch_summaries(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        walk = Walk(editor, await editor.conversation())
        editor.open_gate()
        first = (await editor.entries(walk.about["conversationId"]))[1]["id"]
        compaction = (await walk.ask("compact"))["entry"]["id"]
        preview = await walk.ask("navigatePreview", targetId=first)
        assert preview["entriesToSummarize"][-1] == compaction
        assert len(preview["entriesToSummarize"]) == 59
        answer = await walk.ask("navigate", targetId=first, summarize=True)
        assert answer["summaryEntry"]["fromId"] == compaction
        assert await walk.shown() == [*await ids_to(walk, first), answer["leafId"]]


async def test_nothing_to_summarize_leaves_no_entry(tmp_path: Path) -> None:
    async with editing(tmp_path, PROGRESS) as editor:
        walk, ids = await begin(editor)
        change = {"type": "model_change", "provider": "p", "modelId": "m"}
        await editor.append(walk.about["conversationId"], [change])
        answer = await walk.ask("navigate", targetId=ids[-1], summarize=True)
        assert answer == {"leafId": ids[-1], "cancelled": False}
        assert editor.client.progress_reports == {}
        forward = await walk.ask("navigate", targetId=ids[1])
        assert forward["leafId"] == ids[1]
        answer = await walk.ask("navigate", targetId=ids[-1], summarize=True)
        assert answer == {"leafId": ids[-1], "cancelled": False}


async def test_where_one_went_one_still_is_after_a_restart(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        walk, ids = await begin(editor)
        await walk.ask("navigate", targetId=ids[1])
    async with editing(tmp_path) as editor:
        again = Walk(editor, walk.about["conversationId"])
        assert await again.leaf() == ids[1]
        assert await again.shown() == ids[:2]


Cancel = Callable[[Walk], Awaitable[None]]


async def cancel_the_request(walk: Walk) -> None:
    walk.editor.client.protocol.notify(types.CANCEL_REQUEST, types.CancelParams(id=REQUEST))


async def cancel_the_progress(walk: Walk) -> None:
    walk.editor.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(WATCHED))


@pytest.mark.parametrize("as_command", [False, True], ids=["request", "command"])
@pytest.mark.parametrize("cancel", [cancel_the_request, cancel_the_progress])
async def test_a_cancelled_request_changes_nothing(
    tmp_path: Path, cancel: Cancel, *, as_command: bool
) -> None:
    async with editing(tmp_path) as editor:
        walk, ids = await closed_gate(editor)
        before = await walk.state()
        editor.received.clear()
        reports = editor.progress(WATCHED)
        params = {**walk.about, "targetId": ids[1], "summarize": True, "label": "x", "workDoneToken": WATCHED}
        command = types.ExecuteCommandParams(command="coppice.server.navigate", arguments=[params])
        method = "workspace/executeCommand" if as_command else "coppice/navigate"
        running = editor.start(method, command if as_command else params, REQUEST)
        await until(lambda: len(reports) > 1)
        await cancel(walk)
        with pytest.raises(JsonRpcRequestCancelled):
            await running
        assert [report.kind for report in reports].count("end") == 1
        assert await walk.state() == before
        assert editor.received == []
        editor.open_gate()
        assert (await walk.ask("navigate", targetId=ids[1], summarize=True))["summaryEntry"]


async def test_a_navigation_that_was_stopped_says_so_and_changed_nothing(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        walk, ids = await closed_gate(editor)
        before = await walk.state()
        reports = editor.progress(WATCHED)
        params = {**walk.about, "targetId": ids[1], "summarize": True, "workDoneToken": WATCHED}
        running = editor.start("coppice/navigate", params)
        await until(lambda: len(reports) > 1)
        assert await walk.ask("cancel") == {"cancelled": ["navigation"]}
        assert await running == {"leafId": ids[-1], "cancelled": True, "aborted": True}
        assert reports[-1].kind == "end"
        assert await walk.state() == before
        assert await walk.ask("cancel") == {"cancelled": []}


async def test_the_commands_do_what_their_methods_do(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        walk, ids = await begin(editor)

        async def run(name: str, **params: Any) -> Any:
            command = types.ExecuteCommandParams(
                command=f"coppice.server.{name}", arguments=[{**walk.about, **params}]
            )
            return await editor.ask("workspace/executeCommand", command)

        result = await run("summarize", fromId=ids[2])
        assert result == await walk.ask("summarize", fromId=ids[2])
        answer = await run("navigate", targetId=ids[2])
        assert answer == {"leafId": ids[1], "editorText": "second question", "cancelled": False}
        assert await walk.leaf() == ids[1]
        with pytest.raises(JsonRpcException) as refused:
            await run("navigate", targetId="nowhere")
        assert (refused.value.code, refused.value.data) == (
            -32803,
            {"code": "unknown-entry", "entryId": "nowhere"},
        )


async def test_a_summary_of_a_span_is_written_nowhere(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        walk, ids = await closed_gate(editor)
        before = await walk.state()
        editor.received.clear()
        reports = editor.progress(WATCHED)
        params = {**walk.about, "fromId": ids[2], "toId": ids[4], "workDoneToken": WATCHED}
        running = editor.start("coppice/summarize", params, REQUEST)
        await until(lambda: len(reports) > 1)
        assert reports[0].title == "Summarizing"
        await cancel_the_request(walk)
        with pytest.raises(JsonRpcRequestCancelled):
            await running
        editor.open_gate()
        result = await walk.ask("summarize", fromId=ids[2], toId=ids[4])
        assert result["details"]["modifiedFiles"] == ["src/a.py"]
        assert "src/a.py" in result["summary"]
        assert "src/b.py" not in result["summary"]
        assert result["tokens"] > 0
        assert result["summarizer"].startswith("offline")
        assert await walk.state() == before
        assert editor.received == []
