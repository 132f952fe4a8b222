"""What a provider can read from its cache: consecutive requests of a conversation, and what they took."""

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from conftest_service import Client, MakeClient
from models.provider_replies import answer, error
from models.provider_server import ProviderServer, Received
from models.provider_window import ScriptedReply, Windowed
from summarizers.asking import PROVIDERS

from coppice.protocol.base import WireModel
from coppice.protocol.server_requests import INVOKE_TOOL

WINDOW = 30_000
READ = {"name": "read", "description": "Reads a file.", "inputSchema": {"type": "object"}}
WRITE = {"name": "write", "description": "Writes a file.", "inputSchema": {"type": "object"}}
OUTPUT = "a line of a file that was read\n" * 150  # 1,200 tokens
LONG_ANSWER = "It reads a file and keeps its lines. " * 220  # 2,000 tokens
TURNS = 12
CALLS = 3
NOTED_EACH = 4  # turns


async def runs_tools(_method: str, params: WireModel) -> Any:
    path = params.model_dump(by_alias=True)["arguments"]["path"]
    return {"content": [{"type": "text", "text": f"{path}: {OUTPUT}"}]}


def replies(edit: dict[str, Any] | None = None, thinking: str = "") -> Iterator[ScriptedReply]:
    """A turn calls a tool some times; with `edit` its first call writes a file, and its answer is long."""
    for turn in range(TURNS):
        for call in range(CALLS):
            name = f"c{turn}-{call}"
            if edit is not None and call == 0:
                yield ScriptedReply("I write.", calls=[(name, "write", edit)], thinking=thinking)
                continue
            arguments = {"path": f"src/{name}.py"}
            yield ScriptedReply("I look.", calls=[(name, "read", arguments)], thinking=thinking)
        long = "" if edit is None else LONG_ANSWER
        yield ScriptedReply(f"That is how part {turn} works. {long}", thinking=thinking)


async def prompting(make_client: MakeClient, server: ProviderServer, provider: str) -> Client:
    client: Client = await make_client(
        {
            "model": {"provider": provider, "name": "m", "baseUrl": server.url, "contextWindow": WINDOW},
            "summarizer": {"provider": "offline"},
            "tokens": {"counter": "estimate"},
            "compaction": {"reserveTokens": 4_096, "keepRecentTokens": 2_000},
        }
    )
    client.port.answer(runs_tools, INVOKE_TOOL)
    return client


def unmarked(value: Any) -> Any:
    """A body without the marks of the cache, which are no part of what is cached."""
    match value:
        case dict():
            return {key: unmarked(item) for key, item in value.items() if key != "cache_control"}
        case list():
            return [unmarked(item) for item in value]
        case _:
            return value


MARK = b', "cache_control": {"type": "ephemeral"}'


def values_as_sent(body: str) -> dict[str, str]:
    """The values of a JSON object, each with the characters that were sent."""
    values: dict[str, str] = {}
    place = 1
    while body[place - 1] != "}":
        name, place = json.JSONDecoder().raw_decode(body, place)
        start = place + len(": ")
        _, place = json.JSONDecoder().raw_decode(body, start)
        values[name] = body[start:place]
        place += len(", ") if body[place] == "," else 1
    return values


def beginning(request: Received) -> str:
    """What a provider caches of a request, as it was sent, in its order: to the end of the last message."""
    values = values_as_sent(request.raw.replace(MARK, b"").decode())
    (messages,) = [values[name] for name in ("messages", "input", "contents") if name in values]
    opening = [values.get(name, "") for name in ("tools", "system", "instructions", "systemInstruction")]
    return "\n".join([*opening, messages.removesuffix("]")])


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_request_begins_with_the_one_before_until_a_step_changes_the_view(
    make_client: MakeClient, tmp_path: Path, provider: str
) -> None:
    (tmp_path / "workspace" / "src").mkdir(parents=True)
    (tmp_path / "workspace" / "src" / "plan.py").write_text("PLAN = 1\n", encoding="utf-8")
    edit = {"path": "src/plan.py", "content": "PLAN = 1\n"}
    thinking = "" if provider == "openai" else "Which file is it?"  # of that protocol see protocol.md
    async with ProviderServer([Windowed(WINDOW, list(replies(edit, thinking)))]) as server:
        client = await prompting(make_client, server, provider)
        about = {"conversationId": await client.conversation()}
        for turn in range(TURNS):
            if turn % NOTED_EACH == 0:
                await client.ask("note/add", text=f"Part {turn} is done, 完.")
            asked = {"content": f"Part {turn}?", "tools": [READ, WRITE], "system": "Be brief."}
            await client.ask("prompt", **about, **asked)
        path = (await client.ask("entries", **about, limit=1000))["entries"]
        bodies = [beginning(request) for request in server.requests]
    steps = sum(entry["type"] in ("context_edit", "compaction") for entry in path)
    shown = "".join(entry["content"] for entry in path if entry.get("customType") == "harness")
    assert "Part 8 is done, 完." in shown
    assert "PLAN = 1" in shown
    assert {"context_edit", "compaction"} <= {entry["type"] for entry in path}
    assert len(bodies) == TURNS * (CALLS + 1)
    changed = sum(not later.startswith(earlier) for earlier, later in pairwise(bodies))
    assert changed == steps


def marked_places(body: dict[str, Any]) -> list[str]:
    places = [f"message {n}" for n, m in enumerate(body["messages"]) if "cache_control" in m["content"][-1]]
    system = ["system"] if isinstance(body.get("system"), list) else []
    tools = ["tools"] if any("cache_control" in tool for tool in body.get("tools", [])) else []
    return [*tools, *system, *places]


async def test_anthropic_is_told_where_the_last_two_requests_end(make_client: MakeClient) -> None:
    async with ProviderServer([Windowed(WINDOW, list(replies()))]) as server:
        client = await prompting(make_client, server, "anthropic")
        about = {"conversationId": await client.conversation()}
        await client.ask("prompt", **about, content="Part 0?", tools=[READ], system="Be brief.")
        await client.ask("prompt", **about, content="Part 1?", tools=[READ])
        marked = [marked_places(request.body) for request in server.requests]
    assert marked[:2] == [["system", "message 0"], ["system", "message 0", "message 2"]]
    assert marked[4] == ["tools", "message 6", "message 8"]


def blocks_of(body: dict[str, Any]) -> list[tuple[str, bool]]:
    """The blocks of Anthropic's messages, each with whether it is marked."""
    blocks = [block for message in body["messages"] for block in message["content"]]
    return [(json.dumps(unmarked(block)), "cache_control" in block) for block in blocks]


def same_blocks(one: list[tuple[str, bool]], other: list[tuple[str, bool]]) -> int:
    """How many blocks both begin with."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a[0] != b[0]), min(len(one), len(other)))


async def test_after_a_step_anthropic_reads_what_it_left_as_it_was(make_client: MakeClient) -> None:
    async with ProviderServer([Windowed(WINDOW, list(replies()))]) as server:
        client = await prompting(make_client, server, "anthropic")
        about = {"conversationId": await client.conversation()}
        for turn in range(TURNS):
            await client.ask("prompt", **about, content=f"Part {turn}?", tools=[READ])
        bodies = [request.body for request in server.requests]
    assert max(json.dumps(body).count('"cache_control"') for body in bodies) == 4
    requests = [blocks_of(body) for body in bodies]
    pairs = enumerate(pairwise(requests), 1)
    steps = [n for n, (before, now) in pairs if same_blocks(before, now) < len(before)]
    assert len(steps) >= 3
    for number in steps[1:]:
        request, before = requests[number], requests[number - 1]
        marks = [place for place, (_, marked) in enumerate(request) if marked]
        read = max(place + 1 for place in marks if before[place : place + 1] == [(request[place][0], True)])
        # What follows is the call before the first result that this step cleared, and the question before it.
        assert 0 < read <= same_blocks(request, before) <= read + 4


async def test_a_server_that_refuses_the_marks_is_sent_none_again(make_client: MakeClient) -> None:
    refusal = error(400, "messages.0.content.0.cache_control: Extra inputs are not permitted")
    async with ProviderServer([refusal, answer("Yes."), answer("Yes.")]) as server:
        client = await prompting(make_client, server, "anthropic")
        about = {"conversationId": await client.conversation()}
        for _ in range(2):
            await client.ask("prompt", **about, content="There?", system="Be brief.")
        marked = [bool(marked_places(request.body)) for request in server.requests]
    assert marked == [True, False, False]


async def test_what_requests_took_is_recorded_and_summed(make_client: MakeClient) -> None:
    async with ProviderServer([Windowed(WINDOW, list(replies()))]) as server:
        client = await prompting(make_client, server, "anthropic")
        about = {"conversationId": await client.conversation()}
        for turn in range(2):
            await client.ask("prompt", **about, content=f"Part {turn}?", tools=[READ])
        path = (await client.ask("entries", **about, limit=1000))["entries"]
        spent = (await client.ask("usage", **about, spent=True))["spent"]
        assert "spent" not in await client.ask("usage", **about)
    made = [entry["message"] for entry in path if entry["message"]["role"] == "assistant"]
    assert all(0 <= each["milliseconds"]["firstToken"] <= each["milliseconds"]["whole"] for each in made)
    sent = [
        sum(each["usage"].get(name) or 0 for name in ("input", "cacheRead", "cacheWrite")) for each in made
    ]
    assert (spent["conversation"]["requests"], spent["conversation"]["input"]) == (8, sum(sent))
    assert (spent["turn"]["requests"], spent["turn"]["input"]) == (4, sum(sent[4:]))
    whole = sum(each["milliseconds"]["whole"] for each in made)
    assert spent["conversation"]["milliseconds"] == whole
