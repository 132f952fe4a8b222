"""What a client sends about itself in `initialize`. Values of the wrong type are ignored and reported."""

from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError
from pygls.uris import from_fs_path

from coppice.json_values import at, list_at, text_at
from coppice.protocol.handshake import InitializationOptions
from coppice.protocol.server_requests import SERVER_REQUESTS


@dataclass(frozen=True, slots=True)
class Client:
    """`folders` are URIs, in the client's order. `answers` are the names of the server's requests that the
    client answers. `problems` are sentences for a log.
    """

    process_id: int | None = None
    folders: list[str] = field(default_factory=list)
    options: InitializationOptions = field(default_factory=InitializationOptions)
    answers: frozenset[str] = frozenset()
    shows_progress: bool = False
    has_configuration: bool = False
    registers_configuration: bool = False
    registers_watching: bool = False
    refreshes_documents: bool = False
    problems: list[str] = field(default_factory=list)

    def settings_with(self, section: object) -> dict[str, Any]:
        """The settings that came with `initialize`, and over them the editor's section `coppice`.

        A section that is no object is ignored.
        """
        initial = self.options.settings or {}
        return _merged(initial, section) if isinstance(section, dict) else dict(initial)


def read_client(params: dict[str, Any]) -> Client:
    """The client that sent `params` of `initialize`. Values of the wrong shape count as absent."""
    options, problems = _read_options(params.get("initializationOptions"))
    process_id = params.get("processId")
    window, workspace = at(params, "capabilities", "window"), at(params, "capabilities", "workspace")
    return Client(
        process_id=process_id if type(process_id) is int and process_id > 0 else None,
        folders=_read_folders(params),
        options=options,
        answers=_answers(options),
        shows_progress=at(window, "workDoneProgress") is True,
        has_configuration=at(workspace, "configuration") is True,
        registers_configuration=at(workspace, "didChangeConfiguration", "dynamicRegistration") is True,
        registers_watching=at(workspace, "didChangeWatchedFiles", "dynamicRegistration") is True,
        refreshes_documents=isinstance(at(workspace, "textDocumentContent"), dict),
        problems=problems,
    )


def _read_folders(params: dict[str, Any]) -> list[str]:
    named = [uri for folder in list_at(params, "workspaceFolders") if (uri := text_at(folder, "uri"))]
    if named:
        return named
    root_path = text_at(params, "rootPath")
    uri = text_at(params, "rootUri") or (from_fs_path(root_path) if root_path else None)
    return [uri] if uri else []


def _answers(options: InitializationOptions) -> frozenset[str]:
    """The requests of the server that the client's options announce it answers."""
    given = options.model_dump(by_alias=True)
    return frozenset(
        name for name, request in SERVER_REQUESTS.items() if at(given, *request.option.split("."))
    )


def _read_options(value: Any) -> tuple[InitializationOptions, list[str]]:
    if value is None:
        return InitializationOptions(), []
    if not isinstance(value, dict):
        return InitializationOptions(), ["initializationOptions: an object is expected; it was ignored."]
    try:
        return InitializationOptions.model_validate(value), []
    except ValidationError as error:
        bad = {str(one["loc"][0]) for one in error.errors(include_input=False, include_url=False)}
    valid = {key: item for key, item in value.items() if key not in bad}
    problems = [f"initializationOptions.{key}: it has the wrong type; it was ignored." for key in sorted(bad)]
    return InitializationOptions.model_validate(valid), problems


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        under = merged.get(key)
        both = isinstance(value, dict) and isinstance(under, dict)
        merged[key] = _merged(under or {}, value) if both else value
    return merged
