"""A service on a store of its own, and a client that records its notifications."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from waiting import until

from coppice.compaction.asking.summarizer import Summarizer, SummaryRequest, WrittenSummary
from coppice.protocol.base import WireModel
from coppice.protocol.methods import METHODS
from coppice.protocol.server_requests import OnPart
from coppice.service.core.jobs import Jobs
from coppice.service.core.progress import NoProgress, Progress
from coppice.service.hooks.plugins import Plugins
from coppice.service.methods import Dispatcher
from coppice.service.service import Service
from coppice.tokens.counting import encoding

encoding()  # what a test counts does not depend on when it is loaded


@dataclass
class Port:
    """A client that records notifications, and answers the requests that a test sets an answer for.

    `on_part` takes parts of the answer to the last request.
    """

    answers: frozenset[str] = frozenset()
    on_part: OnPart | None = None
    notified: list[tuple[str, Any]] = field(default_factory=list)
    logged: list[str] = field(default_factory=list)
    _work: Callable[[str, Any], Awaitable[Any]] | None = None

    def answer(self, work: Callable[[str, Any], Awaitable[Any]], *methods: str) -> None:
        self._work, self.answers = work, frozenset(methods)

    async def ask(self, method: str, params: Any, on_part: OnPart | None = None) -> Any:
        assert self._work is not None
        self.on_part = on_part
        return await self._work(method, params)

    def notify(self, method: str, params: WireModel) -> None:
        self.notified.append((method, params.model_dump(mode="json", by_alias=True)))

    def log(self, problem: str) -> None:
        self.logged.append(problem)

    def show(self, problem: str) -> None:
        self.logged.append(problem)


@dataclass
class Client:
    """Asks the service as a front end would: by method name, with JSON values in and out."""

    service: Service
    port: Port = field(default_factory=Port)

    @property
    def notifications(self) -> list[tuple[str, Any]]:
        """The service's notifications, in order."""
        return self.port.notified

    async def call(self, method: str, progress: Progress, **params: Any) -> WireModel:
        spec = METHODS[f"coppice/{method}"]
        given = spec.params.model_validate(params)
        result: WireModel = await Dispatcher(self.service).call(spec, given, progress)
        return result

    async def ask(self, method: str, **params: Any) -> Any:
        result = await self.call(method, NoProgress(), **params)
        return result.model_dump(mode="json", by_alias=True)

    async def conversation(self, *texts: str) -> str:
        """A new conversation whose messages, alternately of the user and the model, are `texts`."""
        made = (await self.ask("conversation/create"))["conversation"]["id"]
        if texts:
            await self.ask("append", conversationId=made, entries=turns(*texts))
        return str(made)

    def notified(self, method: str) -> list[Any]:
        return [params for name, params in self.notifications if name == f"coppice/{method}"]


class GatedSummarizer:
    """Sets `begun`, keeps the request, and writes `text` once `may_go_on` is set."""

    def __init__(self, text: str = "## Goal\nFinish the parser.", *, is_open: bool = False) -> None:
        self.text = text
        self.requests: list[SummaryRequest] = []
        self.begun = asyncio.Event()
        self.may_go_on = asyncio.Event()
        if is_open:
            self.may_go_on.set()

    async def summarize(self, request: SummaryRequest) -> WrittenSummary:
        self.requests.append(request)
        self.begun.set()
        await self.may_go_on.wait()
        return WrittenSummary(self.text, "gated")


def user(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "message", "message": {"role": "user", "content": text}, **more}


def assistant(text: str, **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": [{"type": "text", "text": text}], "stopReason": "stop"}
    return {"type": "message", "message": message | more}


def tool(
    call_id: str, name: str, arguments: dict[str, Any], output: str, *, error: bool = False
) -> list[Any]:
    call = {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}
    return [
        {"type": "message", "message": {"role": "assistant", "content": [call], "stopReason": "toolUse"}},
        {
            "type": "message",
            "message": {
                "role": "toolResult",
                "toolCallId": call_id,
                "toolName": name,
                "content": [{"type": "text", "text": output}],
                "isError": error,
            },
        },
    ]


def parallel_calls(*outputs: str) -> list[dict[str, Any]]:
    """One reply that calls a tool several times, with the results."""
    pairs = [tool(f"p{number}", "bash", {"n": number}, output) for number, output in enumerate(outputs)]
    calls = [call["message"]["content"][0] for call, _ in pairs]
    return [assistant("", content=calls, stopReason="toolUse"), *(answer for _, answer in pairs)]


def turns(*texts: str) -> list[dict[str, Any]]:
    return [(user if number % 2 == 0 else assistant)(text) for number, text in enumerate(texts)]


async def waits_for_a_job(task: "asyncio.Task[Any]") -> None:
    """Returns when the request that `task` makes waits for a job that runs already."""
    waiting = {Jobs._outcome.__code__, Jobs.settled.__code__}

    def is_there() -> bool:
        awaited: Any = task.get_coro()
        while awaited is not None and getattr(awaited, "cr_code", None) not in waiting:
            awaited = getattr(awaited, "cr_await", None)
        return awaited is not None

    await until(is_there)


MakeClient = Callable[..., Any]


@pytest.fixture
async def make_client(
    tmp_path: Path, data_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[MakeClient]:
    """Makes clients on one store; `summarizer` and `plugins` replace the real ones."""
    monkeypatch.setenv("COPPICE_STORAGE_DIRECTORY", str(data_directory))
    monkeypatch.setenv("COPPICE_CONFIG_DIRECTORY", str(tmp_path / "config"))
    workspace = tmp_path / "workspace"
    workspace.mkdir(exist_ok=True)
    made: list[Service] = []

    async def make(
        settings: dict[str, Any] | None = None,
        summarizer: Summarizer | None = None,
        plugins: Plugins | None = None,
    ) -> Client:
        port = Port()
        service = Service(port, summarizer=summarizer, plugins=plugins)
        made.append(service)
        await service.start([workspace.as_uri()], settings or {})
        return Client(service, port)

    yield make
    for service in made:
        await service.close()


@pytest.fixture
async def client(make_client: MakeClient) -> Client:
    made: Client = await make_client()
    return made
