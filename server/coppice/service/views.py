"""The use cases that show what a model sees, how big that is, and which files it was about."""

import asyncio
from collections.abc import Sequence
from typing import Any

from coppice.compaction.serialization import serialize
from coppice.files.ledger import FileHistory
from coppice.service.breakdown import breakdown_of, heaviest_of
from coppice.service.context import Context
from coppice.service.messages.trees import (
    ContextFormat,
    ContextParams,
    ContextResult,
    FileRecord,
    FilesParams,
    FilesResult,
)
from coppice.service.messages.usage import UsageParams, UsageState
from coppice.service.path_reading import Path, read_path
from coppice.service.truncating import fitted_view
from coppice.service.usage import Counter, context_tokens, counted_tokens, size_beside, usage_state
from coppice.tree.rendering.anthropic import anthropic_request
from coppice.tree.rendering.openai import openai_messages
from coppice.tree.view import ViewMessage


class Views:
    def __init__(self, context: Context) -> None:
        self._context = context

    async def context(self, params: ContextParams) -> ContextResult:
        return await asyncio.to_thread(self._view, params)

    async def usage(self, params: UsageParams) -> UsageState:
        def read() -> UsageState:
            path = self._path(params.conversation_id)
            counter = Counter(path.settings)
            beside = size_beside(counter, params.system, params.tools)
            usage = usage_state(path, params.context_window, beside.total)
            if not params.detail:
                return usage
            view = path.view()
            return usage.model_copy(
                update={
                    "breakdown": breakdown_of(view, counter, path.compaction, beside),
                    "heaviest": heaviest_of(view, counter),
                }
            )

        return await asyncio.to_thread(read)

    async def files(self, params: FilesParams) -> FilesResult:
        def read() -> FilesResult:
            ledger = self._path(params.conversation_id, params.leaf_id).ledger()
            return FilesResult(
                read_files=ledger.read_files,
                modified_files=ledger.modified_files,
                deleted_files=ledger.deleted_files,
                records=[_record(history) for history in ledger.histories.values()],
            )

        return await asyncio.to_thread(read)

    def _view(self, params: ContextParams) -> ContextResult:
        path = self._path(params.conversation_id, params.leaf_id)
        counter = Counter(path.settings)
        tokens, source = context_tokens(path, counter)
        if params.context_window is None:
            view = path.view()
        else:
            view, saved = fitted_view(path, params.context_window)
            if saved:
                tokens, source = counted_tokens(path, counter) - saved, counter.source
        messages, system = _rendered(view, params.format)
        compaction = path.compaction
        return ContextResult(
            messages=messages,
            system=system,
            tokens=tokens,
            token_source=source,
            compaction_id=compaction.entry_id if compaction else None,
            first_kept_entry_id=compaction.first_kept_entry_id if compaction else None,
        )

    def _path(self, conversation_id: str, leaf_id: str | None = None) -> Path:
        store = self._context.stores.of_conversation(conversation_id)
        workspace = store.conversation(conversation_id).workspace_uri
        return read_path(store, conversation_id, self._context.settings.of(workspace), leaf_id)


def _rendered(view: Sequence[ViewMessage], format_: ContextFormat) -> tuple[list[Any] | str, str | None]:
    """The view's messages in a format, and the system prompt where the format keeps it apart."""
    match format_:
        case "openai":
            return openai_messages(view), None
        case "anthropic":
            request = anthropic_request(view)
            return request.messages, request.system
        case "text":
            return serialize((item.message for item in view), result_chars=None), None
        case "entries":
            return [_entry_message(item) for item in view], None


def _entry_message(item: ViewMessage) -> dict[str, Any]:
    """A message with the id of its entry; one that stands for no entry has none."""
    message = item.message.model_dump(mode="json", by_alias=True)
    return message if item.entry_id is None else {"entryId": item.entry_id, **message}


def _record(history: FileHistory) -> FileRecord:
    return FileRecord(
        path=history.path,
        reads=history.reads,
        writes=history.writes,
        sources=list(history.sources),
        last_entry_id=history.last_entry_id,
        renamed_from=history.renamed_from,
        created=history.created or None,
    )
