"""Tool results that the provider clears itself, against a server that speaks Anthropic's protocol."""

import json
import logging
from dataclasses import dataclass, field
from typing import Any

import pytest
from conftest_service import Client, MakeClient
from models.provider_replies import anthropic_events, error
from models.provider_server import Exchange, ProviderServer, Received, Reply
from models.provider_window import request_tokens

from coppice.protocol.base import WireModel
from coppice.protocol.server_requests import INVOKE_TOOL
from coppice.service.turns.model_requests import context_editing
from coppice.settings import Settings

WINDOW = 30_000
TRIGGER = 18_000  # 0.6 of the window
KEPT_USES = 5  # a third of that, 1,200 tokens each
LEAST_GAIN = 3_000  # a sixth
READ = {"name": "read", "description": "Reads a file.", "inputSchema": {"type": "object"}}
OUTPUT = "a line of a file that was read\n" * 200  # 1,600 tokens
TURNS = 20
ASKED: dict[str, Any] = {"model": {"provider": "anthropic", "contextEditing": True}}
REFUSAL = error(400, "context_management: Extra inputs are not permitted")


@dataclass
class EditingModel:
    """Calls a tool, then answers. What a request asks to clear it leaves out of what it reads and counts."""

    read: list[int] = field(default_factory=list)
    cleared: list[int] = field(default_factory=list)

    async def __call__(self, exchange: Exchange) -> None:
        edits, tokens = self._edited(exchange.request)
        self.read.append(tokens)
        answers = exchange.request.body["messages"][-1]["content"][-1]["type"] == "tool_result"
        number = len(self.read)
        calls = [] if answers else [(f"c{number}", "read", {"path": f"src/f{number}.py"})]
        await exchange.head()
        for event in anthropic_events("It reads." if answers else "", calls=calls, usage=(tokens, 10)):
            if isinstance(event, dict) and event["type"] == "message_delta":
                event["context_management"] = {"applied_edits": edits}
            await exchange.event(event)
        await exchange.end()

    def _edited(self, request: Received) -> tuple[list[dict[str, Any]], int]:
        """The edits that apply, and the tokens that are left."""
        tokens = request_tokens(request)
        asked = request.body.get("context_management")
        if asked is None:
            return [], tokens
        assert request.headers["anthropic-beta"] == "context-management-2025-06-27"
        (edit,) = asked["edits"]
        assert edit["type"] == "clear_tool_uses_20250919"
        assert (edit["trigger"]["type"], edit["clear_at_least"]["type"]) == ("input_tokens", "input_tokens")
        assert edit["keep"]["type"] == "tool_uses"
        blocks = [block for message in request.body["messages"] for block in message["content"]]
        results = [block for block in blocks if block["type"] == "tool_result"]
        old = results[: -edit["keep"]["value"]]
        saved = sum(len(json.dumps(block["content"])) for block in old) // 4
        self.cleared.append(saved)
        if tokens <= edit["trigger"]["value"] or saved < edit["clear_at_least"]["value"]:
            self.cleared[-1] = 0
            return [], tokens
        applied = {"type": edit["type"], "cleared_tool_uses": len(old), "cleared_input_tokens": saved}
        return [applied], tokens - saved


async def reads_a_file(_method: str, _params: WireModel) -> Any:
    return {"content": [{"type": "text", "text": OUTPUT}]}


async def worked(make_client: MakeClient, script: list[Reply]) -> tuple[Client, str, list[Received]]:
    """A conversation of `TURNS` turns, and the requests that were sent for it."""
    async with ProviderServer(script) as server:
        about = {"name": "m", "baseUrl": server.url, "contextWindow": WINDOW}
        client: Client = await make_client(
            {
                "model": {**ASKED["model"], **about},
                "summarizer": {"provider": "offline"},
                "tokens": {"counter": "estimate"},
                "compaction": {"reserveTokens": 4_096, "keepRecentTokens": 2_000},
            }
        )
        client.port.answer(reads_a_file, INVOKE_TOOL)
        made = await client.conversation()
        for turn in range(TURNS):
            await client.ask("prompt", conversationId=made, content=f"File {turn}?", tools=[READ])
        return client, made, list(server.requests)


async def kinds_of(client: Client, made: str) -> set[str]:
    path = (await client.ask("entries", conversationId=made, limit=1000))["entries"]
    return {entry["type"] for entry in path}


async def test_the_provider_clears_and_nothing_is_cleared_or_compacted_here(make_client: MakeClient) -> None:
    model = EditingModel()
    client, made, requests = await worked(make_client, [model])
    (edit,) = requests[0].body["context_management"]["edits"]
    assert [edit[name]["value"] for name in ("trigger", "keep", "clear_at_least")] == [
        TRIGGER, KEPT_USES, LEAST_GAIN,
    ]  # fmt: skip
    assert request_tokens(requests[-1]) > WINDOW  # what is sent is whole
    assert max(model.read) < WINDOW * 0.7
    assert await kinds_of(client, made) == {"message"}
    bodies = [json.dumps(request.body["context_management"]) for request in requests]
    assert len(set(bodies)) == 1  # it is a part of the request's beginning


async def test_what_was_cleared_is_recorded_with_the_reply_and_counts_for_the_window(
    make_client: MakeClient,
) -> None:
    model = EditingModel()
    client, made, _ = await worked(make_client, [model])
    path = (await client.ask("entries", conversationId=made, limit=1000))["entries"]
    usages = [entry["message"]["usage"] for entry in path if entry["message"]["role"] == "assistant"]
    assert [usage.get("clearedTokens", 0) for usage in usages] == model.cleared
    assert usages[-1]["clearedToolResults"] == TURNS - KEPT_USES
    usage = await client.ask("usage", conversationId=made, tools=[READ])
    assert (usage["source"], usage["tokens"]) == ("usage", model.read[-1] + 10)
    assert usage["shouldCompact"] is False


async def test_a_summary_is_made_of_the_whole_results(make_client: MakeClient) -> None:
    client, made, _ = await worked(make_client, [EditingModel()])
    done = await client.ask("compact", conversationId=made)
    assert done["tokensBefore"] < WINDOW
    assert await kinds_of(client, made) == {"message", "compaction"}


async def test_where_the_provider_refuses_it_coppice_clears(
    make_client: MakeClient, caplog: pytest.LogCaptureFixture
) -> None:
    model = EditingModel()
    with caplog.at_level(logging.WARNING):
        client, made, requests = await worked(make_client, [REFUSAL, model])
    asked = ["context_management" in request.body for request in requests]
    assert asked == [True] + [False] * (len(requests) - 1)
    assert all("anthropic-beta" not in request.headers for request in requests[1:])
    assert "context_edit" in await kinds_of(client, made)
    assert max(model.read) < WINDOW * 0.7
    notes = [record.getMessage() for record in caplog.records if "clears old tool results" in record.message]
    assert len(notes) == 1


@pytest.mark.parametrize(
    "settings",
    [
        {"model": {"provider": "anthropic"}},
        {"model": {"provider": "openai", "contextEditing": True}},
        {**ASKED, "compaction": {"clear": {"enabled": False}}},
        {**ASKED, "compaction": {"enabled": False}},
        {**ASKED, "recall": {"enabled": False}},
    ],
)
def test_it_is_asked_only_where_the_user_asks_for_it_and_results_are_cleared_at_all(
    settings: dict[str, Any],
) -> None:
    assert context_editing(Settings.model_validate(ASKED), WINDOW) is not None
    assert context_editing(Settings.model_validate(settings), WINDOW) is None
