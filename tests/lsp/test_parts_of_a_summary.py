"""A summary that takes several requests, watched from the editor."""

from pathlib import Path

from lsp.editor import editing
from models.provider_replies import answer
from models.provider_server import ProviderServer
from scripted import GOOD

SIZES = {"compaction": {"keepRecentTokens": 300, "maxSummaryTokens": 400}}


async def test_an_editor_sees_which_part_of_a_long_summary_is_under_way(tmp_path: Path) -> None:
    async with ProviderServer([answer(GOOD)]) as provider:
        model = {"provider": "openai", "name": "small", "baseUrl": provider.url, "contextWindow": 2_500}
        settings = {**SIZES, "tokens": {"counter": "estimate"}, "summarizer": model}
        async with editing(tmp_path, settings=settings, command=("-m", "coppice.lsp")) as editor:
            about = {"conversationId": await editor.conversation(), "workDoneToken": "mine"}
            reports = editor.progress("mine")
            done = await editor.ask("coppice/compact", about)
    assert done["summarizer"] == "openai/small"
    seen = [(report.message, report.percentage) for report in reports if report.kind == "report"]
    parts = [message for message, _ in seen if "part" in message]
    assert parts[0].startswith("Summarizing, part 1 of ")
    assert len(set(parts)) >= 3
    percentages = [percentage for _, percentage in seen]
    assert percentages == sorted(percentages)
    assert len({percentage for message, percentage in seen if message in parts}) >= 3
