"""An automatic compaction is shown as work-done progress of its own, titled "Compacting"."""

from pathlib import Path
from typing import Any

import pytest
from lsp.editor import PROGRESS
from lsp.panel import Panel, chatting
from models.provider_window import ScriptedReply

TOO_LONG = {"message": "prompt is too long: 9000 tokens > 8000 maximum", "status": 400}
ASKED_ON = "request"


def shown(panel: Panel) -> dict[str, list[Any]]:
    """The progress with each title: its token and what was reported."""
    reports_of: dict[str, list[Any]] = {}
    for token, reports in panel.editor.client.progress_reports.items():
        if reports:
            reports_of.setdefault(field(reports[0], "title"), []).append((token, reports))
    return reports_of


def field(report: Any, name: str) -> Any:
    return report.get(name) if isinstance(report, dict) else getattr(report, name, None)


@pytest.mark.parametrize(
    ("method", "more", "whole"),
    [
        ("prompt", {"content": "And now? " + "It matters. " * 300}, "Working"),
        ("recover", {"error": TOO_LONG}, "Recovering"),
        ("preparePrompt", {"prompt": "And now? " + "It matters. " * 300}, None),
    ],
)
async def test_an_automatic_compaction_has_a_progress_of_its_own(
    tmp_path: Path, method: str, more: dict[str, Any], whole: str | None
) -> None:
    async with chatting(tmp_path, ScriptedReply("Yes."), capabilities=PROGRESS) as panel:
        await panel.append_turns(6_600)
        given = {} if whole is None else {"workDoneToken": ASKED_ON}
        if whole is not None:
            panel.editor.progress(ASKED_ON)
        await panel.ask(method, **more, **given)
        progress = shown(panel)
        ((token, reports),) = progress["Compacting"]
        assert token != ASKED_ON
        assert field(reports[0], "cancellable") is True
        assert field(reports[-1], "kind") == "end"
        assert "tokens" in field(reports[-1], "message")
        if whole is not None:
            assert [token for token, _ in progress[whole]] == [ASKED_ON]
