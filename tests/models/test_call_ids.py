"""Ids of tool calls that another provider wrote, and that the one that is asked would refuse."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from models.provider_replies import answer
from summarizers.asking import asked

from coppice.models.chat import ChatRequest
from coppice.models.providers.answer import AnswerBuilder
from coppice.tree.messages import AssistantMessage, TextContent, ToolCall, ToolResultMessage, UserMessage
from coppice.tree.view import ViewMessage

PI = f"call_{'a' * 24}|fc_{'b' * 50}"
IDS = ["toolu_01A", PI, "functions.read:0", ""]
_NAMES = ("call_id", "tool_call_id", "tool_use_id", "id")


def ids_in(body: Any) -> Iterator[str]:
    """All ids of calls, in the order in which they are sent."""
    if isinstance(body, dict):
        yield from (body[name] for name in _NAMES if isinstance(body.get(name), str))
        body = list(body.values())
    for each in body if isinstance(body, list) else ():
        yield from ids_in(each)


@pytest.mark.parametrize(
    ("provider", "pattern", "as_they_are"),
    [
        ("openai", "[!-~]{1,64}", ["toolu_01A", "functions.read:0"]),
        ("openai-responses", "[A-Za-z0-9_-]{1,64}", ["toolu_01A"]),
        ("anthropic", "[A-Za-z0-9_-]{1,64}", ["toolu_01A"]),
    ],
)
async def test_ids_of_other_providers_are_sent_in_a_form_that_is_taken(
    provider: Any, pattern: str, as_they_are: list[str]
) -> None:
    calls: list[Any] = [ToolCall(id=each, name="read", arguments={}) for each in IDS]
    results = [
        ToolResultMessage(
            tool_call_id=each, tool_name="read", content=[TextContent(text="x")], is_error=False
        )
        for each in IDS
    ]
    said: list[Any] = [UserMessage(content="Hi"), AssistantMessage(content=calls), *results]
    async with asked(provider, answer("ok")) as (model, server):
        await model.complete(ChatRequest([ViewMessage(None, each) for each in said], max_tokens=100))
    sent = list(ids_in(server.requests[0].body))
    assert sent[: len(IDS)] == sent[len(IDS) :]
    assert len(set(sent)) == len(IDS)
    assert all(re.fullmatch(pattern, each) for each in sent)
    assert [each for each in sent[: len(IDS)] if each in IDS] == as_they_are


def test_calls_of_one_answer_have_ids_of_their_own() -> None:
    builder = AnswerBuilder(None)
    for name in ("read", "write"):
        builder.open_call("c", name)
    ids = [block.id for block in builder.content(complete=True) if isinstance(block, ToolCall)]
    assert ids[0] == "c"
    assert len(set(ids)) == 2
    again = [block.id for block in builder.content(complete=True) if isinstance(block, ToolCall)]
    assert again == ids
