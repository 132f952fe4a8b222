"""Every request and notification that the server takes, registered in one place, and the documents shown."""

import asyncio
import contextlib
from functools import partial
from typing import Any, Final

from lsprotocol import types

from coppice import __version__
from coppice.json_values import at, text_at
from coppice.lsp.client import read_client
from coppice.lsp.errors import WireError
from coppice.lsp.file_events import FILE_EVENTS, FILE_OPERATIONS, TEXT_DOCUMENT_SYNC, WATCHING, Reader
from coppice.lsp.protocol import NotificationHandler
from coppice.lsp.server import CoppiceServer
from coppice.protocol.base import WireModel
from coppice.protocol.documents import SCHEME, document_of_uri
from coppice.protocol.handshake import Capability
from coppice.protocol.methods import COMMANDS
from coppice.protocol.notifications import ConversationChanged

CONTENT: Final = types.TextDocumentContentOptions(schemes=[SCHEME])

MAX_SHOWN: Final = 64
"""Documents that are refreshed, the ones read last. More than an editor shows at a time."""

REFRESH_SECONDS: Final = 0.2
"""How long changes are collected before a document is refreshed. Changes are looked for every 0.25 s."""


class ShownDocuments:
    """The documents that a client has read and not closed, by URI."""

    def __init__(self, server: CoppiceServer) -> None:
        self._server = server
        self._shown: dict[str, str] = {}
        self._refreshing: set[str] = set()

    async def content(self, params: Any) -> types.TextDocumentContentResult:
        """The document's text. Raises WireError for a URI that names none, and CoppiceError."""
        uri = text_at(params, "uri")
        named = document_of_uri(uri) if uri is not None else None
        if uri is None or named is None:
            raise WireError(types.ErrorCodes.InvalidParams, "The server has no such document.")
        await self._server.ready()
        text = await self._server.service.documents.text(*named)
        self._shown.pop(uri, None)
        self._shown[uri] = named[0]
        if len(self._shown) > MAX_SHOWN:
            del self._shown[next(iter(self._shown))]
        return types.TextDocumentContentResult(text=text)

    def closed(self, params: Any) -> None:
        """Forget the document: the client has closed it."""
        self._shown.pop(text_at(params, "textDocument", "uri") or "", None)

    def refresh_changed(self, params: WireModel) -> None:
        """Ask the client to read again the documents that a notification reports as changed."""
        if not isinstance(params, ConversationChanged) or not self._server.client.refreshes_documents:
            return
        for uri, conversation_id in self._shown.items():
            if conversation_id == params.conversation_id and uri not in self._refreshing:
                self._refreshing.add(uri)
                self._server.spawn(self._refresh(uri))

    async def _refresh(self, uri: str) -> None:
        await asyncio.sleep(REFRESH_SECONDS)
        self._refreshing.discard(uri)
        try:
            await self._server.protocol.ask(
                types.WORKSPACE_TEXT_DOCUMENT_CONTENT_REFRESH, types.TextDocumentContentRefreshParams(uri=uri)
            )
        except WireError:
            self._shown.pop(uri, None)


def register(server: CoppiceServer) -> None:
    """Give `server` every handler. To be called once, before it is connected."""
    protocol, documents = server.protocol, ShownDocuments(server)
    server.on_notify.append(documents.refresh_changed)
    protocol.on_initialize = lambda params: initialize(server, params)
    protocol.requests |= {name: partial(server.call, method) for name, method in server.methods.items()}
    protocol.requests |= {
        types.WORKSPACE_EXECUTE_COMMAND: lambda params: execute_command(server, params),
        types.WORKSPACE_TEXT_DOCUMENT_CONTENT: documents.content,
        types.SHUTDOWN: lambda _: server.close(),
    }
    protocol.notifications |= {
        types.INITIALIZED: lambda _: initialized(server),
        types.SET_TRACE: lambda _: None,
        types.WINDOW_WORK_DONE_PROGRESS_CANCEL: lambda params: server.long_requests.cancel_by_token(
            at(params, "token")
        ),
        types.PROGRESS: lambda params: server.take_part(at(params, "token"), at(params, "value")),
        types.WORKSPACE_DID_CHANGE_CONFIGURATION: lambda params: configuration_changed(server, params),
        types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: lambda params: folders_changed(server, params),
        types.TEXT_DOCUMENT_DID_CHANGE: lambda _: None,
        types.TEXT_DOCUMENT_DID_CLOSE: documents.closed,
    }
    protocol.notifications |= {name: _file_events(server, read) for name, read in FILE_EVENTS.items()}


def initialize(server: CoppiceServer, params: Any) -> types.InitializeResult:
    """The server's capabilities. Starts the service for the client that `params` describe."""
    if not isinstance(params, dict):
        raise WireError(types.ErrorCodes.InvalidParams, "initialize: an object is expected.")
    server.start(read_client(params))
    capability = Capability(methods=list(server.methods))
    return types.InitializeResult(
        capabilities=types.ServerCapabilities(
            execute_command_provider=types.ExecuteCommandOptions(
                commands=list(COMMANDS), work_done_progress=True
            ),
            text_document_sync=TEXT_DOCUMENT_SYNC,
            workspace=types.WorkspaceOptions(
                workspace_folders=types.WorkspaceFoldersServerCapabilities(
                    supported=True, change_notifications=True
                ),
                file_operations=FILE_OPERATIONS,
                text_document_content=CONTENT,
            ),
            experimental={"coppice": capability.model_dump(mode="json", by_alias=True)},
        ),
        server_info=types.ServerInfo(name="coppice", version=__version__),
    )


def initialized(server: CoppiceServer) -> None:
    """Pull the client's settings, and register for the events that it can be asked to send."""
    if server.client.has_configuration:
        server.configure()
    wanted = []
    if server.client.registers_configuration:
        wanted.append(_CONFIGURATION)
    if server.client.registers_watching:
        wanted.append(WATCHING)
    if wanted:
        server.spawn(_register(server, wanted))


async def execute_command(server: CoppiceServer, params: Any) -> Any:
    """The result of the command's method for its params object, which is argument 0."""
    given: types.ExecuteCommandParams = server.protocol.structured(params, types.ExecuteCommandParams)
    method = COMMANDS.get(given.command)
    if method is None:
        raise WireError(types.ErrorCodes.InvalidParams, "The server has no such command.")
    arguments = list(given.arguments or [])
    if len(arguments) > 1:
        raise WireError(
            types.ErrorCodes.InvalidParams, f"{given.command} takes one argument, the method's params."
        )
    first = arguments[0] if arguments else None
    return await server.call(method, {} if first is None or first == [] else first, given.work_done_token)


def configuration_changed(server: CoppiceServer, params: Any) -> None:
    """A client that can be asked is asked anew; from another, the settings it pushes are taken."""
    if server.client.has_configuration:
        server.configure()
    elif isinstance(settings := at(params, "settings"), dict):
        server.spawn(server.use_settings(settings.get("coppice")))


def folders_changed(server: CoppiceServer, params: Any) -> None:
    """Add and remove the workspace folders that the client reports."""
    changed: types.DidChangeWorkspaceFoldersParams = server.protocol.structured(
        params, types.DidChangeWorkspaceFoldersParams
    )
    removed = {folder.uri for folder in changed.event.removed}
    added = [folder.uri for folder in changed.event.added]
    server.change_folders(removed, added)


def _file_events(server: CoppiceServer, read: Reader) -> NotificationHandler:
    return lambda params: server.service.tracking.feed(read(params))


async def _register(server: CoppiceServer, wanted: list[types.Registration]) -> None:
    """Each on its own: a client that refuses one may grant another."""
    for registration in wanted:
        with contextlib.suppress(WireError):
            params = types.RegistrationParams(registrations=[registration])
            await server.protocol.ask(types.CLIENT_REGISTER_CAPABILITY, params)


_CONFIGURATION: Final = types.Registration(
    id="coppice-configuration",
    method=types.WORKSPACE_DID_CHANGE_CONFIGURATION,
    register_options=types.DidChangeConfigurationRegistrationOptions(section="coppice"),
)
