"""The use cases of `coppice/conversation/*` that keep conversations."""

import asyncio
import json
import uuid
from dataclasses import replace
from typing import Final

from pydantic import TypeAdapter, ValidationError

from coppice.errors import UnknownEntryError
from coppice.service.context import Context, now
from coppice.service.messages.conversations import (
    Conversation,
    ConversationResult,
    ConversationSource,
    CreateParams,
    DeleteParams,
    DeleteResult,
    GetParams,
    GetResult,
    ListParams,
    ListResult,
    RenameParams,
)
from coppice.service.path_reading import read_path
from coppice.service.tracking import Tracking
from coppice.service.usage import usage_state
from coppice.store.records import LEAF, ConversationRecord, NewConversation, NewRecord
from coppice.tokens.size import Size
from coppice.tree.entries import SessionInfoEntry
from coppice.tree.ids import new_entry_id


def conversation_of(record: ConversationRecord) -> Conversation:
    """A stored conversation as the wire shows it."""
    return Conversation(
        id=record.id,
        name=record.name,
        workspace_uri=record.workspace_uri,
        created_at=record.created_at,
        modified_at=record.modified_at,
        leaf_id=record.leaf_id,
        entry_count=record.entry_count,
        first_message=record.first_message,
        parent_conversation_id=record.parent_conversation_id,
        source=ConversationSource.model_validate(record.source) if record.source else None,
    )


class Conversations:
    def __init__(self, context: Context, tracking: Tracking) -> None:
        self._context = context
        self._tracking = tracking

    async def create(self, params: CreateParams) -> ConversationResult:
        workspace = params.workspace_uri or self._context.stores.default_workspace()
        new = NewConversation(
            id=uuid.uuid4().hex, workspace_uri=workspace, created_at=now(), name=params.name
        )
        record = await asyncio.to_thread(lambda: self._context.stores.of_workspace(workspace).create(new))
        await self._tracking.open(new.id)
        self._context.announce(new.id, None, "created")
        return ConversationResult(conversation=conversation_of(record))

    async def list_all(self, params: ListParams) -> ListResult:
        return await asyncio.to_thread(self._list, params)

    async def get(self, params: GetParams) -> GetResult:
        def read() -> GetResult:
            store = self._context.stores.of_conversation(params.conversation_id)
            record = store.conversation(params.conversation_id)
            settings = self._context.settings.of(record.workspace_uri)
            usage = usage_state(read_path(store, record.id, settings))
            return GetResult(conversation=conversation_of(record), usage=usage)

        return await asyncio.to_thread(read)

    async def rename(self, params: RenameParams) -> ConversationResult:
        """The name is an entry, so that its history stays; an empty one takes the name away."""

        def write() -> ConversationRecord:
            store = self._context.stores.of_conversation(params.conversation_id)
            at = now()
            entry = SessionInfoEntry(
                id=new_entry_id(), parent_id=None, timestamp=at, name=params.name.strip() or None
            )
            store.append(params.conversation_id, [NewRecord(entry, Size())], parent_id=LEAF, modified_at=at)
            return store.conversation(params.conversation_id)

        record = await self._context.write(params.conversation_id, write)
        self._context.announce(record.id, record.leaf_id, "name")
        return ConversationResult(conversation=conversation_of(record))

    async def delete(self, params: DeleteParams) -> DeleteResult:
        """Whatever runs for the conversation is stopped first."""

        def delete() -> None:
            self._context.stores.of_conversation(params.conversation_id).delete(params.conversation_id)
            self._context.stores.forget(params.conversation_id)

        await self._context.jobs.stop(params.conversation_id)
        await self._context.write(params.conversation_id, delete)
        self._context.announce(params.conversation_id, None, "deleted")
        return DeleteResult()

    def _list(self, params: ListParams) -> ListResult:
        """Every folder's conversations in one order, by time of change.

        The cursor says for each folder how far its conversations have been listed.
        """
        folders = [params.workspace_uri] if params.workspace_uri else self._context.stores.workspaces()
        listed = _read_cursor(params.cursor)
        found: list[ConversationRecord] = []
        for folder in folders:
            page, _ = self._context.stores.of_workspace(folder).conversations(
                workspace_uri=folder, limit=params.limit + 1, cursor=listed.get(folder)
            )
            found += [replace(record, workspace_uri=folder) for record in page]
        found.sort(key=lambda record: record.modified_at, reverse=True)
        page = found[: params.limit]
        listed |= {record.workspace_uri: record.cursor for record in page}
        more = len(found) > len(page)
        return ListResult(
            conversations=[conversation_of(record) for record in page],
            next_cursor=json.dumps(listed) if more else None,
        )


def _read_cursor(cursor: str | None) -> dict[str, str]:
    if cursor is None:
        return {}
    try:
        return _CURSOR.validate_json(cursor)
    except ValidationError as error:
        raise UnknownEntryError(
            "The list cannot go on from there: the cursor is none of ours. Start it again."
        ) from error


_CURSOR: Final = TypeAdapter(dict[str, str])
