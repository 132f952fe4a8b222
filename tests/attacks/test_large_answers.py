"""A model's answer is bounded in all its parts: what is stored of one cannot fill memory or the store."""

import tracemalloc
from typing import Any

import pytest
from models.provider_replies import events
from summarizers.asking import asked, request

from coppice.models.chat import ModelError
from coppice.models.editor import EditorModel
from coppice.models.providers.answer import LARGEST_ANSWER, LONGEST_ID, LONGEST_NAME, MOST_BLOCKS

PIECE = "m" * 1_000_000
PIECES = LARGEST_ANSWER // len(PIECE) + 1
Events = list[dict[str, Any]]


def anthropic(*blocks: dict[str, Any], deltas: Events | None = None) -> Events:
    message = {"type": "message", "role": "assistant", "model": "served-model", "content": []}
    starts = [
        {"type": "content_block_start", "index": index, "content_block": block}
        for index, block in enumerate(blocks)
    ]
    grown = [{"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas or ()]
    ending = {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 1}}
    return [{"type": "message_start", "message": message}, *starts, *grown, ending, {"type": "message_stop"}]


def anthropic_call(**parts: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": "call", "name": "read", "input": {}, **parts}


def openai(*calls: dict[str, Any]) -> Events:
    deltas = [{"index": 0, "delta": {"tool_calls": [call]}} for call in calls]
    return [{"choices": [choice]} for choice in (*deltas, {"index": 0, "delta": {}, "finish_reason": "stop"})]


def openai_call(index: int = 0, **parts: Any) -> dict[str, Any]:
    return {"index": index, "id": "call", "function": {"name": "read"}, **parts}


def gemini(*parts: dict[str, Any]) -> Events:
    pieces = [{"candidates": [{"content": {"parts": [part]}}]} for part in parts]
    return [*pieces, {"candidates": [{"content": {"parts": []}, "finishReason": "STOP"}]}]


def gemini_call(**parts: str) -> dict[str, Any]:
    return {"functionCall": {"name": "read", "args": {}, **parts}}


def responses(*steps: dict[str, Any]) -> Events:
    ended = {"type": "response.completed", "response": {"object": "response", "model": "served-model"}}
    return [{"type": "response.created"}, *steps, ended]


def responses_call(**parts: str) -> dict[str, Any]:
    item = {"type": "function_call", "call_id": "call", "name": "read", **parts}
    return {"type": "response.output_item.added", "output_index": 0, "item": item}


REASONED = {
    "type": "response.output_item.done",
    "item": {"type": "reasoning", "summary": [], "encrypted_content": PIECE},
}
REDACTED = {"type": "redacted_thinking", "data": PIECE}
SIGNED = {"type": "signature_delta", "signature": PIECE}
LONG_ID, LONG_NAME = "i" * (LONGEST_ID + 1), "n" * (LONGEST_NAME + 1)
TOO_LARGE = {
    "redacted thinking": ("anthropic", anthropic(*[REDACTED] * PIECES)),
    "signatures of thinking": (
        "anthropic",
        anthropic({"type": "thinking", "thinking": ""}, deltas=[SIGNED] * PIECES),
    ),
    "an id of Anthropic's": ("anthropic", anthropic(anthropic_call(id=LONG_ID))),
    "a name of Anthropic's": ("anthropic", anthropic(anthropic_call(name=LONG_NAME))),
    "blocks": ("anthropic", anthropic(*[anthropic_call()] * (MOST_BLOCKS + 1))),
    "an id of OpenAI's": ("openai", openai(openai_call(id=LONG_ID))),
    "a name of OpenAI's": ("openai", openai(openai_call(function={"name": LONG_NAME}))),
    "a name in pieces": (
        "openai",
        openai(openai_call(), *[{"index": 0, "function": {"name": "n"}}] * LONGEST_NAME),
    ),
    "an id of Gemini's": ("gemini", gemini(gemini_call(id=LONG_ID))),
    "a name of Gemini's": ("gemini", gemini(gemini_call(name=LONG_NAME))),
    "signatures of calls": ("gemini", gemini(*[{**gemini_call(), "thoughtSignature": PIECE}] * PIECES)),
    "an id of the Responses API": ("openai-responses", responses(responses_call(call_id=LONG_ID))),
    "a name of the Responses API": ("openai-responses", responses(responses_call(name=LONG_NAME))),
    "encrypted reasoning": ("openai-responses", responses(*[REASONED] * PIECES)),
}


@pytest.mark.parametrize(("provider", "answer"), TOO_LARGE.values(), ids=TOO_LARGE.keys())
async def test_every_part_of_an_answer_is_counted(provider: str, answer: Events) -> None:
    async with asked(provider, events(*answer)) as (model, _):
        with pytest.raises(ModelError, match=r"too large|more blocks") as refused:
            await model.complete(request())
    assert refused.value.kind == "bad-answer"


async def test_counts_with_unknown_names_are_not_stored() -> None:
    usage = {f"count {number}": 1 for number in range(100_000)}
    counts = [{"type": "message_delta", "delta": {}, "usage": usage}]
    start, *rest = anthropic({"type": "text", "text": "Hello"})
    held: list[int] = []

    def measured(_: object) -> None:
        held.append(tracemalloc.get_traced_memory()[0])

    more = [{"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": "."}}]
    async with asked("anthropic", events(start, rest[0], *counts, *more, *rest[1:])) as (model, _):
        tracemalloc.start()
        await model.complete(request(), measured)
        tracemalloc.stop()
    assert held[-1] - held[0] < 4_000_000


CALL = {"type": "toolCall", "id": "call", "name": "read", "arguments": {}}
LARGE_SAMPLES = {
    "an id": [{**CALL, "id": LONG_ID}],
    "a name": [{**CALL, "name": LONG_NAME}],
    "arguments": [{**CALL, "arguments": {"text": PIECE}}] * PIECES,
    "signatures": [{**CALL, "thoughtSignature": PIECE}] * PIECES,
    "calls": [CALL] * (MOST_BLOCKS + 1),
}


@pytest.mark.parametrize("calls", LARGE_SAMPLES.values(), ids=LARGE_SAMPLES.keys())
async def test_every_part_of_the_editor_s_answer_is_counted(calls: Events) -> None:
    async def sample(*_: object) -> Any:
        return {"text": "Hello", "toolCalls": calls}

    with pytest.raises(ModelError, match="too large"):
        await EditorModel(sample).complete(request())
