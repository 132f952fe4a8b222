"""What the server answers and hears: every registration, in one place."""

import contextlib
from collections.abc import Mapping
from typing import Any, Final, Literal

from lsprotocol import types

from coppice import __version__
from coppice.lsp import faults
from coppice.lsp.client import read_client
from coppice.lsp.documents import CONTENT, ShownDocuments
from coppice.lsp.faults import WireError
from coppice.lsp.file_events import FILE_EVENTS, FILE_OPERATIONS, TEXT_DOCUMENT_SYNC, WATCHING, Reader
from coppice.lsp.protocol import NotificationHandler, RequestHandler
from coppice.lsp.server import CoppiceServer
from coppice.service.messages.base import WireModel
from coppice.service.methods import Method

PROTOCOL_VERSION: Final = 1

COMMANDS: Final = {
    "coppice.server.compact": "coppice/compact",
    "coppice.server.navigate": "coppice/navigate",
    "coppice.server.summarize": "coppice/summarize",
    "coppice.server.list": "coppice/conversation/list",
    "coppice.server.tree": "coppice/tree",
    "coppice.server.newConversation": "coppice/conversation/create",
}
"""The commands of `workspace/executeCommand`, for editors that can send no custom method. A command is
offered when its method is."""


class Capability(WireModel):
    """`capabilities.experimental.coppice` of the server: the protocol's version and its methods."""

    protocol_version: Literal[1] = PROTOCOL_VERSION
    methods: list[str]


def register(server: CoppiceServer) -> None:
    protocol, documents = server.protocol, ShownDocuments(server)
    server.listeners.append(documents.heard)
    protocol.on_initialize = lambda params: initialize(server, params)
    protocol.requests |= {name: _request(server, method) for name, method in server.methods.items()}
    protocol.requests |= {
        types.WORKSPACE_EXECUTE_COMMAND: lambda params: execute_command(server, params),
        types.WORKSPACE_TEXT_DOCUMENT_CONTENT: documents.content,
        types.SHUTDOWN: lambda _: server.close(),
    }
    protocol.notifications |= {
        types.INITIALIZED: lambda _: initialized(server),
        types.SET_TRACE: lambda _: None,
        types.WINDOW_WORK_DONE_PROGRESS_CANCEL: lambda params: stop_watched(server, params),
        types.PROGRESS: lambda params: hear_part(server, params),
        types.WORKSPACE_DID_CHANGE_CONFIGURATION: lambda params: configuration_changed(server, params),
        types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: lambda params: folders_changed(server, params),
        types.TEXT_DOCUMENT_DID_CHANGE: lambda _: None,
        types.TEXT_DOCUMENT_DID_CLOSE: documents.closed,
    }
    protocol.notifications |= {name: _hearing(server, read) for name, read in FILE_EVENTS.items()}


def initialize(server: CoppiceServer, params: Any) -> types.InitializeResult:
    if not isinstance(params, dict):
        raise WireError(faults.INVALID_PARAMS, "initialize: an object is expected.")
    server.start(read_client(params))
    capability = Capability(methods=list(server.methods))
    return types.InitializeResult(
        capabilities=types.ServerCapabilities(
            execute_command_provider=types.ExecuteCommandOptions(
                commands=list(commands(server.methods)), work_done_progress=True
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
    if server.client.has_configuration:
        server.configure()
    wanted = []
    if server.client.registers_configuration:
        wanted.append(_CONFIGURATION)
    if server.client.registers_watching:
        wanted.append(WATCHING)
    if wanted:
        server.spawn(_register(server, wanted))


def commands(methods: Mapping[str, Method]) -> dict[str, Method]:
    """The commands that are offered, with their methods."""
    return {command: methods[name] for command, name in COMMANDS.items() if name in methods}


async def execute_command(server: CoppiceServer, params: Any) -> WireModel:
    """The result of the command's method for its params object, which is argument 0."""
    given: types.ExecuteCommandParams = server.protocol.structured(params, types.ExecuteCommandParams)
    method = commands(server.methods).get(given.command)
    if method is None:
        raise WireError(faults.INVALID_PARAMS, "The server has no such command.")
    arguments = list(given.arguments or [])
    if len(arguments) > 1:
        raise WireError(faults.INVALID_PARAMS, f"{given.command} takes one argument, the method's params.")
    first = arguments[0] if arguments else None
    return await server.call(method, {} if first is None or first == [] else first, given.work_done_token)


def stop_watched(server: CoppiceServer, params: Any) -> None:
    server.stop_watched(params.get("token") if isinstance(params, dict) else None)


def hear_part(server: CoppiceServer, params: Any) -> None:
    if isinstance(params, dict):
        server.hear_part(params.get("token"), params.get("value"))


def configuration_changed(server: CoppiceServer, params: Any) -> None:
    """A client that can be asked is asked anew; from another, the settings it pushes are taken."""
    settings = params.get("settings") if isinstance(params, dict) else None
    if server.client.has_configuration:
        server.configure()
    elif isinstance(settings, dict):
        server.spawn(server.use_settings(settings.get("coppice")))


def folders_changed(server: CoppiceServer, params: Any) -> None:
    changed: types.DidChangeWorkspaceFoldersParams = server.protocol.structured(
        params, types.DidChangeWorkspaceFoldersParams
    )
    removed = {folder.uri for folder in changed.event.removed}
    added = [folder.uri for folder in changed.event.added]
    server.change_folders(removed, added)


def _request(server: CoppiceServer, method: Method) -> RequestHandler:
    async def answer(params: Any) -> WireModel:
        return await server.call(method, params)

    return answer


def _hearing(server: CoppiceServer, read: Reader) -> NotificationHandler:
    return lambda params: server.service.tracking.hear(read(params))


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
