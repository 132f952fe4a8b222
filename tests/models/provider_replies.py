"""What the provider server answers: whole answers, and every failure."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from models.provider_server import CutError, Exchange, Reply
from waiting import hurry, until

USAGE = (11, 7)
"""The tokens in and out that an answer reports by default."""
_ANTHROPIC_STOPS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"}
"""Anthropic's words for OpenAI's."""


def answer(
    text: str = "",
    *,
    thinking: str = "",
    calls: Sequence[tuple[str, str, Mapping[str, Any]]] = (),
    stop: str | None = None,
    usage: tuple[int, int] | None = USAGE,
    pieces: int = 3,
) -> Reply:
    """An answer in the words of whichever protocol it is asked in. `calls` are (id, name, arguments).

    `stop` is the reason to stop in OpenAI's words, or in the protocol's own.
    """

    async def reply(exchange: Exchange) -> None:
        await exchange.head()
        for each in _MAKERS[exchange.request.protocol](
            text, thinking=thinking, calls=calls, stop=stop, usage=usage, pieces=pieces
        ):
            await exchange.event(each)
        await exchange.end()

    return reply


def openai_events(
    text: str,
    *,
    thinking: str = "",
    calls: Sequence[tuple[str, str, Mapping[str, Any]]] = (),
    stop: str | None = None,
    usage: tuple[int, int] | None = USAGE,
    pieces: int = 3,
) -> Iterator[Any]:
    def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {"id": "c1", "object": "chat.completion.chunk", "model": "served-model", "choices": [choice]}

    yield chunk({"role": "assistant", "content": ""})
    yield from (chunk({"reasoning_content": piece}) for piece in _pieces(thinking, pieces))
    yield from (chunk({"content": piece}) for piece in _pieces(text, pieces))
    for index, (call_id, name, arguments) in enumerate(calls):
        opening = {
            "index": index,
            "id": call_id,
            "type": "function",
            "function": {"name": name, "arguments": ""},
        }
        yield chunk({"tool_calls": [opening]})
        for piece in _pieces(json.dumps(arguments), pieces):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, stop or ("tool_calls" if calls else "stop"))
    if usage:
        counts = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
        yield {
            "id": "c1",
            "object": "chat.completion.chunk",
            "model": "served-model",
            "choices": [],
            "usage": counts,
        }
    yield "[DONE]"


def anthropic_events(
    text: str,
    *,
    thinking: str = "",
    calls: Sequence[tuple[str, str, Mapping[str, Any]]] = (),
    stop: str | None = None,
    usage: tuple[int, int] | None = USAGE,
    pieces: int = 3,
) -> Iterator[Any]:
    counts = {"input_tokens": usage[0], "output_tokens": 1} if usage else {}
    message = {"id": "m1", "type": "message", "role": "assistant", "model": "served-model", "content": []}
    yield {"type": "message_start", "message": message | {"usage": counts}}
    yield {"type": "ping"}
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if thinking:
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(thinking, pieces)]
        signed = {"type": "signature_delta", "signature": "c2lnbmVk"}
        blocks.append(({"type": "thinking", "thinking": ""}, [*deltas, signed]))
    if text:
        deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(text, pieces)]
        blocks.append(({"type": "text", "text": ""}, deltas))
    for call_id, name, arguments in calls:
        parts = _pieces(json.dumps(arguments), pieces)
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in parts]
        blocks.append(({"type": "tool_use", "id": call_id, "name": name, "input": {}}, deltas))
    for index, (block, deltas) in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield from ({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas)
        yield {"type": "content_block_stop", "index": index}
    reason = _ANTHROPIC_STOPS.get(stop, stop) if stop else "tool_use" if calls else "end_turn"
    ending: dict[str, Any] = {"type": "message_delta", "delta": {"stop_reason": reason}}
    yield ending | ({"usage": {"output_tokens": usage[1]}} if usage else {})
    yield {"type": "message_stop"}


def responses_events(
    text: str,
    *,
    thinking: str = "",
    calls: Sequence[tuple[str, str, Mapping[str, Any]]] = (),
    stop: str | None = None,
    usage: tuple[int, int] | None = USAGE,
    pieces: int = 3,
) -> Iterator[Any]:
    items: list[tuple[dict[str, Any], str, list[str]]] = []
    if thinking:
        summary = [{"type": "summary_text", "text": thinking}]
        item = {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "ZW5j"}
        items.append((item, "reasoning_summary_text", _pieces(thinking, pieces)))
    if text:
        items.append(({"type": "message", "role": "assistant"}, "output_text", _pieces(text, pieces)))
    for call_id, name, arguments in calls:
        item = {"type": "function_call", "id": "fc_1", "call_id": call_id, "name": name}
        items.append((item, "function_call_arguments", _pieces(json.dumps(arguments), pieces)))
    yield {"type": "response.created", "response": {"object": "response", "status": "in_progress"}}
    for place, (item, kind, deltas) in enumerate(items):
        begun = {key: value for key, value in item.items() if key not in ("summary", "encrypted_content")}
        yield {"type": "response.output_item.added", "output_index": place, "item": begun}
        for delta in deltas:
            yield {"type": f"response.{kind}.delta", "output_index": place, "delta": delta}
        yield {"type": "response.output_item.done", "output_index": place, "item": item}
    cut = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(stop or "")
    response: dict[str, Any] = {"object": "response", "status": "incomplete" if cut else "completed"}
    response |= {"model": "served-model", "incomplete_details": {"reason": cut} if cut else None}
    if usage:
        counts = {"input_tokens": usage[0], "output_tokens": usage[1], "total_tokens": sum(usage)}
        response["usage"] = counts
    yield {"type": f"response.{response['status']}", "response": response}


def gemini_events(
    text: str,
    *,
    thinking: str = "",
    calls: Sequence[tuple[str, str, Mapping[str, Any]]] = (),
    stop: str | None = None,
    usage: tuple[int, int] | None = USAGE,
    pieces: int = 3,
) -> Iterator[Any]:
    yield from (_gemini_piece({"text": piece, "thought": True}) for piece in _pieces(thinking, pieces))
    yield from (_gemini_piece({"text": piece}) for piece in _pieces(text, pieces))
    for number, (call_id, name, arguments) in enumerate(calls):
        call = {"functionCall": {"id": call_id, "name": name, "args": dict(arguments)}}
        yield _gemini_piece(call if number else {**call, "thoughtSignature": "c2ln"})
    last = _gemini_piece({"text": ""})
    last["candidates"][0]["finishReason"] = _GEMINI_STOPS.get(stop or "stop", stop)
    if usage:
        counts = {"promptTokenCount": usage[0], "candidatesTokenCount": usage[1]}
        last["usageMetadata"] = counts | {"totalTokenCount": sum(usage)}
    yield last


def _gemini_piece(part: dict[str, Any]) -> dict[str, Any]:
    candidate = {"content": {"parts": [part], "role": "model"}, "index": 0}
    return {"candidates": [candidate], "modelVersion": "served-model"}


_GEMINI_STOPS = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS"}
"""Gemini's words for OpenAI's."""
_MAKERS: dict[str, Callable[..., Iterator[Any]]] = {
    "openai": openai_events,
    "anthropic": anthropic_events,
    "responses": responses_events,
    "gemini": gemini_events,
}


def _pieces(text: str, count: int) -> list[str]:
    size = max(1, -(-len(text) // count))
    return [text[start : start + size] for start in range(0, len(text), size)]


def events(*data: Any, ends: bool = True) -> Reply:
    """These events, and then the end of the stream, or a connection that is cut."""

    async def reply(exchange: Exchange) -> None:
        await exchange.head()
        for each in data:
            await exchange.event(each)
        if not ends:
            raise CutError
        await exchange.end()

    return reply


def json_body(data: Any, *, status: int = 200, **headers: str) -> Reply:
    return body(json.dumps(data).encode(), status=status, kind="application/json", **headers)


def body(data: bytes, *, status: int = 200, kind: str = "text/event-stream", **headers: str) -> Reply:
    async def reply(exchange: Exchange) -> None:
        await exchange.head(status, kind, **headers)
        await exchange.send(data)
        await exchange.end()

    return reply


def error(status: int, message: str, *, code: str | None = None, **headers: str) -> Reply:
    """An error in the shape of the protocol that it is asked in."""

    async def reply(exchange: Exchange) -> None:
        details = {"type": code or "invalid_request_error", "message": message}
        shape: dict[str, Any] = {"type": "error", "error": details}
        if not exchange.request.is_anthropic:
            shape = {"error": details | {"code": code, "param": None}}
        await json_body(shape, status=status, **headers)(exchange)

    return reply


def error_in_stream(message: str, *, code: str, after: str = "") -> Reply:
    """An answer that begins well, with `after`, and then turns into an error."""

    async def reply(exchange: Exchange) -> None:
        await exchange.head()
        await _begin(exchange, after)
        details = {"type": code, "message": message}
        is_anthropic = exchange.request.is_anthropic
        await exchange.event(
            {"type": "error", "error": details} if is_anthropic else {"error": details | {"code": code}}
        )
        await exchange.end()

    return reply


async def hang_before_headers(exchange: Exchange) -> None:
    await exchange.until_dropped()


async def hang_in_the_stream(exchange: Exchange) -> None:
    await exchange.head()
    await _begin(exchange, "The begin")
    await exchange.until_dropped()


async def cut_the_stream(exchange: Exchange) -> None:
    await exchange.head()
    await _begin(exchange, "The begin")
    raise CutError


async def end_the_stream_early(exchange: Exchange) -> None:
    """As a proxy does that gives up: everything is in order but the answer is not whole."""
    await exchange.head()
    await _begin(exchange, "The begin")
    await exchange.end()


async def close_without_an_answer(exchange: Exchange) -> None:
    raise CutError


async def drip_slowly(exchange: Exchange) -> None:
    """A piece now and then, for ever; never silent for long."""
    await exchange.head()
    await _begin(exchange, "a")
    while True:
        await asyncio.sleep(0.02)
        await exchange.send(b": still here\n\n")
        await _more(exchange, "a")


def hurried(reply: Reply) -> Reply:
    """The same, but time runs fast from the request on."""

    async def fast(exchange: Exchange) -> None:
        hurry()
        await reply(exchange)

    return fast


class Interrupting:
    """As llama-cpp-python's server does: a request that comes interrupts the one that is being answered.

    It pauses after `pieces_sent` pieces of each answer. The interrupted stream ends with `[DONE]`
    and without a stop reason; with `states_reason` it has one.
    """

    def __init__(self, write: Callable[[Any], str], pieces_sent: int, *, states_reason: bool = False) -> None:
        self.interrupted = 0
        self._write = write
        self._pieces_sent = pieces_sent
        self._states_reason = states_reason
        self._waiting = 0
        self._model = asyncio.Lock()

    async def __call__(self, exchange: Exchange) -> None:
        self._waiting += 1
        async with self._model:
            self._waiting -= 1
            await exchange.head()
            for number, each in enumerate(openai_events(self._write(exchange.request.body), pieces=20)):
                await exchange.event(each)
                if number == self._pieces_sent:
                    await self._pause()
                if self._waiting:
                    await self._interrupt(exchange)
            await exchange.end()

    async def _pause(self) -> None:
        """The first answer is surely interrupted; a later one is where a request comes soon."""
        if self.interrupted:
            await asyncio.sleep(0.3)
        else:
            await until(lambda: self._waiting > 0)

    async def _interrupt(self, exchange: Exchange) -> None:
        self.interrupted += 1
        if self._states_reason:
            await exchange.event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        await exchange.event("[DONE]")
        raise CutError


def answer_of_bytes(count: int) -> Reply:
    """An answer whose text alone has `count` bytes."""

    async def reply(exchange: Exchange) -> None:
        await exchange.head()
        await _begin(exchange, "a")
        for _ in range(count // 65_536):
            await _more(exchange, "a" * 65_536)
        await exchange.end()

    return reply


def line_of_bytes(count: int) -> Reply:
    """One event that does not end."""

    async def reply(exchange: Exchange) -> None:
        await exchange.head()
        await exchange.send(b"data: ")
        for _ in range(count // 65_536):
            await exchange.send(b"a" * 65_536)
        await exchange.end()

    return reply


async def _begin(exchange: Exchange, text: str) -> None:
    for each in _MAKERS[exchange.request.protocol](text, pieces=1):
        if each == "[DONE]" or each.get("type") == "content_block_stop" or _has_ended(each):
            return
        await exchange.event(each)


def _has_ended(event: Any) -> bool:
    choices = event.get("choices") or [{}]
    candidates = event.get("candidates") or [{}]
    ends = ("message_delta", "message_stop", "response.output_item.done", "response.completed")
    return (
        event.get("type") in ends
        or choices[0].get("finish_reason") is not None
        or "finishReason" in candidates[0]
    )


async def _more(exchange: Exchange, text: str) -> None:
    if exchange.request.is_anthropic:
        delta = {"type": "text_delta", "text": text}
        await exchange.event({"type": "content_block_delta", "index": 0, "delta": delta})
    elif exchange.request.protocol == "responses":
        await exchange.event({"type": "response.output_text.delta", "output_index": 0, "delta": text})
    elif exchange.request.protocol == "gemini":
        await exchange.event(_gemini_piece({"text": text}))
    else:
        await exchange.event({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]})
