"""Gemini's generateContent: what it is sent, and what goes back to it."""

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
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
    text_of,
)
from coppice.tree.view import ViewMessage

READ = Tool(name="read", description="Reads a file", input_schema={"type": "object"})
PICTURE = ImageContent(data="cGl4ZWw=", mime_type="image/png")


def result_of(call_id: str, *content: Any, is_error: bool = False) -> ToolResultMessage:
    blocks = list(content) or [TextContent(text="x = 1")]
    return ToolResultMessage(tool_call_id=call_id, tool_name="read", content=blocks, is_error=is_error)


def about(*messages: Any, **more: Any) -> ChatRequest:
    return ChatRequest([ViewMessage(None, message) for message in messages], max_tokens=100, **more)


async def test_it_is_sent_what_the_api_takes() -> None:
    said = [UserMessage(content="Hi"), DeveloperMessage(content="Note"), UserMessage(content=[PICTURE])]
    async with asked("gemini", answer("ok")) as (model, server):
        await model.complete(about(*said, system="Be brief.", tools=[READ], temperature=0))
    (received,) = server.requests
    assert received.path == "/v1/models/small-model:streamGenerateContent?alt=sse"
    assert received.headers["x-goog-api-key"] == KEY
    assert received.body == {
        "contents": [
            {
                "role": "user",
                "parts": [{"text": "Hi"}, {"inlineData": {"mimeType": "image/png", "data": "cGl4ZWw="}}],
            }
        ],
        "systemInstruction": {"parts": [{"text": "Be brief.\n\nNote"}]},
        "generationConfig": {
            "maxOutputTokens": 100,
            "temperature": 0,
            "thinkingConfig": {"includeThoughts": True},
        },
        "tools": [
            {
                "functionDeclarations": [
                    {
                        "name": "read",
                        "description": "Reads a file",
                        "parametersJsonSchema": {"type": "object"},
                    }
                ]
            }
        ],
    }


async def test_calls_go_back_with_their_signature_and_results_by_name() -> None:
    calls = [("c1", "read", {"path": "a"}), ("c2", "read", {"path": "b"})]
    async with asked("gemini", answer("I look.", thinking="Hm.", calls=calls), answer("ok")) as (
        model,
        server,
    ):
        first = await model.complete(about(UserMessage(content="Hi")))
        results = [result_of("c1"), result_of("c2", TextContent(text="no such file"), is_error=True)]
        await model.complete(about(UserMessage(content="Hi"), first, *results))
    assert server.requests[1].body["contents"][1:] == [
        {
            "role": "model",
            "parts": [
                {"text": "I look."},
                {"functionCall": {"name": "read", "args": {"path": "a"}}, "thoughtSignature": "c2ln"},
                {"functionCall": {"name": "read", "args": {"path": "b"}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "read", "response": {"output": "x = 1"}}},
                {"functionResponse": {"name": "read", "response": {"error": "no such file"}}},
            ],
        },
    ]


@pytest.mark.parametrize(
    ("pieces", "parts"),
    [
        ([("One.", "b25l"), (" Two.", None)], [("One.", "b25l"), (" Two.", None)]),
        ([("One.", None), ("", "b25l")], [("One.", "b25l")]),
        ([("One.", None), ("", "b25l"), ("", "dHdv")], [("One.", "b25l")]),
        ([("", "b25l"), ("One.", None)], [("One.", None)]),
    ],
    ids=["a part", "an empty part after it", "two empty parts", "nothing before it"],
)
async def test_a_text_goes_back_with_its_signature(pieces: list[Any], parts: list[Any]) -> None:
    def part(text: str, signature: str | None) -> dict[str, Any]:
        return {"text": text} | ({"thoughtSignature": signature} if signature else {})

    streamed: list[Any] = [
        {"candidates": [{"content": {"role": "model", "parts": [part(*piece)]}}]} for piece in pieces
    ]
    streamed.append({"candidates": [{"finishReason": "STOP"}]})
    async with asked("gemini", events(*streamed), answer("ok"), answer("ok")) as (model, server):
        first = await model.complete(about(UserMessage(content="Hi")))
        await model.complete(about(UserMessage(content="Hi"), first, UserMessage(content="And?")))
        other = first.model_copy(update={"provider": "anthropic"})
        await model.complete(about(UserMessage(content="Hi"), other, UserMessage(content="And?")))
    sent = [received.body["contents"][1]["parts"] for received in server.requests[1:]]
    assert sent == [[part(*each) for each in parts], [{"text": text} for text, _ in parts]]


async def test_images_follow_the_results_and_are_not_among_them() -> None:
    calls: list[Any] = [ToolCall(id=name, name=name, arguments={}) for name in ("draw", "read")]
    said: list[Any] = [
        UserMessage(content="Hi"),
        AssistantMessage(content=calls, provider="gemini"),
        ToolResultMessage(tool_call_id="draw", tool_name="draw", content=[PICTURE], is_error=False),
        result_of("read"),
    ]
    async with asked("gemini", answer("ok")) as (model, server):
        await model.complete(about(*said))
        await model.complete(about(*said, UserMessage(content="And?")))
    results = [
        {"functionResponse": {"name": "draw", "response": {"output": "(an image)"}}},
        {"functionResponse": {"name": "read", "response": {"output": "x = 1"}}},
    ]
    image = {"inlineData": {"mimeType": "image/png", "data": "cGl4ZWw="}}
    images = [{"text": "From the result of `draw`:"}, image]
    expected = [
        [{"role": "user", "parts": results}, {"role": "user", "parts": parts}]
        for parts in (images, [*images, {"text": "And?"}])
    ]
    assert [received.body["contents"][2:] for received in server.requests] == expected


async def test_calls_of_another_model_are_sent_as_such_once_they_are_refused() -> None:
    call = ToolCall(id="c", name="read", arguments={}, thought_signature="b3RoZXI=")
    reply = AssistantMessage(content=[call], provider="anthropic")
    refusal = error(400, "Function call is missing a thought_signature in functionCall parts.")
    async with asked("gemini", refusal, answer("ok")) as (model, server):
        await model.complete(about(UserMessage(content="Hi"), reply, result_of("c")))
    signatures = [
        received.body["contents"][1]["parts"][0].get("thoughtSignature") for received in server.requests
    ]
    assert signatures == [None, "skip_thought_signature_validator"]


async def test_a_model_that_does_not_think_is_not_asked_for_thoughts_again() -> None:
    async with asked("gemini", error(400, "Thinking is not enabled for this model"), answer("ok")) as (
        model,
        server,
    ):
        await model.complete(request())
        await model.complete(request())
    asked_for = ["thinkingConfig" in received.body["generationConfig"] for received in server.requests]
    assert asked_for == [True, False, False]


async def test_an_answer_in_one_piece_counts_thoughts_and_what_was_cached() -> None:
    parts = [{"text": "Hm.", "thought": True}, {"text": "Yes."}]
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 2, "thoughtsTokenCount": 3, "totalTokenCount": 14}
    data = {
        "candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}],
        "usageMetadata": {**usage, "cachedContentTokenCount": 4},
    }
    async with asked("gemini", json_body(data)) as (model, _):
        reply = await model.complete(request())
    assert (text_of(reply.content), reply.stop_reason) == ("Yes.", "stop")
    assert reply.usage == Usage(input=5, output=5, cache_read=4, total_tokens=14)


@pytest.mark.parametrize(
    ("piece", "kind"),
    [
        ({"promptFeedback": {"blockReason": "SAFETY"}}, "refused"),
        ({"candidates": [{"content": {}, "finishReason": "RECITATION"}]}, "refused"),
        ({"candidates": [{"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL"}]}, "bad-answer"),
        ({"candidates": [{"content": {}, "finishReason": "MISSING_THOUGHT_SIGNATURE"}]}, "bad-answer"),
        ({"candidates": [{"content": {}, "finishReason": "TOO_MANY_TOOL_CALLS"}]}, "bad-answer"),
        ({"candidates": [{"content": {"parts": [{"text": "So"}]}}]}, "cut-off"),
    ],
)
async def test_an_answer_without_a_good_end_says_why(piece: dict[str, Any], kind: str) -> None:
    async with asked("gemini", events(piece)) as (model, _):
        with pytest.raises(ModelError) as caught:
            await model.complete(request())
    assert caught.value.kind == kind


async def test_its_refusal_of_a_long_request_is_an_overflow() -> None:
    message = "The input token count (40000) exceeds the maximum number of tokens allowed (32768)."
    refusal = json_body(
        {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}, status=400
    )
    async with asked("gemini", refusal) as (model, _):
        with pytest.raises(ModelError) as caught:
            await model.complete(request())
        assert caught.value.kind == "overflow"
        assert (await model.limits()).context_window == 32_768


async def test_its_listing_names_the_window() -> None:
    listing = {"models": [{"name": "models/small-model", "inputTokenLimit": 32_000, "outputTokenLimit": 900}]}
    async with asked("gemini", answer("ok"), pages={"/v1/models": listing}) as (model, _):
        limits = await model.limits()
    assert (limits.context_window, limits.max_output_tokens, limits.source) == (32_000, 900, "server")


async def test_the_name_may_be_the_listing_s() -> None:
    async with asked("gemini", answer("ok"), name="models/small-model") as (model, server):
        await model.complete(request())
    assert json.dumps(server.requests[0].path).count("models/") == 1
