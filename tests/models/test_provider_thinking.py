"""Thinking that a provider wants back: signed, redacted, or under the name it came in."""

from typing import Any

import pytest
from models.provider_replies import answer, error, events
from models.provider_server import ProviderServer
from summarizers.asking import asked, request

from coppice.models.chat import ChatModel, ChatRequest
from coppice.tree.messages import AssistantMessage, Message, ThinkingContent, ToolResultMessage, UserMessage
from coppice.tree.view import ViewMessage

SIGNED = {"type": "thinking", "thinking": "", "signature": ""}


def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    return {"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def calling(name: str) -> Any:
    function = {"name": "read", "arguments": "{}"}
    return events(
        chunk({name: "First I "}),
        chunk({name: "look."}),
        chunk({"tool_calls": [{"index": 0, "id": "c1", "function": function}]}),
        chunk({}, "tool_calls"),
        "[DONE]",
    )


async def goes_on(model: ChatModel, reply: AssistantMessage, *more: Message) -> None:
    result = ToolResultMessage(tool_call_id="c1", tool_name="read", content=[])
    messages = [UserMessage(content="Hi"), reply, result, *more]
    await model.complete(ChatRequest([ViewMessage(None, each) for each in messages], max_tokens=100))


def sent_reply(server: ProviderServer, number: int) -> dict[str, Any]:
    replies = [each for each in server.requests[number].body["messages"] if each["role"] == "assistant"]
    return dict(replies[0])


def block(index: int, content: dict[str, Any], *deltas: dict[str, Any]) -> list[Any]:
    return [
        {"type": "content_block_start", "index": index, "content_block": content},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def thought(text: str, signature: str) -> list[dict[str, Any]]:
    return [
        {"type": "thinking_delta", "thinking": text},
        {"type": "signature_delta", "signature": signature},
    ]


async def test_anthropics_blocks_of_thinking_go_back_one_by_one_signed_and_redacted() -> None:
    script = events(
        {"type": "message_start", "message": {"type": "message", "model": "m", "usage": {}}},
        *block(0, SIGNED, *thought("First.", "one")),
        *block(1, SIGNED, *thought("Second.", "two")),
        *block(2, {"type": "redacted_thinking", "data": "sealed"}),
        *block(3, {"type": "tool_use", "id": "c1", "name": "read", "input": {}}),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    )
    async with asked("anthropic", script, answer("ok")) as (model, server):
        reply = await model.complete(request())
        await goes_on(model, reply)
    assert sent_reply(server, 1)["content"] == [
        {"type": "thinking", "thinking": "First.", "signature": "one"},
        {"type": "thinking", "thinking": "Second.", "signature": "two"},
        {"type": "redacted_thinking", "data": "sealed"},
        {"type": "tool_use", "id": "c1", "name": "read", "input": {}},
    ]


async def test_anthropic_takes_no_reply_that_ends_with_thinking() -> None:
    cut = AssistantMessage(content=[ThinkingContent(thinking="Hm", thinking_signature="one")])
    async with asked("anthropic", answer("ok")) as (model, server):
        messages: list[Message] = [UserMessage(content="Hi"), cut, UserMessage(content="Go on")]
        await model.complete(ChatRequest([ViewMessage(None, each) for each in messages], max_tokens=100))
    assert [each["role"] for each in server.requests[0].body["messages"]] == ["user"]


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
async def test_thinking_goes_back_under_its_name_while_the_turn_goes_on(name: str) -> None:
    async with asked("openai", calling(name), answer("ok")) as (model, server):
        reply = await model.complete(request())
        await goes_on(model, reply)
        await goes_on(model, reply, UserMessage(content="And now?"))
    assert sent_reply(server, 1)[name] == "First I look."
    assert name not in sent_reply(server, 2)


async def test_a_server_that_refuses_thinking_is_sent_none_from_then_on() -> None:
    error_response = error(400, "property 'reasoning_content' is unsupported")
    async with asked("openai", calling("reasoning_content"), error_response, answer("ok")) as (model, server):
        reply = await model.complete(request())
        await goes_on(model, reply)
        await goes_on(model, reply)
    assert ["reasoning_content" in sent_reply(server, number) for number in (1, 2, 3)] == [
        *(True, False, False),
    ]


async def test_one_providers_thinking_is_not_sent_to_another_as_its_own() -> None:
    async with asked("openai", calling("reasoning_content")) as (model, _):
        reply = await model.complete(request())
    async with asked("anthropic", answer("ok")) as (model, server):
        await goes_on(model, reply)
    assert [each["type"] for each in sent_reply(server, 0)["content"]] == ["tool_use"]
