"""Commands for editors that can send no request of their own."""

from pathlib import Path
from typing import Any

import pytest
from lsp.editor import Editor, editing
from lsp.walk import Walk, begin
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from waiting import until

from coppice.protocol.methods import COMMANDS

MINE = "the command's own"
REQUEST = "running"


def command(name: str, *arguments: Any, on: str | None = None) -> types.ExecuteCommandParams:
    return types.ExecuteCommandParams(
        command=f"coppice.server.{name}", arguments=list(arguments), work_done_token=on
    )


async def run(editor: Editor, name: str, *arguments: Any, on: str | None = None) -> Any:
    return await editor.ask("workspace/executeCommand", command(name, *arguments, on=on))


async def long_ones(editor: Editor) -> dict[str, dict[str, Any]]:
    """Params for the commands that take their time, about one conversation."""
    talk = await editor.conversation()
    entries = await editor.entries(talk)
    about = {"conversationId": talk}
    return {
        "summarize": about,
        "compact": about,
        "navigate": {**about, "targetId": entries[1]["id"], "summarize": True},
    }


async def test_every_command_is_offered_and_does_its_work(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        offered = editor.capabilities.execute_command_provider
        assert offered is not None
        assert sorted(offered.commands) == sorted(COMMANDS)
        assert len(COMMANDS) == 6
        editor.open_gate()
        params = await long_ones(editor)
        made = await run(editor, "newConversation", {"name": "By command"})
        assert made["conversation"]["name"] == "By command"
        assert (await run(editor, "newConversation"))["conversation"]["leafId"] is None
        assert len((await run(editor, "list"))["conversations"]) == 3
        assert len((await run(editor, "list", {"limit": 1}))["conversations"]) == 1
        about = {**params["summarize"], "mode": "branches"}
        assert await run(editor, "tree", about) == await editor.ask("coppice/tree", about)
        assert (await run(editor, "summarize", params["summarize"]))["summarizer"] == "offline"
        assert (await run(editor, "compact", params["compact"]))["entry"]["type"] == "compaction"
        moved = await run(editor, "navigate", params["navigate"])
        assert moved["summaryEntry"]["type"] == "branch_summary"


@pytest.mark.parametrize(
    ("name", "title"),
    [("compact", "Compacting"), ("navigate", "Summarizing branch"), ("summarize", "Summarizing")],
)
async def test_a_long_command_shows_its_progress_and_is_stopped_through_it(
    tmp_path: Path, name: str, title: str
) -> None:
    async with editing(tmp_path) as editor:
        params = (await long_ones(editor))[name]
        walk, reports = Walk(editor, params["conversationId"]), editor.progress(MINE)
        before = await walk.state()
        running = editor.start("workspace/executeCommand", command(name, params, on=MINE), REQUEST)
        await until(lambda: len(reports) > 1)
        assert (reports[0].title, reports[0].cancellable, reports[0].percentage) == (title, True, 0)
        editor.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token=MINE))
        with pytest.raises(JsonRpcException) as stopped:
            await running
        assert stopped.value.code == -32800
        assert reports[-1].kind == "end"
        assert await walk.state() == before
        editor.open_gate()
        again = editor.progress("again")
        assert await run(editor, name, params, on="again")
        assert [again[0].kind, again[-1].kind] == ["begin", "end"]
        shares = [report.percentage for report in again if report.kind == "report"]
        assert shares == sorted(shares)


async def test_a_command_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        walk, _ = await begin(editor)
        for refused in (
            command("nothing"),
            command("compact"),
            command("compact", walk.about, walk.about),
            command("tree", [walk.about]),
            command("tree", {**walk.about, "mode": "upside down"}),
        ):
            with pytest.raises(JsonRpcException) as error:
                await editor.ask("workspace/executeCommand", refused)
            assert error.value.code == -32602, refused
