"""An editor as pytest-lsp plays it, with a Coppice server of its own."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsp.raw_client import environment
from lsprotocol import converters, types
from preloaded import python
from pytest_lsp import LanguageClient
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, register_lsp_features
from waiting import PATIENCE, until

from coppice.protocol.notifications import NOTIFICATIONS

GATED = Path(__file__).with_name("gated_server.py")
PROGRESS = types.ClientCapabilities(window=types.WindowClientCapabilities(work_done_progress=True))
NO_PROGRESS = types.ClientCapabilities()
SETTINGS = {"compaction": {"keepRecentTokens": 300}, "tokens": {"counter": "estimate"}}
WORKSPACE = "file:///editor"

Notifications = list[tuple[str, Any]]


class Editor:
    """`received` are the server's own notifications, in order; `on_notification` is called with each."""

    def __init__(self, client: LanguageClient, gate: Path) -> None:
        self.client = client
        self.gate = gate
        self.received: Notifications = []
        self.on_notification: Callable[[str, Any], None] = lambda _method, _params: None
        self.capabilities: types.ServerCapabilities = types.ServerCapabilities()
        for name in NOTIFICATIONS:
            client.feature(name)(self._recorder(name))

    async def ask(
        self, method: str, params: Any = None, *, request_id: str | None = None, patience: float = PATIENCE
    ) -> Any:
        """The result; raises `JsonRpcException` and, after `patience` seconds of nothing, `TimeoutError`."""
        asked: Awaitable[Any] = self.client.protocol.send_request_async(method, params, request_id)  # type: ignore[no-untyped-call]  # pytest-lsp leaves it untyped
        return await asyncio.wait_for(asked, patience)

    def start(self, method: str, params: Any, request_id: str | None = None) -> "asyncio.Task[Any]":
        return asyncio.create_task(self.ask(method, params, request_id=request_id))

    async def wait_for(self, method: str, *, count: int = 1) -> list[Any]:
        """The params of the notifications called `method`, as soon as there are `count`."""

        await until(lambda: len(self.notified(method)) >= count)
        return self.notified(method)

    def notified(self, method: str) -> list[Any]:
        return [params for name, params in self.received if name == method]

    def progress(self, token: int | str) -> list[Any]:
        """What was reported on a token of the client's; the token is known from the first call on."""
        return self.client.progress_reports.setdefault(token, [])

    async def conversation(self, turns: int = 30) -> str:
        """The id of a new conversation that is long enough to be compacted."""
        made = await self.ask("coppice/conversation/create", {})
        conversation_id = str(made["conversation"]["id"])
        await self.append(conversation_id, [entry for number in range(turns) for entry in turn(number)])
        return conversation_id

    async def append(self, conversation_id: str, entries: list[dict[str, Any]]) -> Any:
        return await self.ask("coppice/append", {"conversationId": conversation_id, "entries": entries})

    async def entries(self, conversation_id: str) -> list[Any]:
        page = await self.ask("coppice/entries", {"conversationId": conversation_id, "limit": 1000})
        return list(page["entries"])

    def open_gate(self) -> None:
        self.gate.touch()

    def close_gate(self) -> None:
        self.gate.unlink()

    def _recorder(self, method: str) -> Callable[[Any], None]:
        def listener(params: Any) -> None:
            self.received.append((method, params))
            self.on_notification(method, params)

        return listener


def turn(number: int) -> list[dict[str, Any]]:
    """A question and its answer, some hundred tokens."""
    question = f"Please change part {number} of src/part_{number}.py. " + "It must stay small and fast. " * 6
    reply = f"Part {number} now holds what was asked for. " + "The tests of that part pass again. " * 6
    return [user(question), assistant(reply)]


def user(text: str) -> dict[str, Any]:
    return {"type": "message", "message": {"role": "user", "content": text}}


def assistant(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": [{"type": "text", "text": text}], "stopReason": "stop"}
    return {"type": "message", "message": message}


@asynccontextmanager
async def editing(
    directory: Path,
    capabilities: types.ClientCapabilities = NO_PROGRESS,
    *,
    features: dict[str, Any] | None = None,
    settings: dict[str, Any] | None = None,
    configuration: dict[str, Any] | None = None,
    command: Sequence[str] | None = None,
    offers: dict[str, Any] | None = None,
) -> AsyncIterator[Editor]:
    """An editor on the store in `directory`; `features` are its answers to the server's requests.

    `offers` are the options that say which of them it answers. `command` are the arguments that start the
    server, by default the one whose summarizer waits at the gate.

    It leaves in an orderly way, and the server with it.
    """
    client = LanguageClient(converter_factory=converters.get_converter, configuration=configuration)
    register_lsp_features(client, {**DEFAULT_CLIENT_FEATURES, **(features or {})})
    editor = Editor(client, directory / "gate")
    arguments = command or (str(GATED), str(editor.gate))
    await client.start_io(*python(), *arguments, env=environment(directory))
    introduction = types.InitializeParams(
        capabilities=capabilities,
        workspace_folders=[types.WorkspaceFolder(uri=WORKSPACE, name="editor")],
        initialization_options={"settings": SETTINGS if settings is None else settings, **(offers or {})},
    )
    answer = await asyncio.wait_for(client.initialize_session(introduction), PATIENCE)
    editor.capabilities = answer.capabilities
    process = client._server  # pytest-lsp keeps the process to itself
    assert process is not None
    try:
        yield editor
        await asyncio.wait_for(client.shutdown_session(), PATIENCE)
        assert process.returncode == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        await client.stop()  # type: ignore[no-untyped-call]  # pytest-lsp leaves it untyped
