"""Summaries by models that are really asked over HTTP: whatever the model does, the compaction completes."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from conftest_service import Client, MakeClient, assistant, tool, user
from models.provider_replies import (
    answer,
    body,
    cut_the_stream,
    error,
    hang_before_headers,
    hurried,
)
from models.provider_server import Exchange, ProviderServer, Reply
from waiting import PATIENCE

from coppice.protocol.base import WireModel
from coppice.protocol.server_requests import SAMPLE
from coppice.protocol.tools import SampleParams
from coppice.service.core import summarizers

KEY = "sk-secret-of-the-tests-0123456789"
SIZES = {"compaction": {"keepRecentTokens": 300}, "tokens": {"counter": "estimate"}}
SMALL_SUMMARY = {"compaction": {"keepRecentTokens": 300, "maxSummaryTokens": 400}}
GOOD = """## Goal
Build the importer.

## Constraints & Preferences
- Never touch src/legacy.py.

## Progress
### Done
- [x] The reader works.

### In Progress
- [ ] The writer.

### Blocked

## Key Decisions
- **Streaming**: files are large

## Next Steps
1. Write the writer.

## Critical Context
- The format is JSON lines.
"""


TURN_REPORT = "- Request: part 8 of the importer\n- Done: began it"


@pytest.fixture
async def provider() -> AsyncIterator[ProviderServer]:
    async with ProviderServer() as server:
        yield server


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COPPICE_TEST_KEY", KEY)


def asks(provider: ProviderServer, kind: str, **more: Any) -> dict[str, Any]:
    model = {"provider": kind, "name": "small", "baseUrl": provider.url, "apiKeyEnv": "COPPICE_TEST_KEY"}
    return {**SIZES, "summarizer": {**model, "contextWindow": 32_000, **more}}


async def long_conversation(client: Client) -> str:
    made = await client.conversation()
    entries: list[dict[str, Any]] = [
        user("Build the importer. Never touch src/legacy.py. Always run `make check`.")
    ]
    for number in range(10):
        entries.append(user(f"Now part {number} of the importer, please. " + "It matters. " * 20))
        entries += tool(f"c{number}", "edit", {"path": f"src/part_{number}.py"}, "edited\n" * 40)
        entries.append(assistant(f"Part {number} is done in src/part_{number}.py. " + "As planned. " * 20))
    await client.ask("append", conversationId=made, entries=entries)
    return made


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
async def test_a_model_writes_and_what_it_left_out_is_added(
    make_client: MakeClient, provider: ProviderServer, kind: str
) -> None:
    provider.script = [answer(GOOD)]
    client = await make_client(asks(provider, kind))
    made = await long_conversation(client)
    done = await client.ask("compact", conversationId=made, instructions="the file format")
    entry = done["entry"]
    assert done["summarizer"] == f"{kind}/small"
    assert done["warnings"] == []
    assert "files are large" in entry["summary"]
    assert "Always run `make check`" in entry["summary"]
    assert "<modified-files>\nsrc/part_0.py" in entry["summary"]
    assert entry["model"] == entry["details"]["model"] == f"{kind}/small"
    assert entry["details"]["durationMs"] >= 0
    sent = json.dumps(provider.requests[0].body)
    assert "<conversation>" in sent
    assert "Additional focus: the file format" in sent


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        pytest.param(error(401, f"Incorrect API key provided: {KEY}"), "key", id="401"),
        pytest.param(error(404, "The model `small` does not exist"), "small", id="404"),
        pytest.param(error(413, "Request too large"), "window", id="413"),
        pytest.param(body(b"<html>gateway</html>"), "empty answer", id="garbage"),
        pytest.param(body(b""), "empty answer", id="empty"),
        pytest.param(cut_the_stream, "broke off", id="cut stream"),
        pytest.param(answer(""), "It was empty", id="no text"),
        pytest.param(
            answer("Sure! I have fixed the importer for you, anything else?"),
            "answered the conversation",
            id="no summary",
        ),
        pytest.param(answer(GOOD[:60], stop="length"), "cut off too early", id="cut off"),
    ],
)
async def test_a_model_that_fails_is_named_and_the_offline_summarizer_writes(
    make_client: MakeClient, provider: ProviderServer, kind: str, reply: Reply, reason: str
) -> None:
    provider.script = [reply]
    client = await make_client(asks(provider, kind))
    made = await long_conversation(client)
    done = await client.ask("compact", conversationId=made)
    assert done["summarizer"] == "offline"
    assert "Never touch src/legacy.py" in done["entry"]["summary"]
    assert f"The summarizer {kind} failed" in done["warnings"][0]
    assert reason in done["warnings"][0]
    assert KEY not in json.dumps(done)
    assert KEY not in json.dumps(client.notifications)


async def test_the_model_that_answers_turns_replaces_the_summarizer(
    make_client: MakeClient, provider: ProviderServer
) -> None:
    provider.script = [error(401, "no"), answer(GOOD)]
    settings = asks(provider, "openai", fallbacks=["inherit"])
    turns = {
        "provider": "anthropic",
        "name": "large",
        "baseUrl": provider.url,
        "apiKeyEnv": "COPPICE_TEST_KEY",
    }
    client = await make_client({**settings, "model": {**turns, "contextWindow": 200_000}})
    made = await long_conversation(client)
    done = await client.ask("compact", conversationId=made)
    assert done["summarizer"] == "anthropic/large"
    assert len(done["warnings"]) == 1


async def test_a_compaction_is_cancelled_while_the_model_hangs(
    make_client: MakeClient, provider: ProviderServer
) -> None:
    provider.script = [hang_before_headers]
    client = await make_client(asks(provider, "openai"))
    made = await long_conversation(client)
    before = await client.ask("entries", conversationId=made, limit=1000)
    task = asyncio.create_task(client.ask("compact", conversationId=made))
    await provider.until(lambda: bool(provider.requests))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await provider.until(lambda: provider.dropped == len(provider.requests))
    assert await client.ask("entries", conversationId=made, limit=1000) == before
    assert client.notified("compactionEnded")[0]["status"] == "cancelled"


async def test_what_a_model_made_up_is_reported_and_stays_in_its_text(
    make_client: MakeClient, provider: ProviderServer
) -> None:
    made_up = GOOD.replace("The reader works.", "The reader works in src/made_up.py, 312 tests pass.")
    provider.script = [answer(made_up), answer("I cannot.")]
    client = await make_client(asks(provider, "openai"))
    made = await long_conversation(client)
    done = await client.ask("compact", conversationId=made)
    line = "- [x] The reader works in src/made_up.py, 312 tests pass."
    assert line in done["entry"]["summary"].splitlines()
    assert done["report"]["unsupported"] == [
        {"kind": "path", "text": "src/made_up.py", "statement": line, "shown": ""},
        {"kind": "number", "text": "312", "statement": line, "shown": ""},
    ]
    assert done["entry"]["details"]["unsupported"] == done["report"]["unsupported"]
    assert line in json.dumps(provider.requests[1].body)


class Watching:
    def __init__(self) -> None:
        self.reports: list[tuple[str, int]] = []

    def begin(self, title: str) -> None:
        del title

    def report(self, stage: str, percentage: int) -> None:
        self.reports.append((stage, percentage))

    def partial(self, value: WireModel) -> None:
        del value

    def end(self, message: str) -> None:
        del message


async def test_progress_rises_with_each_part_of_a_long_conversation(
    make_client: MakeClient, provider: ProviderServer
) -> None:
    provider.script = [answer(GOOD)]
    client = await make_client(asks(provider, "openai", contextWindow=3_000))
    made, watching = await long_conversation(client), Watching()
    await client.call("compact", watching, conversationId=made, settings=SMALL_SUMMARY)
    parts = [(stage, percent) for stage, percent in watching.reports if "part" in stage]
    assert len({stage for stage, _ in parts}) >= 3
    percentages = [percent for _, percent in watching.reports]
    assert percentages == sorted(percentages)
    assert len({percent for _, percent in parts if 20 <= percent <= 85}) >= 4


async def test_what_a_model_wrote_before_it_was_out_of_time_stays(
    make_client: MakeClient, provider: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, turn_is_reported = 0, asyncio.Event()

    async def slows_down(exchange: Exchange) -> None:
        nonlocal asked
        if "## Goal" not in str(exchange.request.body["messages"]):
            await answer(TURN_REPORT)(exchange)
            turn_is_reported.set()
            return
        asked += 1
        if asked == 1:
            await answer(GOOD)(exchange)
            return
        await turn_is_reported.wait()
        await hurried(hang_before_headers)(exchange)

    # The rest is written in real time, of which much passes for the timers by then.
    monkeypatch.setattr(summarizers, "_LATER", 1_000 * PATIENCE)
    provider.script = [slows_down]
    client = await make_client(asks(provider, "openai", contextWindow=2_500, timeoutSeconds=100))
    made = await long_conversation(client)
    done = await client.ask("compact", conversationId=made, settings=SMALL_SUMMARY)
    assert done["summarizer"] == "openai/small"
    assert "The format is JSON lines." in done["entry"]["summary"]
    assert done["entry"]["details"]["chunksByRule"] > 0
    assert "within the time it was given" in done["warnings"][0]


async def test_a_model_that_is_out_of_time_before_it_wrote_anything_is_passed_over(
    make_client: MakeClient, provider: ProviderServer
) -> None:
    provider.script = [hang_before_headers]
    client = await make_client(asks(provider, "openai", timeoutSeconds=0.3))
    made = await long_conversation(client)
    done = await client.ask("compact", conversationId=made)
    assert done["summarizer"] == "offline"
    assert "within the time it was given" in done["warnings"][0]


async def test_a_branch_is_summarized_by_the_model_too(
    make_client: MakeClient, provider: ProviderServer
) -> None:
    provider.script = [answer(GOOD)]
    client = await make_client(asks(provider, "anthropic"))
    made = await long_conversation(client)
    first = (await client.ask("entries", conversationId=made, limit=5))["entries"][4]
    moved = await client.ask("navigate", conversationId=made, targetId=first["id"], summarize=True)
    assert moved["summaryEntry"]["details"]["summarizer"] == "anthropic/small"
    assert moved["warnings"] == []


async def test_who_failed_is_reported_with_the_summary_of_a_branch_and_of_a_span(
    make_client: MakeClient, provider: ProviderServer
) -> None:
    provider.script = [error(404, "The model `small` does not exist")]
    client = await make_client(asks(provider, "openai"))
    made = await long_conversation(client)
    first = (await client.ask("entries", conversationId=made, limit=5))["entries"][4]
    span = await client.ask("summarize", conversationId=made)
    moved = await client.ask("navigate", conversationId=made, targetId=first["id"], summarize=True)
    assert span["summarizer"] == moved["summaryEntry"]["details"]["summarizer"] == "offline"
    for warnings in (span["warnings"], moved["warnings"]):
        assert len(warnings) == 1
        assert "openai/small" in warnings[0]


async def test_the_summary_of_a_span_reports_how_it_came_about(
    make_client: MakeClient, provider: ProviderServer
) -> None:
    provider.script = [answer(GOOD)]
    client = await make_client(asks(provider, "openai"))
    made = await long_conversation(client)
    span = await client.ask("summarize", conversationId=made)
    assert span["details"]["chunks"] == span["details"]["requests"] == 1
    assert "src/part_0.py" in span["details"]["modifiedFiles"]


async def test_the_editors_own_model_writes(make_client: MakeClient) -> None:
    client = await make_client({**SIZES, "summarizer": {"provider": "editor"}})
    asked: list[SampleParams] = []

    async def sample(_: str, params: SampleParams) -> Any:
        asked.append(params)
        return {"text": GOOD, "model": "of-the-editor", "stopReason": "stop"}

    client.port.answer(sample, SAMPLE)
    made = await long_conversation(client)
    done = await client.ask("compact", conversationId=made)
    assert done["summarizer"].startswith("editor/")
    assert asked[0].purpose == "summary"


async def test_a_model_that_is_not_set_well_is_passed_over_with_the_reason(make_client: MakeClient) -> None:
    client = await make_client({**SIZES, "summarizer": {"provider": "openai"}})
    made = await long_conversation(client)
    done = await client.ask("compact", conversationId=made)
    assert done["summarizer"] == "offline"
    assert "no model's name" in done["warnings"][0]


async def test_a_checkout_cannot_redirect_the_summaries(
    make_client: MakeClient, provider: ProviderServer, tmp_path: Path
) -> None:
    folder = tmp_path / "workspace" / ".coppice"
    folder.mkdir(parents=True)
    toml = f'[summarizer]\nprovider = "openai"\nname = "x"\nbaseUrl = "{provider.url}"\n'
    (folder / "settings.toml").write_text(toml, encoding="utf-8")
    client = await make_client(SIZES)
    made = await long_conversation(client)
    assert (await client.ask("compact", conversationId=made))["summarizer"] == "offline"
    assert provider.requests == []
