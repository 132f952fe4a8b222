"""OpenAI's Responses API: what it is sent, and what goes back to it."""

import json
from typing import Any

import pytest
from models.provider_replies import answer, error, events, json_body
from summarizers.asking import KEY, asked, request

from coppice.models.chat import ChatRequest, ModelError
from coppice.protocol.tools import Tool
from coppice.tree.messages import (
    AssistantMessage,
    DeveloperMessage,
    ImageContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
    text_of,
)
from coppice.tree.view import ViewMessage

READ = Tool(name="read", description="Reads a file", input_schema={"type": "object"})
CALL = ("call-1", "read", {"path": "a.py"})
PICTURE = ImageContent(data="cGl4ZWw=", mime_type="image/png")


def result_of(call_id: str, *content: Any) -> ToolResultMessage:
    blocks = list(content) or [TextContent(text="x = 1")]
    return ToolResultMessage(tool_call_id=call_id, tool_name="read", content=blocks, is_error=False)


def about(*messages: Any, **more: Any) -> ChatRequest:
    return ChatRequest([ViewMessage(None, message) for message in messages], max_tokens=100, **more)


async def test_it_is_sent_what_the_api_takes() -> None:
    said = [UserMessage(content="Hi"), DeveloperMessage(content="Note")]
    async with asked("openai-responses", answer("ok")) as (model, server):
        await model.complete(about(*said, system="Be brief.", tools=[READ], cache_key="c-1", temperature=0))
    (received,) = server.requests
    assert (received.path, received.headers["authorization"]) == ("/v1/responses", f"Bearer {KEY}")
    assert received.body == {
        "model": "small-model",
        "instructions": "Be brief.",
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
            {"type": "message", "role": "developer", "content": "Note"},
        ],
        "max_output_tokens": 100,
        "store": False,
        "stream": True,
        "include": ["reasoning.encrypted_content"],
        "temperature": 0,
        "prompt_cache_key": "c-1",
        "tools": [
            {
                "type": "function",
                "name": "read",
                "description": "Reads a file",
                "parameters": {"type": "object"},
                "strict": False,
            }
        ],
    }


async def test_reasoning_goes_back_to_its_provider_as_it_came() -> None:
    script = answer("I look.", thinking="Which file?", calls=[CALL])
    async with asked("openai-responses", script, answer("Done.")) as (model, server):
        first = await model.complete(about(UserMessage(content="Hi")))
        await model.complete(about(UserMessage(content="Hi"), first, result_of("call-1")))
    items = server.requests[1].body["input"]
    assert items[1:] == [
        {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "Which file?"}],
            "encrypted_content": "ZW5j",
        },
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
        {"type": "function_call", "call_id": "call-1", "name": "read", "arguments": '{"path": "a.py"}'},
        {"type": "function_call_output", "call_id": "call-1", "output": "x = 1"},
    ]


@pytest.mark.parametrize("is_streamed", [True, False])
async def test_reasoning_that_is_not_encrypted_goes_back_too(*, is_streamed: bool) -> None:
    plain = [{"type": "reasoning_text", "text": "Which file?"}]
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "content": plain}
    message = {"type": "message", "content": [{"type": "output_text", "text": "I look."}]}
    response = {"object": "response", "status": "completed", "model": "m", "output": [item, message]}
    script = events(
        {"type": "response.output_item.added", "output_index": 0, "item": item | {"content": []}},
        {"type": "response.reasoning_text.delta", "output_index": 0, "delta": "Which file?"},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.output_text.delta", "output_index": 1, "delta": "I look."},
        {"type": "response.completed", "response": response},
    )
    first = script if is_streamed else json_body(response)
    async with asked("openai-responses", first, answer("Done.")) as (model, server):
        reply = await model.complete(about(UserMessage(content="Hi")))
        await model.complete(about(UserMessage(content="Hi"), reply, UserMessage(content="And?")))
    [block] = [block for block in reply.content if isinstance(block, ThinkingContent)]
    assert block.thinking == "Which file?"
    assert server.requests[1].body["input"][1] == item


async def test_reasoning_without_a_summary_is_stored_and_shown_to_nobody_else() -> None:
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "ZW5j"}
    done = {"type": "response.completed", "response": {"status": "completed", "model": "m"}}
    script = events(
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {"type": "reasoning", "id": "rs_1"},
        },
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        done,
    )
    async with asked("openai-responses", script) as (model, _):
        reply = await model.complete(request())
    [block] = reply.content
    assert isinstance(block, ThinkingContent)
    for provider, name in (("openai", "messages"), ("anthropic", "messages"), ("gemini", "contents")):
        async with asked(provider, answer("ok")) as (model, server):
            await model.complete(about(UserMessage(content="Hi"), reply, UserMessage(content="And?")))
        assert "ZW5j" not in json.dumps(server.requests[0].body[name])


@pytest.mark.parametrize(
    "signature", ["c2lnbmVk", "{", '{"type": "reasoning"}', "[1]", '{"encrypted_content": 5}', "[" * 5_000]
)
async def test_a_signature_of_another_kind_is_not_sent(signature: str) -> None:
    thinking = ThinkingContent(thinking="Hm.", thinking_signature=signature)
    reply = AssistantMessage(content=[thinking, TextContent(text="Yes.")], provider="openai-responses")
    async with asked("openai-responses", answer("ok")) as (model, server):
        await model.complete(about(UserMessage(content="Hi"), reply))
    assert [item["type"] for item in server.requests[0].body["input"]] == ["message", "message"]


async def test_what_a_model_does_not_take_is_left_out_from_then_on() -> None:
    refusals = [
        error(400, "Encrypted content is not supported with this model."),
        error(400, "Unsupported parameter: 'temperature' is not supported with this model."),
    ]
    async with asked("openai-responses", *refusals, answer("ok")) as (model, server):
        await model.complete(request(temperature=0))
        await model.complete(request(temperature=0))
    sent = [{"include", "temperature"} & received.body.keys() for received in server.requests]
    assert sent == [{"include", "temperature"}, {"temperature"}, set(), set()]


async def test_reasoning_that_is_refused_is_left_out_from_then_on() -> None:
    item = json.dumps({"type": "reasoning", "encrypted_content": "b3RoZXI="})
    thinking = ThinkingContent(thinking="Hm.", thinking_signature=item)
    reply = AssistantMessage(content=[thinking, TextContent(text="Yes.")], provider="openai-responses")
    refusal = error(400, "The encrypted content could not be verified.", code="invalid_encrypted_content")
    async with asked("openai-responses", refusal, answer("ok")) as (model, server):
        for _ in range(2):
            await model.complete(about(UserMessage(content="Hi"), reply, UserMessage(content="And?")))
    counts = [json.dumps(received.body).count("b3RoZXI=") for received in server.requests]
    assert counts == [1, 0, 0]


async def test_an_answer_in_one_piece_is_read_like_a_stream() -> None:
    output = [
        {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "Hm."}],
            "encrypted_content": "ZQ==",
        },
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
        {"type": "function_call", "call_id": "c", "name": "read", "arguments": '{"path": "a"}'},
    ]
    usage = {"input_tokens": 9, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}}
    data = {"object": "response", "status": "completed", "model": "m", "output": output, "usage": usage}
    async with asked("openai-responses", json_body(data)) as (model, _):
        reply = await model.complete(request())
    assert [type(block) for block in reply.content] == [ThinkingContent, TextContent, ToolCall]
    assert (text_of(reply.content), reply.stop_reason) == ("I look.", "toolUse")
    assert reply.usage == Usage(input=5, output=2, cache_read=4, total_tokens=11)


async def test_pictures_are_sent_where_they_were() -> None:
    reply = AssistantMessage(content=[ToolCall(id="c", name="read", arguments={})], provider="x")
    said = [UserMessage(content=[TextContent(text="See"), PICTURE]), reply, result_of("c", PICTURE)]
    async with asked("openai-responses", answer("ok")) as (model, server):
        await model.complete(about(*said))
    user, _, output = server.requests[0].body["input"]
    picture = {"type": "input_image", "image_url": "data:image/png;base64,cGl4ZWw="}
    assert user["content"] == [{"type": "input_text", "text": "See"}, picture]
    assert output["output"] == [picture]


@pytest.mark.parametrize(
    ("ending", "kind"),
    [
        (
            {
                "status": "failed",
                "error": {
                    "code": "context_length_exceeded",
                    "message": "Your input exceeds the context window.",
                },
            },
            "overflow",
        ),
        ({"status": "failed", "error": {"code": "server_error", "message": "Sorry."}}, "server"),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, "refused"),
    ],
)
async def test_a_response_that_fails_says_why(ending: dict[str, Any], kind: str) -> None:
    script = events({"type": f"response.{ending['status']}", "response": ending})
    async with asked("openai-responses", script) as (model, _):
        with pytest.raises(ModelError) as caught:
            await model.complete(request(caller_waits=True))
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    ("kind", "status", "stop"),
    [("incomplete", None, "length"), ("completed", None, "stop"), ("failed", None, None)],
)
async def test_the_event_says_how_a_response_ended(kind: str, status: str | None, stop: str | None) -> None:
    script = events(
        {"type": "response.output_text.delta", "output_index": 0, "delta": "So"},
        {"type": f"response.{kind}", "response": {"model": "m", "status": status}},
    )
    async with asked("openai-responses", script) as (model, _):
        if stop is None:
            with pytest.raises(ModelError):
                await model.complete(request(caller_waits=True))
        else:
            assert (await model.complete(request())).stop_reason == stop


async def test_a_response_in_one_piece_that_is_not_done_is_none() -> None:
    data = {"object": "response", "status": "in_progress", "output": []}
    async with asked("openai-responses", json_body(data)) as (model, _):
        with pytest.raises(ModelError) as caught:
            await model.complete(request(caller_waits=True))
    assert caught.value.kind == "cut-off"


async def test_only_what_is_known_of_a_reasoning_item_goes_back() -> None:
    item = {
        "encrypted_content": "ZQ==",
        "role": "system",
        "summary": [{"text": "Hm.", "x": 1}, 5, {"text": []}],
    }
    thinking = ThinkingContent(thinking="Hm.", thinking_signature=json.dumps(item))
    reply = AssistantMessage(content=[thinking, TextContent(text="Yes.")], provider="openai-responses")
    async with asked("openai-responses", answer("ok")) as (model, server):
        await model.complete(about(UserMessage(content="Hi"), reply))
    assert server.requests[0].body["input"][1] == {
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": "Hm."}],
        "encrypted_content": "ZQ==",
    }
