"""A provider on loopback that speaks both protocols, answers by script, and fails in every way there is.

A script is a list of replies (`provider_replies`), one for each request that a model answers; the last one is
repeated. What is asked with GET is looked up in `pages`. Either `async with ProviderServer(...)`, or
`with serving(...)`, which runs it in a thread of its own, for tests that are no coroutines.
"""

import asyncio
import contextlib
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from waiting import PATIENCE, until


@dataclass(frozen=True)
class Received:
    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes
    """The body as it was sent."""

    @cached_property
    def body(self) -> Any:
        """The value of the body; None where there is none."""
        return json.loads(self.raw) if self.raw else None

    @property
    def is_anthropic(self) -> bool:
        return self.protocol == "anthropic"

    @property
    def protocol(self) -> str:
        """The dialect in which the request is made."""
        path = self.path.partition("?")[0]
        ends = {"/messages": "anthropic", "/responses": "responses", "GenerateContent": "gemini"}
        ends |= {"generateContent": "gemini"}
        return next((name for end, name in ends.items() if path.endswith(end)), "openai")


@dataclass
class Exchange:
    """One request, and the means to answer it in pieces."""

    request: Received
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def head(self, status: int = 200, kind: str = "text/event-stream", **headers: str) -> None:
        lines = [f"HTTP/1.1 {status} Scripted", f"content-type: {kind}", "transfer-encoding: chunked"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await self.raw(("\r\n".join(lines) + "\r\n\r\n").encode())

    async def send(self, data: bytes) -> None:
        if data:
            await self.raw(b"%x\r\n%b\r\n" % (len(data), data))

    async def event(self, data: Any) -> None:
        text = data if isinstance(data, str) else json.dumps(data)
        name = f"event: {data['type']}\n" if isinstance(data, dict) and "type" in data else ""
        await self.send(f"{name}data: {text}\n\n".encode())

    async def end(self) -> None:
        await self.raw(b"0\r\n\r\n")

    async def raw(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def until_dropped(self) -> None:
        """Waits for the client to go away, and ends the exchange."""
        while await self.reader.read(1024):
            pass
        raise ClientGoneError


Reply = Callable[[Exchange], Awaitable[None]]


@dataclass
class ProviderServer:
    script: list[Reply] = field(default_factory=list)
    pages: dict[str, Any] = field(default_factory=dict)
    requests: list[Received] = field(default_factory=list)
    asked: list[Received] = field(default_factory=list)
    dropped: int = 0
    port: int = 0

    def __post_init__(self) -> None:
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """The base URL for either provider."""
        return f"{self.origin}/v1"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def until(self, condition: Callable[[], bool]) -> None:
        await until(condition)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            async for request in _requests(reader):
                exchange = Exchange(request, reader, writer)
                await self._reply_to(request)(exchange)
        except (ConnectionError, ClientGoneError):
            self.dropped += 1
        except (CutError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    def _reply_to(self, request: Received) -> Reply:
        if request.method == "GET":
            self.asked.append(request)
            page = self.pages.get(request.path.partition("?")[0])
            if callable(page):
                reply: Reply = page
                return reply
            return _page(page)
        self.requests.append(request)
        return self.script[min(len(self.requests), len(self.script)) - 1]


class ClientGoneError(Exception):
    """The client went away while it was being answered."""


class CutError(Exception):
    """The script closes the connection here."""


def _page(page: Any) -> Reply:
    async def reply(exchange: Exchange) -> None:
        await exchange.head(404 if page is None else 200, "application/json")
        await exchange.send(json.dumps({"error": "not found"} if page is None else page).encode())
        await exchange.end()

    return reply


async def _requests(reader: asyncio.StreamReader) -> AsyncIterator[Received]:
    while True:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except asyncio.IncompleteReadError:
            return
        first, *lines = head.rstrip().split("\r\n")
        method, path, _ = first.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        yield Received(method, path, headers, body)


@contextlib.contextmanager
def serving(script: Sequence[Reply] = (), pages: Mapping[str, Any] | None = None) -> Iterator[ProviderServer]:
    """The server in a thread with a loop of its own."""
    server = ProviderServer(list(script), dict(pages or {}))
    ready, stop, loop = threading.Event(), asyncio.Event(), asyncio.new_event_loop()

    async def run() -> None:
        async with server:
            ready.set()
            await stop.wait()

    def work() -> None:
        with contextlib.closing(loop):
            loop.run_until_complete(run())

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert ready.wait(PATIENCE)
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(PATIENCE)
