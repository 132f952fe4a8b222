"""A real small model answers turns, until its window is full and its server says so."""

from pathlib import Path
from typing import Any

import pytest
from lsp.panel import Panel, chatting
from real_model.llama_server import NAME, WINDOW, LlamaServer

pytestmark = pytest.mark.timeout(600)

PATIENCE = 200.0
TOO_LARGE = 100_000
MOST_PROMPTS = 6


def settings(llama: LlamaServer) -> dict[str, Any]:
    """A window that is set far too large, so that only the server's refusal shows the real one."""
    model = {"provider": "openai", "baseUrl": llama.url, "name": NAME, "contextWindow": TOO_LARGE}
    return {
        "model": {**model, "maxOutputTokens": 24},
        "summarizer": {"provider": "offline"},
        "compaction": {"keepRecentTokens": 300, "reserveTokens": 500},
    }


async def prompted(panel: Panel, content: str) -> Any:
    params = {**panel.about, "content": content, "partialResultToken": "parts"}
    return await panel.editor.ask("coppice/prompt", params, patience=PATIENCE)


async def test_a_conversation_goes_on_through_a_real_overflow(llama: LlamaServer, tmp_path: Path) -> None:
    async with chatting(tmp_path, settings=settings(llama)) as panel:
        prompts = 0
        while not any(event.startswith("retry") for event in panel.line):
            prompts += 1
            assert prompts <= MOST_PROMPTS
            text = f"Chapter {prompts}. " + "The river rose in the night and the mill stood still. " * 100
            done = await prompted(panel, text + "What stood still?")
            assert done["stopReason"] in ("stop", "length")
        assert prompts > 1
        at = panel.line.index("started: overflow")
        assert panel.line[at : at + 5] == [
            *("started: overflow", "compaction started", "ended: completed", "compaction completed"),
            "retry 1 compacted",
        ]
        assert panel.line[-1] == "assistant"
        assert done["usage"]["contextWindow"] <= WINDOW
        assert done["usage"]["tokens"] < WINDOW
        assert await panel.roles() == ["user", "assistant"] * prompts
        after = await prompted(panel, "And now?")
        assert after["stopReason"] in ("stop", "length")
        assert llama.refused() >= 1
