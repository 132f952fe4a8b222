"""What a model's server answers cannot freeze the server nor fill its memory."""

import asyncio
import json
import time
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import httpx
import pytest
from models.provider_replies import body, openai_events
from models.provider_server import Reply
from summarizers.asking import asked, request

from coppice.models.chat import Delta, ModelError
from coppice.models.providers.answer import MOST_PIECES
from coppice.models.providers.events import decoded
from coppice.models.providers.openai_stream import ThinkTag
from coppice.tree.messages import text_of

MAX_MEMORY = 100_000_000
"""Bytes. What is kept of an answer is at most 4 MB of bytes, and the same decoded."""

MAX_STALL_SECONDS = 0.5
"""Of processor time in which the event loop does nothing else; a bomb of 6 kB held it for minutes."""


@cache
def packed(chunk: bytes, count: int, times: int = 1) -> bytes:
    """`count` chunks, compressed as gzip so many `times`. Takes seconds: no test is collected with it."""
    if times > 1:
        return packed(packed(chunk, count, times - 1), 1)
    packer = zlib.compressobj(9, wbits=31)
    return b"".join([*(packer.compress(chunk) for _ in range(count)), packer.flush()])


BLANKS, LINES = b" " * 1_000_000, b"\n" * 1_000_000
BOMBS: dict[str, tuple[Callable[[], bytes], str]] = {
    "compressed": (lambda: packed(BLANKS, 1_000), "gzip"),
    "compressed as deflate": (lambda: zlib.compress(BLANKS * 200, 9), "deflate"),
    "twice compressed": (lambda: packed(BLANKS, 1_000, 2), "gzip, gzip"),
    "twice compressed, once declared": (lambda: packed(BLANKS, 1_000, 2), "gzip"),
    "lines": (lambda: packed(LINES, 300), "gzip"),
    "not compressed": (lambda: b"data: x", "gzip"),
    "an unknown compression": (lambda: b"data: x", "br"),
}


@contextmanager
def bounded_memory() -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < MAX_MEMORY
    finally:
        tracemalloc.stop()


async def longest_stall(until: "asyncio.Task[Any]") -> float:
    longest, last = 0.0, time.thread_time()
    while not until.done():
        await asyncio.sleep(0.001)
        longest, last = max(longest, time.thread_time() - last), time.thread_time()
    return longest


@pytest.mark.slow
@pytest.mark.parametrize(("data", "encoding"), BOMBS.values(), ids=BOMBS.keys())
@pytest.mark.parametrize(
    ("status", "kind"),
    [(200, "text/event-stream"), (200, "application/json"), (500, "application/json")],
    ids=["stream", "JSON", "error"],
)
async def test_a_compressed_bomb_is_refused(
    data: Callable[[], bytes], encoding: str, status: int, kind: str
) -> None:
    bomb = encoded(data(), encoding, status, kind)
    async with asked("openai", bomb, bomb, bomb) as (model, _):
        with bounded_memory():
            asking = asyncio.create_task(model.complete(request()))
            stall = await longest_stall(asking)
        assert stall < MAX_STALL_SECONDS
        assert isinstance(asking.exception(), ModelError)


async def test_a_listing_of_models_that_is_a_bomb_is_no_listing() -> None:
    data, encoding = BOMBS["compressed"]
    bomb = encoded(data(), encoding, kind="application/json")
    async with asked("openai", pages={"/v1/models": bomb}) as (model, _):
        with bounded_memory():
            assert (await model.limits()).source == "default"


async def test_an_answer_that_a_proxy_compressed_is_read() -> None:
    events = "".join(f"data: {json.dumps(event)}\n\n" for event in openai_events("Hello"))
    async with asked("openai", encoded(packed(events.encode(), 1), "gzip")) as (model, _):
        assert text_of((await model.complete(request())).content) == "Hello"


TEXTS = [{"type": "text", "text": "x"}] * 50_000
OUTPUTS = [{"type": "output_text", "text": "x"}] * 50_000
CHUNKS: list[dict[str, Any]] = [
    {"choices": [{"index": 0, "delta": {"content": TEXTS}}]},
    {"choices": [{"index": 0, "delta": {"content": "x"}}] * 50_000},
]
PIECES: list[tuple[str, str, dict[str, Any]]] = [
    *(("openai", "text/event-stream", chunk) for chunk in CHUNKS),
    *(("openai", "application/json", chunk) for chunk in CHUNKS),
    ("gemini", "text/event-stream", {"candidates": [{"content": {"parts": TEXTS}}]}),
    ("anthropic", "application/json", {"type": "message", "content": TEXTS}),
    ("openai-responses", "application/json", {"object": "response", "output": [{"content": OUTPUTS}]}),
]


@pytest.mark.parametrize(("provider", "kind", "event"), PIECES)
async def test_an_answer_in_fifty_thousand_pieces_is_stopped(
    provider: str, kind: str, event: dict[str, Any]
) -> None:
    data = json.dumps(event)
    reply = body((data if kind == "application/json" else f"data: {data}\n\n").encode(), kind=kind)
    pieces: list[Delta] = []
    async with asked(provider, reply) as (model, _):
        with pytest.raises(ModelError, match="too many pieces"):
            await model.complete(request(), pieces.append)
    assert len(pieces) == MOST_PIECES


async def test_other_work_goes_on_between_pieces_that_came_at_once() -> None:
    turns: list[int] = []

    async def counted() -> None:
        while True:
            turns.append(0)
            await asyncio.sleep(0)

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(1_000):
            yield b":"

    working = asyncio.create_task(counted())
    read = [piece async for piece in decoded(httpx.Response(200, content=pieces()))]
    working.cancel()
    assert len(read) == 1_000 <= len(turns)


def encoded(data: bytes, encoding: str, status: int = 200, kind: str = "text/event-stream") -> Reply:
    headers: Any = {"content-encoding": encoding}
    return body(data, status=status, kind=kind, **headers)


def test_an_answer_that_begins_with_many_blanks_takes_linear_time() -> None:
    texts: list[str] = []
    tag = ThinkTag(texts.append, texts.append)
    began = time.process_time()
    for _ in range(300_000):
        tag.feed(" ")
    tag.feed("Hello")
    assert time.process_time() - began < 5
    assert "".join(texts) == " " * 300_000 + "Hello"
