"""The use cases that bring conversations in and out."""

import asyncio
import os
import tempfile
import uuid
from collections.abc import Iterable
from pathlib import Path

from coppice.errors import ImportFailedError, StorageFailedError
from coppice.files.paths import path_of_uri
from coppice.formats.reading import open_session
from coppice.formats.session import SessionHeader
from coppice.formats.writing import write_session
from coppice.service.context import Context, now
from coppice.service.conversations import conversation_of
from coppice.service.importing import Intake
from coppice.service.jobs import NoProgress, Progress
from coppice.service.messages.conversations import (
    ExportFormat,
    ExportParams,
    ExportResult,
    ImportParams,
    ImportResult,
)
from coppice.service.path_reading import read_path
from coppice.store.records import ConversationRecord, NewConversation
from coppice.store.store import Store


class Portability:
    def __init__(self, context: Context) -> None:
        self._context = context

    async def import_(self, params: ImportParams, progress: Progress | None = None) -> ImportResult:
        """The whole session becomes a new conversation, or nothing does; its file is only read."""
        record, warnings = await asyncio.to_thread(self._import, params, progress or NoProgress())
        self._context.announce(record.id, record.leaf_id, "created")
        return ImportResult(conversation=conversation_of(record), warnings=warnings)

    async def export(self, params: ExportParams) -> ExportResult:
        return await asyncio.to_thread(self._export, params)

    def _import(self, params: ImportParams, progress: Progress) -> tuple[ConversationRecord, list[str]]:
        reader = open_session(_source(params), params.format)
        workspace = params.workspace_uri or self._context.stores.default_workspace()
        store = self._context.stores.of_workspace(workspace)
        new = _conversation(reader.header, workspace, params.uri)
        with store.importing(new, modified_at=now()) as writer:
            intake = Intake(store, writer, new, self._context.settings.of(workspace), progress)
            intake.take(reader)
            writer.leaf(reader.leaf_id)
        return store.conversation(new.id), reader.warnings

    def _export(self, params: ExportParams) -> ExportResult:
        store = self._context.stores.of_conversation(params.conversation_id)
        lines = self._lines(store, store.conversation(params.conversation_id), params.format)
        if params.uri is None:
            return ExportResult(content="".join(lines))
        _write_file(_path(params.uri, StorageFailedError), lines)
        return ExportResult(uri=params.uri)

    def _lines(self, store: Store, record: ConversationRecord, format_: ExportFormat) -> Iterable[str]:
        if format_ == "markdown":
            settings = self._context.settings.of(record.workspace_uri)
            path = read_path(store, record.id, settings)
            return write_session(_header(record), path.entries(first=0), "markdown", leaf_id=record.leaf_id)
        return write_session(_header(record), store.all_entries(record.id), format_, leaf_id=record.leaf_id)


def _source(params: ImportParams) -> Path | str:
    if (params.uri is None) == (params.content is None):
        raise ImportFailedError("Give either `uri`, a file: URI, or `content`, the session's text.")
    return params.content if params.content is not None else _path(params.uri or "", ImportFailedError)


def _path(uri: str, refusal: type[ImportFailedError | StorageFailedError]) -> Path:
    path = path_of_uri(uri)
    if path is None or "\0" in path:
        raise refusal("Only file: URIs can be read and written.")
    return Path(path)


def _conversation(header: SessionHeader, workspace_uri: str, uri: str | None) -> NewConversation:
    path = path_of_uri(uri) if uri else None
    source = {
        "format": header.format,
        "name": Path(path).name if path else None,
        "sessionId": header.session_id,
        "cwd": header.cwd,
        "header": header.extra,
    }
    return NewConversation(
        id=uuid.uuid4().hex,
        workspace_uri=workspace_uri,
        created_at=header.created_at or now(),
        name=header.name,
        source={key: value for key, value in source.items() if value is not None},
    )


def _header(record: ConversationRecord) -> SessionHeader:
    source = record.source or {}
    return SessionHeader(
        format=source.get("format", "coppice"),
        session_id=source.get("sessionId") or record.id,
        name=record.name,
        cwd=source.get("cwd") or path_of_uri(record.workspace_uri),
        created_at=record.created_at,
        extra=source.get("header") or {},
    )


def _write_file(path: Path, lines: Iterable[str]) -> None:
    """Replaces `path` once everything is written; a failure leaves it as it was."""
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.writelines(lines)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise StorageFailedError(
            f"The export could not be written ({error.strerror}). Choose a folder you may write to."
        ) from error
