"""The reported size of the next request is that of what is really sent to a provider."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from conftest_service import Client, MakeClient, assistant, tool, user
from models.provider_replies import answer
from models.provider_server import ProviderServer

from coppice.protocol.server_requests import INVOKE_TOOL
from coppice.tokens.counting import count_tokens
from coppice.tokens.measuring import compact_json

SYSTEM = "You are a coding agent. Answer in short sentences and never guess a path. " * 12
TOOLS = [
    {
        "name": name,
        "description": f"The tool {name} of the editor, for files of the workspace and nothing else. " * 4,
        "inputSchema": {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Relative to the workspace."},
                "limit": {"type": "integer", "minimum": 1},
            },
            "required": ["path"],
        },
    }
    for name in ("read", "write", "search")
]
OVERHEAD: dict[str, Any] = {"system": SYSTEM, "tools": TOOLS}
PROMPT = "Go on with the importer, please."
PER_MESSAGE = 4
"""Tokens by which a message's count may be off: its parts are counted one by one, its wrapping is not."""
PER_TOOL = 12
"""Likewise a tool's: each provider wraps it in its own way."""


@pytest.fixture
async def provider() -> AsyncIterator[ProviderServer]:
    async with ProviderServer([answer("Done.")]) as server:
        yield server


async def asking(
    make_client: MakeClient, provider: ProviderServer, kind: str, **more: Any
) -> tuple[Client, str]:
    """A client, and a conversation with a summary, a pin, calls, results and thinking in it."""
    model = {"provider": kind, "name": "small", "baseUrl": provider.url, "apiKeyEnv": "COPPICE_TEST_KEY"}
    client: Client = await make_client(
        {
            "model": {**model, "contextWindow": 60_000},
            "summarizer": {"provider": "offline"},
            "compaction": {"keepRecentTokens": 1_000},
            **more,
        }
    )
    ask = client.ask

    async def tools(method: str, params: Any) -> Any:
        raise AssertionError(method, params)

    client.port.answer(tools, INVOKE_TOOL)
    made = await client.conversation()
    entries: list[dict[str, Any]] = [user("Build the importer. Never touch src/legacy.py.", id="first")]
    for number in range(14):
        entries += [user(f"Now part {number}, für alle Fälle auch mit Umlauten. " + "It matters. " * 20)]
        entries += tool(
            f"c{number}", "edit", {"path": f"src/part_{number}.py", "lines": [number]}, "ok\n" * 60
        )
        entries += [assistant(f"Part {number} is done. " + "As planned, 計画どおり. " * 20)]
    await ask("append", conversationId=made, entries=entries)
    await ask("pin", conversationId=made, entryId="first", pinned=True)
    await ask("compact", conversationId=made)
    thinking = {"type": "thinking", "thinking": "What is left? " * 30}
    await ask(
        "append",
        conversationId=made,
        entries=[user("And now?"), assistant("", content=[thinking, {"type": "text", "text": "Part 14."}])],
    )
    return client, made


def texts(value: Any) -> Iterator[str]:
    """The texts of a body's messages; a call's arguments as JSON, as they are sent."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from texts(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            if key in ("role", "type", "id", "tool_use_id", "tool_call_id", "is_error"):
                continue
            yield from [compact_json(each)] if key == "input" else texts(each)


def sent_tokens(body: Any) -> tuple[int, int, int]:
    """The tokens of a body's messages, of its system prompt, and of its tools."""
    messages = [each for each in body["messages"] if each["role"] != "system"]
    system = body.get("system") or next(
        each["content"] for each in body["messages"] if each["role"] == "system"
    )
    return (
        sum(count_tokens(text) for text in texts(messages)),
        sum(count_tokens(text) for text in texts(system)),
        sum(count_tokens(compact_json(each)) for each in body["tools"]),
    )


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
async def test_the_parts_are_those_of_the_body_that_is_sent(
    make_client: MakeClient, provider: ProviderServer, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COPPICE_TEST_KEY", "sk-test")
    client, made = await asking(
        make_client, provider, kind, recall={"enabled": False}, context={"noteTools": False}
    )
    usage = await client.ask("usage", conversationId=made, detail=True, **OVERHEAD)
    await client.ask("prompt", conversationId=made, content=PROMPT, **OVERHEAD)
    body = provider.requests[0].body
    messages, system, tools = sent_tokens(body)
    breakdown = usage["breakdown"]
    assert abs(breakdown["system"] - system) <= PER_MESSAGE
    assert abs(breakdown["tools"] - tools) <= PER_TOOL * len(TOOLS)
    sent = messages + system + tools
    thought = breakdown[
        "thinking"
    ]  # counted; it is sent only to the model it came from, and this one came from neither
    counted = usage["tokens"] - thought + count_tokens(PROMPT)
    assert sent > 2_000
    assert abs(counted - sent) <= PER_MESSAGE * len(body["messages"]) + PER_TOOL * len(TOOLS)


async def test_what_is_sent_with_the_view_is_in_the_count_and_in_the_check(client: Client) -> None:
    made = await client.conversation("Hello.", "Hello, what is it?")
    bare = await client.ask("usage", conversationId=made, detail=True)
    whole = await client.ask("usage", conversationId=made, detail=True, **OVERHEAD)
    kinds = whole["breakdown"]
    assert whole["tokens"] == bare["tokens"] + kinds["system"] + kinds["tools"]
    assert (bare["breakdown"]["system"], bare["breakdown"]["tools"]) == (0, 0)
    window = whole["tokens"] + 20
    for overhead in ({}, OVERHEAD):
        usage = await client.ask("usage", conversationId=made, contextWindow=window, **overhead)
        assert usage["shouldCompact"] is bool(overhead)
        prepared = await client.ask("preparePrompt", conversationId=made, contextWindow=window, **overhead)
        assert prepared["usage"] == usage
        assert ("message" in prepared) is bool(overhead)


async def test_a_provider_s_own_count_has_them_in_already(client: Client) -> None:
    made = await client.conversation("Hello.")
    reply = assistant("Hello.", usage={"input": 3_000, "output": 10})
    await client.ask("append", conversationId=made, entries=[reply, user("And now?")])
    usage = await client.ask("usage", conversationId=made, **OVERHEAD)
    assert usage["source"] == "usage"
    assert usage == await client.ask("usage", conversationId=made)


async def test_a_prompt_with_many_tools_is_made_room_for(make_client: MakeClient) -> None:
    client = await make_client({"model": {"contextWindow": 8_000}, "tokens": {"counter": "estimate"}})
    made = await client.conversation(*["u" * 1_000, "a" * 1_000] * 10)
    many = [{**each, "name": f"{each['name']}{number}"} for number in range(3) for each in TOOLS]
    assert (await client.ask("preparePrompt", conversationId=made))["compacted"] is False
    done = await client.ask("preparePrompt", conversationId=made, tools=many, system=SYSTEM)
    assert done["compacted"] is True
    assert done["usage"]["shouldCompact"] is False
    assert done["usage"]["tokens"] > 1_500
