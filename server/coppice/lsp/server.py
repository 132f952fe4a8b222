"""The language server: a service behind a connection."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from typing import Any, Final
from uuid import uuid4

from lsprotocol import converters, types
from pydantic import ValidationError
from pygls.lsp.server import LanguageServer

from coppice import __version__
from coppice.errors import CoppiceError
from coppice.lsp import faults
from coppice.lsp.client import Client, HookOptions
from coppice.lsp.editor_settings import EditorSettings
from coppice.lsp.faults import ParamsError, WireError
from coppice.lsp.progress import Token, WorkDoneProgress
from coppice.lsp.protocol import CoppiceProtocol
from coppice.models.editor import OnPart
from coppice.service.jobs import NoProgress
from coppice.service.messages.base import WireModel
from coppice.service.methods import Method
from coppice.service.server_requests import SAMPLE, WILL_COMPACT, WILL_FORK, WILL_NAVIGATE
from coppice.service.service import Service

Emit = Callable[[str, WireModel], None]

SETTLE_SECONDS: Final = 1.0
"""How long short requests may take to finish when the server closes."""

CONFIGURATION_PATIENCE: Final = 1.0
"""Seconds that the first requests wait for a client to answer `workspace/configuration`."""


class CoppiceServer(LanguageServer):
    """One client's server. `coppice.lsp.features.register` gives it its methods."""

    protocol: CoppiceProtocol

    def __init__(self, methods: Mapping[str, Method], make_service: Callable[[Emit], Service]) -> None:
        super().__init__(
            "coppice",
            __version__,
            types.TextDocumentSyncKind.None_,
            protocol_cls=CoppiceProtocol,
            converter_factory=converters.get_converter,
        )
        self.methods = methods
        self.client = Client()
        self.folders: list[str] = []
        self.listeners: list[Emit] = []
        self.service = make_service(self._tell)
        self.settings = EditorSettings({})
        self.introduced = asyncio.Event()
        self._starting: asyncio.Task[None] | None = None
        self._configuring: asyncio.Task[None] | None = None
        self._configured_by = 0.0
        self._background: set[asyncio.Task[None]] = set()
        self._hearing: dict[Token, OnPart] = {}
        self._watched: dict[Token, asyncio.Task[Any]] = {}
        self._long: set[asyncio.Task[Any]] = set()
        self._shown: set[str] = set()
        self._closed = False

    def start(self, client: Client) -> None:
        """Start the service for `client`. A failure is reported, and again by each request."""
        self.client = client
        self.process_id = client.process_id
        self.folders = client.folders
        self.settings = EditorSettings(client.options.settings or {})
        if client.options.sampling:
            self.service.summarizers.sample = self._sample
        if client.options.tools:
            self.service.prompting.ask = self.protocol.ask
        if client.options.abort_turn:
            self.service.turns.ask = self.protocol.ask
        self.service.hooks.ask = self.protocol.ask
        self.service.hooks.client_answers = _answered_hooks(client.options.hooks)
        self.service.hooks.report = self._log
        self._starting = self.spawn(self._start())
        self.introduced.set()

    async def call(self, method: Method, params: Any, token: Token | None = None) -> WireModel:
        """The result of `method`. Progress is on the params' token, on `token`, or on one of the server's."""
        given = validated(method.params, params)
        await self.ready()
        if not method.long:
            return await _to_the_end(method.call(self.service, given, NoProgress()))
        own: Token | None = getattr(given, "work_done_token", None)
        parts: Token | None = getattr(given, "partial_result_token", None)
        with self._long_work(token if own is None else own, parts) as progress:
            return await method.call(self.service, given, progress)

    def stop_watched(self, token: object) -> None:
        """Cancel the request whose progress runs on `token`."""
        task = self._watched.get(token) if isinstance(token, int | str) else None
        if task is not None:
            task.cancel()

    def hear_part(self, token: object, part: object) -> None:
        """A part of an answer that the server waits for; nothing on any other token."""
        hear = self._hearing.get(token) if isinstance(token, int | str) else None
        if hear is not None:
            hear(part)

    def configure(self) -> None:
        """Pull the editor's settings; requests that come meanwhile wait for them a moment."""
        self._configured_by = asyncio.get_running_loop().time() + CONFIGURATION_PATIENCE
        self._configuring = self.spawn(self._pull_settings())

    async def use_settings(self, section: object) -> None:
        """Let `section`, the editor's section `coppice`, hold from now on."""
        assert self._starting is not None  # noqa: S101 - notifications are taken after initialize only
        await self._starting
        self._show(await self.service.set_client_settings(self.settings.merged_with(section)))

    def change_folders(self, removed: set[str], added: list[str]) -> None:
        """Let the workspace have other folders from now on."""
        kept = [uri for uri in self.folders if uri not in removed]
        self.folders = kept + [uri for uri in added if uri not in kept]
        self.spawn(self._use_folders())

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run `work` beside the requests until the server closes. A failure is logged."""
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._spawned_ended)
        return task

    async def close(self) -> None:
        """Stop long work, let short requests finish, and let go of the store. May be called again."""
        for task in self._long:
            task.cancel()
        await self.protocol.settle(SETTLE_SECONDS)
        await self.protocol.stop_requests()
        mine = asyncio.current_task()
        others = [task for task in self._background if task is not mine]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        if not self._closed:
            self._closed = True
            await self.service.close()

    def _tell(self, method: str, params: WireModel) -> None:
        self.protocol.notify(method, params)
        for listener in self.listeners:
            listener(method, params)

    async def _start(self) -> None:
        self._show(self.client.problems)
        try:
            self._show(await self.service.start(self.folders, self.settings.initial))
        except CoppiceError as error:
            self.protocol.notify(
                types.WINDOW_SHOW_MESSAGE,
                types.ShowMessageParams(type=types.MessageType.Error, message=str(error)),
            )
            raise

    async def _use_folders(self) -> None:
        assert self._starting is not None  # noqa: S101 - notifications are taken after initialize only
        await self._starting
        await self.service.set_workspace_folders(self.folders)

    async def ready(self) -> None:
        """Waits until the service has started, and a moment for the editor's settings."""
        assert self._starting is not None  # noqa: S101 - requests are taken after initialize only
        await asyncio.shield(self._starting)
        patience = self._configured_by - asyncio.get_running_loop().time()
        if self._configuring is not None and not self._configuring.done() and patience > 0:
            await asyncio.wait([self._configuring], timeout=patience)

    async def _pull_settings(self) -> None:
        wanted = types.ConfigurationParams(items=[types.ConfigurationItem(section="coppice")])
        try:
            answer = await self.protocol.ask(types.WORKSPACE_CONFIGURATION, wanted)
        except WireError:
            return
        await self.use_settings(answer[0] if isinstance(answer, list) and answer else None)

    @contextlib.contextmanager
    def _long_work(self, token: Token | None, partial_token: Token | None) -> Iterator[WorkDoneProgress]:
        """Let the current task be stopped, on closing and through its progress, which always ends.

        There is no progress where the client can show none or has the token in use already.
        """
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - requests run in tasks
        create = None
        if token is None and self.client.shows_progress:
            token, create = f"coppice-{uuid4()}", self._create_progress
        shown = token if token not in self._watched else None
        progress = WorkDoneProgress(self.protocol, shown, create=create, partial_token=partial_token)
        self._long.add(task)
        if shown is not None:
            self._watched[shown] = task
        try:
            yield progress
        finally:
            self._long.discard(task)
            if shown is not None:
                del self._watched[shown]
            progress.close()

    async def _sample(self, params: dict[str, Any], on_part: OnPart | None) -> Any:
        """The editor's answer; what it tells before on a token of the server's goes to `on_part`."""
        if on_part is None:
            return await self.protocol.ask(SAMPLE, params)
        token = f"coppice-{uuid4()}"
        self._hearing[token] = on_part
        try:
            return await self.protocol.ask(SAMPLE, {**params, "partialResultToken": token})
        finally:
            del self._hearing[token]

    async def _create_progress(self, token: Token) -> bool:
        wanted = types.WorkDoneProgressCreateParams(token=token)
        try:
            await self.protocol.ask(types.WINDOW_WORK_DONE_PROGRESS_CREATE, wanted)
        except WireError:
            return False
        return True

    def _show(self, problems: list[str]) -> None:
        """Log each problem once where a person looks for it."""
        for problem in problems:
            if problem not in self._shown:
                self._shown.add(problem)
                self._log(problem)

    def _log(self, problem: str) -> None:
        message = types.LogMessageParams(type=types.MessageType.Warning, message=problem)
        self.protocol.notify(types.WINDOW_LOG_MESSAGE, message)

    def _spawned_ended(self, task: asyncio.Task[None]) -> None:
        self._background.discard(task)
        if not task.cancelled() and (error := task.exception()) and not isinstance(error, CoppiceError):
            faults.log_unforeseen(error, "background work")


async def _to_the_end(work: Awaitable[WireModel]) -> WireModel:
    """The result of short `work`, which is not broken off: a write that was begun would happen unanswered."""
    task = asyncio.ensure_future(work)
    while not task.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(task)
    return task.result()


def _answered_hooks(options: HookOptions | None) -> frozenset[str]:
    """The hooks that the client answers."""
    given = options or HookOptions()
    offered = {
        WILL_COMPACT: given.will_compact,
        WILL_NAVIGATE: given.will_navigate,
        WILL_FORK: given.will_fork,
    }
    return frozenset(method for method, answers in offered.items() if answers)


def validated(model: type[WireModel], params: Any) -> WireModel:
    """`params` as `model`; a `ParamsError` when they do not fit."""
    try:
        return model.model_validate(params)
    except ValidationError as error:
        raise ParamsError(error) from None
