"""A service on a store of its own, with everything it says to its client."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from coppice.compaction.summarizer import Summarizer
from coppice.service.jobs import NoProgress, Progress
from coppice.service.messages.base import WireModel
from coppice.service.methods import METHODS
from coppice.service.plugins import Plugins
from coppice.service.service import Service


@dataclass
class Client:
    """Asks the service as a front end would: by method name, with JSON values in and out."""

    service: Service
    said: list[tuple[str, Any]] = field(default_factory=list)

    async def call(self, method: str, progress: Progress, **params: Any) -> WireModel:
        spec = METHODS[f"coppice/{method}"]
        return await spec.call(self.service, spec.params.model_validate(params), progress)

    async def ask(self, method: str, **params: Any) -> Any:
        result = await self.call(method, NoProgress(), **params)
        return result.model_dump(mode="json", by_alias=True)

    async def conversation(self, *texts: str) -> str:
        """A new conversation in which the user and the model take turns saying `texts`."""
        made = (await self.ask("conversation/create"))["conversation"]["id"]
        if texts:
            await self.ask("append", conversationId=made, entries=turns(*texts))
        return str(made)

    def notified(self, method: str) -> list[Any]:
        return [params for name, params in self.said if name == f"coppice/{method}"]


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


def turns(*texts: str) -> list[dict[str, Any]]:
    return [(user if number % 2 == 0 else assistant)(text) for number, text in enumerate(texts)]


MakeClient = Callable[..., Any]


@pytest.fixture
async def make_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[MakeClient]:
    """Makes clients on one store; `summarizer` and `plugins` stand in for those that there are."""
    monkeypatch.setenv("COPPICE_STORAGE_DIRECTORY", str(tmp_path / "data"))
    monkeypatch.setenv("COPPICE_CONFIG_DIRECTORY", str(tmp_path / "config"))
    workspace = tmp_path / "workspace"
    workspace.mkdir(exist_ok=True)
    made: list[Service] = []

    async def make(
        settings: dict[str, Any] | None = None,
        summarizer: Summarizer | None = None,
        plugins: Plugins | None = None,
    ) -> Client:
        said: list[tuple[str, Any]] = []

        def emit(method: str, params: WireModel) -> None:
            said.append((method, params.model_dump(mode="json", by_alias=True)))

        service = Service(emit=emit, summarizer=summarizer, plugins=plugins)
        made.append(service)
        await service.start([workspace.as_uri()], settings or {})
        return Client(service, said)

    yield make
    for service in made:
        await service.close()


@pytest.fixture
async def client(make_client: MakeClient) -> Client:
    made: Client = await make_client()
    return made
