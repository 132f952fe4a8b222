"""The client's notifications about files: the capabilities that request them, and how they are read.

Contents are not requested. A file counts as changed when it is saved, not when its buffer changes.
"""

from collections.abc import Callable
from typing import Any, Final

from lsprotocol import types

from coppice.json_values import at, list_at, text_at
from coppice.protocol.file_events import FileEvent
from coppice.tree.entries import FileChangeKind

Reader = Callable[[Any], list[FileEvent]]

TEXT_DOCUMENT_SYNC: Final = types.TextDocumentSyncOptions(
    open_close=True,
    change=types.TextDocumentSyncKind.None_,
    save=types.SaveOptions(include_text=False),
)

_EVERY_FILE: Final = types.FileOperationRegistrationOptions(
    filters=[types.FileOperationFilter(scheme="file", pattern=types.FileOperationPattern(glob="**/*"))]
)
FILE_OPERATIONS: Final = types.FileOperationOptions(
    did_create=_EVERY_FILE, did_rename=_EVERY_FILE, did_delete=_EVERY_FILE
)

WATCHING: Final = types.Registration(
    id="coppice-watched-files",
    method=types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
    register_options=types.DidChangeWatchedFilesRegistrationOptions(
        watchers=[types.FileSystemWatcher(glob_pattern="**/*")]
    ),
)

_WATCHED: Final[dict[int, FileChangeKind]] = {
    types.FileChangeType.Created.value: "created",
    types.FileChangeType.Changed.value: "modified",
    types.FileChangeType.Deleted.value: "deleted",
}


def _document(kind: FileChangeKind) -> Reader:
    def read(params: Any) -> list[FileEvent]:
        uri = text_at(params, "textDocument", "uri")
        return [] if uri is None else [FileEvent(uri, kind, "editor")]

    return read


def _operated(kind: FileChangeKind) -> Reader:
    def read(params: Any) -> list[FileEvent]:
        uris = [text_at(file, "uri") for file in list_at(params, "files")]
        return [FileEvent(uri, kind, "editor") for uri in uris if uri is not None]

    return read


def _renamed(params: Any) -> list[FileEvent]:
    renames = [(text_at(file, "oldUri"), text_at(file, "newUri")) for file in list_at(params, "files")]
    return [
        FileEvent(new, "renamed", "editor", old)
        for old, new in renames
        if old is not None and new is not None
    ]


def _watched(params: Any) -> list[FileEvent]:
    return [
        FileEvent(uri, kind, "watcher")
        for change in list_at(params, "changes")
        if (uri := text_at(change, "uri")) is not None
        and isinstance(type_ := at(change, "type"), int)
        and (kind := _WATCHED.get(type_)) is not None
    ]


FILE_EVENTS: Final[dict[str, Reader]] = {
    types.TEXT_DOCUMENT_DID_OPEN: _document("read"),
    types.TEXT_DOCUMENT_DID_SAVE: _document("modified"),
    types.WORKSPACE_DID_CREATE_FILES: _operated("created"),
    types.WORKSPACE_DID_RENAME_FILES: _renamed,
    types.WORKSPACE_DID_DELETE_FILES: _operated("deleted"),
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: _watched,
}
"""The notifications about files, and how each is read. A malformed part of one is ignored."""
