import json
from typing import Any

import pytest
from models.provider_replies import answer, events, json_body, openai_events
from summarizers.asking import KEY, PROVIDERS, Provider, asked, request

from coppice.models.chat import ChatRequest, Delta, ModelError
from coppice.protocol.tools import Tool
from coppice.tree.messages import (
    DeveloperMessage,
    SystemMessage,
    TextContent,
    ThinkingContent,
    ToolCall,
    UserMessage,
    text_of,
)
from coppice.tree.view import ViewMessage

READ = Tool(name="read", description="Reads a file", input_schema={"type": "object", "required": ["path"]})


def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    return {"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def view(*messages: Any) -> list[ViewMessage]:
    return [ViewMessage(None, message) for message in messages]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_an_answer_holds_text_usage_and_who_wrote_it(provider: Provider) -> None:
    async with asked(provider, answer("Hello — 你好 🌳, friend")) as (model, server):
        result = await model.complete(request("Hi"))
    assert text_of(result.content) == "Hello — 你好 🌳, friend"
    assert result.stop_reason == "stop"
    assert (result.provider, result.model) == (provider, "served-model")
    assert result.usage is not None
    assert (result.usage.input, result.usage.output) == (11, 7)
    assert result.usage.context_tokens == 18
    assert len(server.requests) == 1
    assert model.name == f"{provider}/small-model"


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_pieces_arrive_in_order_and_make_up_the_answer(provider: Provider) -> None:
    deltas_seen: list[Delta] = []
    calls = [("call-1", "read", {"path": "a.py"}), ("call-2", "read", {"path": "b.py"})]
    script = answer("Two files then.", thinking="Which files?", calls=calls)
    async with asked(provider, script) as (model, _):
        result = await model.complete(request(tools=[READ]), deltas_seen.append)
    assert result.stop_reason == "toolUse"
    assert [type(block) for block in result.content] == [
        ThinkingContent, TextContent, ToolCall, ToolCall,
    ]  # fmt: skip
    assert [(call.id, call.name, call.arguments) for call in result.tool_calls] == calls
    assert "".join(each.text for each in deltas_seen if each.kind == "thinking") == "Which files?"
    assert "".join(each.text for each in deltas_seen if each.kind == "text") == "Two files then."
    pieces = "".join(each.text for each in deltas_seen if each.kind == "toolCall")
    assert json.loads(f"[{pieces.replace('}{', '},{')}]") == [arguments for _, _, arguments in calls]


async def test_openai_is_sent_what_the_api_takes() -> None:
    messages = view(UserMessage(content="Hi"), DeveloperMessage(content="Note"), UserMessage(content="Go"))
    async with asked("openai", answer("ok")) as (model, server):
        await model.complete(request_with(messages, tools=[READ]))
    (received,) = server.requests
    assert received.path == "/v1/chat/completions"
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert received.body == {
        "model": "small-model",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi"},
            {"role": "system", "content": "Note"},
            {"role": "user", "content": "Go"},
        ],
        "max_tokens": 100,
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "read",
                    "description": "Reads a file",
                    "parameters": {"type": "object", "required": ["path"]},
                },
            }
        ],
    }


async def test_anthropic_is_sent_what_the_api_takes() -> None:
    messages = view(UserMessage(content="Hi"), DeveloperMessage(content="Note"))
    async with asked("anthropic", answer("ok")) as (model, server):
        await model.complete(request_with(messages, tools=[READ]))
    (received,) = server.requests
    assert received.path == "/v1/messages"
    assert received.headers["x-api-key"] == KEY
    assert received.headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in received.headers
    assert received.body == {
        "model": "small-model",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
        "stream": True,
        "system": "Be brief.\n\nNote",
        "tools": [
            {
                "name": "read",
                "description": "Reads a file",
                "input_schema": {"type": "object", "required": ["path"]},
            }
        ],
    }


def request_with(messages: list[ViewMessage], **more: Any) -> ChatRequest:
    return ChatRequest(messages, max_tokens=100, system="Be brief.", **more)


async def test_system_messages_at_the_beginning_go_as_one() -> None:
    messages = view(SystemMessage(content="Summary"), UserMessage(content="Hi"))
    async with asked("openai", answer("ok")) as (model, server):
        await model.complete(request_with(messages))
    assert server.requests[0].body["messages"][0] == {"role": "system", "content": "Be brief.\n\nSummary"}


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_half_a_surrogate_pair_does_not_stop_a_request(provider: Provider) -> None:
    async with asked(provider, answer("ok")) as (model, server):
        assert text_of((await model.complete(request("cut \ud83d here"))).content) == "ok"
    assert "cut ? here" in json.dumps(server.requests[0].body)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_an_answer_at_its_limit_says_so(provider: Provider) -> None:
    async with asked(provider, answer("Half an ans", stop="length")) as (model, _):
        assert (await model.complete(request())).stop_reason == "length"


async def test_a_call_that_the_limit_cut_is_left_out() -> None:
    opening = {"index": 0, "id": "c", "function": {"name": "read", "arguments": '{"path": "a'}}
    script = events(chunk({"content": "So"}), chunk({"tool_calls": [opening]}), chunk({}, "length"), "[DONE]")
    async with asked("openai", script) as (model, _):
        result = await model.complete(request())
    assert result.tool_calls == []
    assert text_of(result.content) == "So"


@pytest.mark.parametrize("written", ["[1]", '{"path": ', '{"a":' * 200 + "1" + "}" * 200])
async def test_arguments_that_are_no_object_are_kept_as_they_were_written(written: str) -> None:
    opening = {"index": 0, "id": "c", "function": {"name": "read", "arguments": written}}
    script = events(chunk({"tool_calls": [opening]}), chunk({}, "tool_calls"), "[DONE]")
    async with asked("openai", script) as (model, _):
        [call] = (await model.complete(request())).tool_calls
    assert (call.arguments, call.invalid_arguments) == ({}, written)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"index": 0, "id": "a"}, {"index": 0, "id": "b"}),  # Ollama
        ({"id": "a"}, {"id": "b"}),  # Gemini
        ({"index": 0, "id": "a"}, {"index": 1, "id": "b"}),
    ],
)
async def test_calls_are_distinguished_however_they_are_numbered(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    def call(place: dict[str, Any], path: str) -> dict[str, Any]:
        function = {"name": "read", "arguments": json.dumps({"path": path})}
        return chunk({"tool_calls": [place | {"function": function}]})

    script = events(call(first, "x"), call(second, "y"), chunk({}, "stop"), "[DONE]")
    async with asked("openai", script) as (model, _):
        result = await model.complete(request())
    assert [call.arguments for call in result.tool_calls] == [{"path": "x"}, {"path": "y"}]
    assert result.stop_reason == "toolUse"


async def test_a_call_without_an_id_gets_one() -> None:
    opening = {"index": 0, "function": {"name": "read", "arguments": {"path": "x"}}}
    script = events(chunk({"tool_calls": [opening]}), chunk({}, "tool_calls"), "[DONE]")
    async with asked("openai", script) as (model, _):
        (call,) = (await model.complete(request())).tool_calls
    assert call.id
    assert call.arguments == {"path": "x"}


@pytest.mark.parametrize(
    "deltas",
    [
        [{"reasoning_content": "Hm."}, {"content": "Yes."}],
        [{"reasoning": "Hm."}, {"content": "Yes."}],
        [{"content": "<think>\nHm.\n</think>\n\nYes."}],
        [
            {"content": "\n<th"},
            {"content": "ink>H"},
            {"content": "m.</thi"},
            {"content": "nk>\n"},
            {"content": "Yes."},
        ],
        [
            {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]},
            {"content": "Yes."},
        ],
    ],
)
async def test_reasoning_is_thinking_whatever_its_field(deltas: list[dict[str, Any]]) -> None:
    script = events(*map(chunk, deltas), chunk({}, "stop"), "[DONE]")
    async with asked("openai", script) as (model, _):
        result = await model.complete(request())
    thinking, text = result.content
    assert isinstance(thinking, ThinkingContent)
    assert thinking.thinking == "Hm."
    assert text == TextContent(text="Yes.")


async def test_what_openai_read_from_its_cache_is_no_input() -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 5,
        "total_tokens": 105,
        "prompt_tokens_details": {"cached_tokens": 60},
    }
    script = events(chunk({"content": "x"}, "stop"), {"choices": [], "usage": usage}, "[DONE]")
    async with asked("openai", script) as (model, _):
        reported = (await model.complete(request())).usage
    assert reported is not None
    assert (reported.input, reported.cache_read, reported.output, reported.context_tokens) == (40, 60, 5, 105)


async def test_anthropic_s_cache_is_counted_apart() -> None:
    counts = {
        "input_tokens": 9,
        "cache_read_input_tokens": 80,
        "cache_creation_input_tokens": 3,
        "output_tokens": 1,
    }
    script = events(
        {"type": "message_start", "message": {"model": "m", "usage": counts}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "x"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 4}},
        {"type": "message_stop"},
    )
    async with asked("anthropic", script) as (model, _):
        usage = (await model.complete(request())).usage
    assert usage is not None
    assert (usage.input, usage.output, usage.cache_read, usage.cache_write) == (9, 4, 80, 3)


@pytest.mark.parametrize(
    "usage", [None, {}, {"prompt_tokens": "many"}, {"prompt_tokens": -1, "completion_tokens": 2}]
)
async def test_an_answer_without_proper_usage_has_none(usage: Any) -> None:
    script = events(chunk({"content": "x"}, "stop"), {"choices": [], "usage": usage}, "[DONE]")
    async with asked("openai", script) as (model, _):
        message = await model.complete(request())
    assert message.usage is None
    assert "usage" not in message.model_dump(mode="json", by_alias=True)


async def test_a_server_that_does_not_stream_is_understood() -> None:
    message = {
        "role": "assistant",
        "content": "Whole.",
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}],
    }
    whole = {
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    }
    async with asked("openai", json_body(whole)) as (model, _):
        read = await model.complete(request())
    assert read.content == [TextContent(text="Whole."), ToolCall(id="c", name="read", arguments={})]
    assert read.usage is not None


async def test_a_message_in_one_piece_is_understood_from_anthropic_too() -> None:
    whole = {
        "type": "message",
        "model": "m",
        "content": [
            {"type": "text", "text": "Whole."},
            {"type": "tool_use", "id": "c", "name": "f", "input": {"a": 1}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "output_tokens": 2},
    }
    async with asked("anthropic", json_body(whole)) as (model, _):
        message = await model.complete(request())
    assert message.content == [TextContent(text="Whole."), ToolCall(id="c", name="f", arguments={"a": 1})]
    assert message.stop_reason == "toolUse"


async def test_an_answer_that_ends_without_done_is_whole_once_it_says_why_it_stopped() -> None:
    script = events(*[each for each in openai_events("All of it.") if each != "[DONE]"], ends=False)
    async with asked("openai", script) as (model, _):
        assert text_of((await model.complete(request())).content) == "All of it."


@pytest.mark.parametrize("content", ["", "The begin"])
async def test_a_stream_that_is_done_without_a_reason_is_cut_off(content: str) -> None:
    script = events(chunk({"role": "assistant"}), chunk({"content": content}), "[DONE]")
    async with asked("openai", script) as (model, _):
        with pytest.raises(ModelError) as caught:
            await model.complete(request())
    assert caught.value.kind == "cut-off"


async def test_usage_after_an_answer_says_that_it_is_whole() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    script = events(chunk({"content": "All of it."}), {"choices": [], "usage": usage}, "[DONE]")
    async with asked("openai", script) as (model, _):
        result = await model.complete(request())
    assert (text_of(result.content), result.stop_reason) == ("All of it.", "stop")


async def test_usage_before_the_end_of_an_answer_does_not_make_it_whole() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 0}
    script = events(
        {"choices": [], "usage": usage}, chunk({"content": "The begin"}) | {"usage": usage}, "[DONE]"
    )
    async with asked("openai", script) as (model, _):
        with pytest.raises(ModelError) as caught:
            await model.complete(request())
    assert caught.value.kind == "cut-off"


async def test_the_settings_bound_the_answer() -> None:
    async with asked("openai", answer("ok"), maxOutputTokens=50) as (model, server):
        await model.complete(request())
    assert server.requests[0].body["max_tokens"] == 50
