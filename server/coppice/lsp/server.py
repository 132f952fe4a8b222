"""The language server: a service and its client."""

import asyncio
import contextlib
from collections.abc import Callable, Collection, Coroutine, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from lsprotocol import converters, types
from pydantic import ValidationError
from pygls.lsp.server import LanguageServer

from coppice import __version__
from coppice.errors import CoppiceError
from coppice.lsp import errors
from coppice.lsp.client import Client
from coppice.lsp.errors import ParamsError, WireError
from coppice.lsp.progress import LongRequests, Token
from coppice.lsp.protocol import CoppiceProtocol
from coppice.protocol.base import LongParams, StreamingParams, WireModel
from coppice.protocol.methods import LongMethod, Method
from coppice.protocol.server_requests import OnPart
from coppice.service.core.jobs import uninterrupted
from coppice.service.core.progress import NoProgress, Progress

if TYPE_CHECKING:  # imported when the service is first used: `initialize` is answered before
    from coppice.service.methods import Dispatcher
    from coppice.service.service import Service

SETTLE_SECONDS: Final = 1.0
"""How long short requests may take to finish when the server closes. They take milliseconds."""

CONFIGURATION_SECONDS: Final = 1.0
"""How long requests wait for a client to answer `workspace/configuration`. Editors answer from memory."""

MAX_SHORT_REQUESTS: Final = 64
"""Short requests worked on at a time: their answers may wait to be written beyond the connection's limit.
More than all threads for reads and writes, so that none is idle."""

MAX_LARGE_RESULTS: Final = 2
"""Requests with large results worked on at a time, long ones and short ones: a client that does not read
leaves no more in memory. One is made while another is written."""

_UNLIMITED: Final = contextlib.nullcontext()


class CoppiceServer(LanguageServer):
    """One client's server, and the `ClientPort` of its service.

    `coppice.lsp.features.register` gives it its methods. `make` makes the service, after `initialize` has
    been answered.
    """

    protocol: CoppiceProtocol

    def __init__(
        self, methods: Mapping[str, Method[Any, Any]], make: Callable[["CoppiceServer"], "Dispatcher"]
    ) -> None:
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
        self.on_notify: list[Callable[[WireModel], None]] = []
        self.introduced = asyncio.Event()
        self.long_requests = LongRequests(self.protocol)
        self._make = make
        self._starting: asyncio.Task[None] | None = None
        self._configuring: asyncio.Task[None] | None = None
        self._configured_by = 0.0
        self._background: set[asyncio.Task[None]] = set()
        self._awaiting_parts: dict[Token, OnPart] = {}
        self._logged: set[str] = set()
        self._slots = asyncio.Semaphore(MAX_SHORT_REQUESTS)
        self._large_exports = asyncio.Semaphore(MAX_LARGE_RESULTS)
        self._large_reads = asyncio.Semaphore(MAX_LARGE_RESULTS)
        self._closed = False

    @cached_property
    def dispatcher(self) -> "Dispatcher":
        """The service's methods."""
        return self._make(self)

    @property
    def service(self) -> "Service":
        """The service, made when it is first asked for."""
        return self.dispatcher.service

    def start(self, client: Client) -> None:
        """Start the service for `client`. A failure is reported, and again by each request."""
        self.client = client
        self.folders = client.folders
        self._starting = self.spawn(self._start())
        self.introduced.set()

    @property
    def answers(self) -> Collection[str]:
        """The requests that the client answers, by its `initializationOptions`."""
        return self.client.answers

    async def ask(self, method: str, params: WireModel, on_part: OnPart | None = None) -> Any:
        """The client's answer; parts of it that arrive before on a token of the server's go to `on_part`."""
        if on_part is None:
            return await self.protocol.ask(method, params)
        token = f"coppice-{uuid4()}"
        self._awaiting_parts[token] = on_part
        try:
            return await self.protocol.ask(method, _with_token(params, token))
        finally:
            del self._awaiting_parts[token]

    def notify(self, method: str, params: WireModel) -> None:
        """Send a notification of the service's."""
        self.protocol.notify(method, params)
        for listener in self.on_notify:
            listener(params)

    def log(self, problem: str) -> None:
        """Write a sentence to the client's log."""
        message = types.LogMessageParams(type=types.MessageType.Warning, message=problem)
        self.protocol.notify(types.WINDOW_LOG_MESSAGE, message)

    def show(self, problem: str) -> None:
        """Have the client show a sentence to the person, and write it to its log."""
        message = types.ShowMessageParams(type=types.MessageType.Warning, message=problem)
        self.protocol.notify(types.WINDOW_SHOW_MESSAGE, message)
        self.log(problem)

    async def call(self, method: Method[Any, Any], params: Any, token: Token | None = None) -> Any:
        """The result of `method`. Progress is on the params' token, on `token`, or on one of the server's."""
        try:
            given = method.params.model_validate(params)
        except ValidationError as error:
            raise ParamsError(error) from None
        await self.ready()
        if not isinstance(method, LongMethod):
            async with self._large_reads if method.large_result else _UNLIMITED, self._slots:
                await self.protocol.drain()
                return await uninterrupted(self.dispatcher.call(method, given, NoProgress()))
        own = given.work_done_token if isinstance(given, LongParams) else None
        parts = given.partial_result_token if isinstance(given, StreamingParams) else None
        shown_on = token if own is None else own
        may_create = self.client.shows_progress
        # A short request begins a task of its own: no long one that was sent later overtakes it.
        await asyncio.sleep(0)
        with self.long_requests.progress(shown_on, parts, may_create=may_create) as progress:
            async with self._large_exports if method.large_result else _UNLIMITED:
                await self.protocol.drain()
                return await self.dispatcher.call(method, given, progress)

    def progress_of(self, task: asyncio.Task[Any]) -> Progress:
        """The progress of work that no request waits for, where the client shows such."""
        return self.long_requests.background(task, may_create=self.client.shows_progress)

    def take_part(self, token: object, part: object) -> None:
        """Pass on a part of an answer that the server waits for; nothing on any other token."""
        on_part = self._awaiting_parts.get(token) if isinstance(token, int | str) else None
        if on_part is not None:
            on_part(part)

    def configure(self) -> None:
        """Pull the editor's settings; requests that come meanwhile wait for them a moment."""
        self._configured_by = asyncio.get_running_loop().time() + CONFIGURATION_SECONDS
        self._configuring = self.spawn(self._pull_settings())

    async def use_settings(self, section: object) -> None:
        """Apply `section`, the editor's section `coppice`, from now on."""
        await self._started()
        self._log_once(await self.service.set_client_settings(self.client.settings_with(section)))

    def change_folders(self, removed: set[str], added: list[str]) -> None:
        """Change the workspace's folders."""
        remaining = [uri for uri in self.folders if uri not in removed]
        self.folders = remaining + [uri for uri in added if uri not in remaining]
        self.spawn(self._use_folders())

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run `work` in the background until the server closes. A failure is logged."""
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._spawned_ended)
        return task

    async def close(self) -> None:
        """Stop long work, let short requests finish, and close the stores. May be called again."""
        self.long_requests.cancel_all()
        await self.protocol.in_work.settle(SETTLE_SECONDS)
        await self.protocol.in_work.stop()
        current = asyncio.current_task()
        others = [task for task in self._background if task is not current]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        if not self._closed:
            self._closed = True
            if "dispatcher" in self.__dict__:
                await self.service.close()

    async def ready(self) -> None:
        """Wait until the service has started, and a moment for the editor's settings."""
        await self._started()
        rest = self._configured_by - asyncio.get_running_loop().time()
        if self._configuring is not None and not self._configuring.done() and rest > 0:
            await asyncio.wait([self._configuring], timeout=rest)

    async def _started(self) -> None:
        assert self._starting is not None  # noqa: S101 - messages are taken after initialize only
        await asyncio.shield(self._starting)

    async def _start(self) -> None:
        self._log_once(self.client.problems)
        try:
            self._log_once(await self.service.start(self.folders, self.client.settings_with(None)))
        except CoppiceError as error:
            self.protocol.notify(
                types.WINDOW_SHOW_MESSAGE,
                types.ShowMessageParams(type=types.MessageType.Error, message=str(error)),
            )
            raise

    async def _use_folders(self) -> None:
        await self._started()
        await self.service.set_workspace_folders(self.folders)

    async def _pull_settings(self) -> None:
        wanted = types.ConfigurationParams(items=[types.ConfigurationItem(section="coppice")])
        try:
            answer = await self.protocol.ask(types.WORKSPACE_CONFIGURATION, wanted)
        except WireError:
            return
        await self.use_settings(answer[0] if isinstance(answer, list) and answer else None)

    def _log_once(self, problems: list[str]) -> None:
        for problem in problems:
            if problem not in self._logged:
                self._logged.add(problem)
                self.log(problem)

    def _spawned_ended(self, task: asyncio.Task[None]) -> None:
        self._background.discard(task)
        if not task.cancelled() and (error := task.exception()) and not isinstance(error, CoppiceError):
            errors.log_unforeseen(error, "background work")


def _with_token(params: WireModel, token: Token) -> dict[str, Any]:
    """Params on whose `partialResultToken` the client may send parts of its answer."""
    return {**params.model_dump(mode="json", by_alias=True), "partialResultToken": token}
