"""A truncated result keeps at least 2,000 characters of content, and says how to read the rest."""

import re
from pathlib import Path
from typing import Any

from conftest_service import tool, user
from lsp.panel import Panel, chatting
from models.provider_window import ScriptedReply

SUFFIX = re.compile(r"\n\n\[[0-9,]+ characters of this tool result were left out\..*\]\Z")


async def with_results(panel: Panel, *outputs: str) -> None:
    calls = [tool(f"c{number}", "read", {"path": "log"}, output) for number, output in enumerate(outputs)]
    await panel.ask("append", entries=[user("Look."), *(entry for call in calls for entry in call)])


async def results(panel: Panel) -> list[str]:
    messages = await panel.messages()
    return [message["content"][0]["text"] for message in messages if message["role"] == "toolResult"]


async def test_a_result_that_is_too_long_keeps_two_thousand_characters_of_content(tmp_path: Path) -> None:
    async with chatting(tmp_path, ScriptedReply("Yes.")) as panel:
        await with_results(panel, "line of a log\n" * 4_000)
        done = await panel.ask("truncateToolResults", contextWindow=1_500)
        assert (done["truncatedCount"], done["leftOutCount"]) == (1, 0)
        (text,) = await results(panel)
        assert len(SUFFIX.sub("", text)) >= 2_000


async def test_several_results_that_are_too_long_together_keep_two_thousand_each(tmp_path: Path) -> None:
    async with chatting(tmp_path, ScriptedReply("Yes.")) as panel:
        await with_results(panel, *["line of a log\n" * 500] * 8)
        done = await panel.ask("truncateToolResults")
        assert (done["leftOutCount"], done["truncatedCount"]) == (0, 6)
        for text in await results(panel):
            assert len(SUFFIX.sub("", text)) >= 2_000


async def test_where_that_cannot_be_the_outcome_says_so(tmp_path: Path) -> None:
    async with chatting(tmp_path, ScriptedReply("Yes.")) as panel:
        await with_results(panel, *["line of a log\n" * 500] * 20)
        done = await panel.ask("truncateToolResults")
        assert done["leftOutCount"] > 0
        assert f"{done['leftOutCount']} tool results were left out altogether" in done["reason"]
        assert len(SUFFIX.sub("", (await results(panel))[-1])) >= 2_000


async def test_the_suffix_names_the_entry_that_keeps_the_whole_result(tmp_path: Path) -> None:
    whole = "line of a log\n" * 4_000
    async with chatting(tmp_path, ScriptedReply("Yes.")) as panel:
        await with_results(panel, whole)
        await panel.ask("truncateToolResults")
        (text,) = await results(panel)
        assert "an offset and a limit, or by section" in text
        named = re.search(r"history_read \(id ([^)]+)\)", text)
        assert named is not None
        read: dict[str, Any] = await panel.ask(
            "callHistoryTool", name="history_read", arguments={"ids": [named[1]]}
        )
        assert read["isError"] is False
        assert "line of a log\nline of a log" in read["content"][0]["text"]
