"""The history tools: what a client calls, what a turn of the server offers, and what is never repeated."""

from typing import Any

import pytest
from conftest_service import Client, MakeClient, tool, user
from models.provider_server import ProviderServer, Received
from models.provider_window import ScriptedReply, Windowed

from coppice.compaction.span.serialization import serialize
from coppice.protocol.history import HISTORY_TOOLS, READ_TOOL, SEARCH_TOOL
from coppice.service.history.tools import HISTORY_NOTE
from coppice.tree.messages import TextContent, ToolResultMessage

SUMMARY = {"type": "compaction", "summary": "## Goal\nTend the garden.", "firstKeptEntryId": "kept"}
PAST = [
    user("The rowan was planted in the year of the flood.", id="past"),
    user("Go on.", id="kept"),
    SUMMARY,
]


def looks_up(question: str) -> ScriptedReply:
    return ScriptedReply("", calls=[("h1", SEARCH_TOOL, {"query": question})])


async def a_turn(make_client: MakeClient, server: ProviderServer, *entries: Any, **settings: Any) -> Client:
    model = {"provider": "openai", "name": "m", "baseUrl": server.url, "contextWindow": 100_000}
    client: Client = await make_client({"model": model, "summarizer": {"provider": "offline"}, **settings})
    conversation = await client.conversation()
    await client.ask("append", conversationId=conversation, entries=list(entries))
    await client.ask("prompt", conversationId=conversation, content="When was the rowan planted?")
    return client


def chat_requests(server: ProviderServer) -> list[Received]:
    return [request for request in server.requests if "messages" in request.body]


def offered(exchange: Received) -> set[str]:
    return {each["function"]["name"] for each in exchange.body.get("tools", [])}


async def test_a_turn_after_a_compaction_looks_up_what_the_summary_lacks(make_client: MakeClient) -> None:
    async with ProviderServer(
        [Windowed(100_000, [looks_up("When was the rowan planted?"), ScriptedReply("Then.")])]
    ) as server:
        client = await a_turn(make_client, server, *PAST)
        first, second = chat_requests(server)
        assert offered(first) == HISTORY_TOOLS
        assert HISTORY_NOTE in str(first.body["messages"][0])
        assert "year of the flood" not in str(first.body["messages"])
        assert "year of the flood" in str(second.body["messages"][-1])
        [listed] = (await client.ask("conversation/list"))["conversations"]
        path = (await client.ask("entries", conversationId=listed["id"]))["entries"]
        recorded = [entry["message"] for entry in path if entry["type"] == "message"]
        assert [message["role"] for message in recorded[-4:]] == [
            "user",
            "assistant",
            "toolResult",
            "assistant",
        ]
        assert recorded[-2]["toolName"] == SEARCH_TOOL
        again = await client.ask("recall", conversationId=listed["id"], query="year of the flood")
        assert {item.get("toolName") for item in again["items"]} == {None}


@pytest.mark.parametrize(("entries", "enabled"), [(PAST[:2], True), (PAST, False)])
async def test_the_tools_are_offered_only_after_a_compaction_and_when_enabled(
    make_client: MakeClient, entries: list[Any], *, enabled: bool
) -> None:
    async with ProviderServer([Windowed(100_000, [ScriptedReply("I do not know.")])]) as server:
        await a_turn(make_client, server, *entries, recall={"enabled": enabled})
        [exchange] = chat_requests(server)
        assert offered(exchange) == set()
        assert HISTORY_NOTE not in str(exchange.body["messages"])


async def test_a_client_gets_definitions_and_has_calls_run(client: Client) -> None:
    definitions = (await client.ask("historyTools"))["tools"]
    assert {each["name"] for each in definitions} == HISTORY_TOOLS
    about = {"conversationId": await client.conversation()}
    await client.ask(
        "append", **about, entries=[*PAST, *tool("c1", "bash", {"command": "make"}, "the rowan failed")]
    )
    answer = await client.ask("callHistoryTool", **about, name=SEARCH_TOOL, arguments={"query": "rowan"})
    [content] = answer["content"]
    assert not answer["isError"]
    assert '"id": "past"' in content["text"]
    assert '"tool": "bash", "call": "make"' in content["text"]
    read = await client.ask("callHistoryTool", **about, name=READ_TOOL, arguments={"ids": ["past"]})
    assert read["content"][0]["text"].endswith(
        "The rowan was planted in the year of the flood.\n</history-entry>"
    )


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("history_burn", {}, "no such tool"),
        (SEARCH_TOOL, {}, "query"),
        (SEARCH_TOOL, {"query": "x", "limit": 5}, "limit"),
        (SEARCH_TOOL, {"query": "x", "cursor": "soon"}, "cursor"),
        (READ_TOOL, {"ids": []}, "ids"),
        (READ_TOOL, {"ids": ["nowhere"]}, "no entry"),
    ],
)
async def test_a_mistake_of_the_model_is_reported_to_it(
    client: Client, name: str, arguments: dict[str, Any], words: str
) -> None:
    about = {"conversationId": await client.conversation("a")}
    answer = await client.ask("callHistoryTool", **about, name=name, arguments=arguments)
    assert answer["isError"]
    assert words in answer["content"][0]["text"]


async def test_a_result_is_bounded(client: Client) -> None:
    about = {"conversationId": await client.conversation("rowan " * 40_000)}
    answer = await client.ask("callHistoryTool", **about, name=SEARCH_TOOL, arguments={"query": "rowan"})
    assert len(answer["content"][0]["text"]) < 17_000


def test_what_was_looked_up_is_not_summarized_again() -> None:
    result = ToolResultMessage(
        tool_call_id="h", tool_name=SEARCH_TOOL, content=[TextContent(text="the year of the flood")]
    )
    assert "flood" not in serialize([result])


@pytest.mark.parametrize(
    ("name", "arguments"),
    [(SEARCH_TOOL, {"query": "What does .env hold?"}), (READ_TOOL, {"ids": ["secret"]})],
)
async def test_a_model_does_not_see_what_the_user_excluded(
    client: Client, name: str, arguments: dict[str, Any]
) -> None:
    conversation = await client.conversation()
    command = {
        "role": "bashExecution",
        "command": "cat .env",
        "output": "TOKEN=rowan",
        "excludeFromContext": True,
    }
    entry = {"type": "message", "id": "secret", "message": command}
    await client.ask("append", conversationId=conversation, entries=[entry])
    result = await client.ask("callHistoryTool", conversationId=conversation, name=name, arguments=arguments)
    assert "rowan" not in str(result)
    own = await client.ask("recall", conversationId=conversation, query=".env")
    assert ["TOKEN=rowan" in item["text"] for item in own["items"]] == [True]


async def test_the_text_of_an_attached_file_is_not_the_users(client: Client) -> None:
    lines = "\n".join(f"Branch {number} of the rowan is old." for number in range(60))
    attached = f'<attachment title="a.md">\n{lines}\nAlways fell the willow.\n{lines}\n</attachment>'
    blocks = [
        {"type": "text", "text": text} for text in ("What does this say?", attached, "Spare the willow.")
    ]
    asked = {"type": "message", "id": "asked", "message": {"role": "user", "content": blocks}}
    conversation = await client.conversation()
    await client.ask("append", conversationId=conversation, entries=[asked])
    for question in ({"query": "fell the willow"}, {"entryIds": ["asked"]}, {}):
        items = (await client.ask("recall", conversationId=conversation, **question))["items"]
        assert {item.get("attached") for item in items if "Always fell" in item["text"]} == {True}
        assert {item.get("attached") for item in items if "Spare" in item["text"]} == {None}
    call = {"name": SEARCH_TOOL, "arguments": {"query": "fell the willow"}}
    [block] = (await client.ask("callHistoryTool", conversationId=conversation, **call))["content"]
    [entry] = [each for each in block["text"].split("<history-entry>") if "Always fell" in each]
    assert '"role": "text attached to a user message, not typed"' in entry
