"""The use cases of `coppice/conversation/*` that keep conversations."""

import asyncio
import uuid

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
from coppice.service.messages.events import ConversationChanged
from coppice.service.usage import usage_state
from coppice.store.records import LEAF, ConversationRecord, NewConversation, NewRecord
from coppice.store.store import Store
from coppice.tokens.size import Size
from coppice.tree.entries import SessionInfoEntry
from coppice.tree.ids import new_entry_id

CHANGED = "coppice/conversationChanged"


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
    def __init__(self, context: Context) -> None:
        self._context = context

    async def create(self, params: CreateParams) -> ConversationResult:
        workspace = params.workspace_uri or self._context.stores.default_workspace()
        new = NewConversation(
            id=uuid.uuid4().hex, workspace_uri=workspace, created_at=now(), name=params.name
        )
        record = await asyncio.to_thread(lambda: self._context.stores.of_workspace(workspace).create(new))
        self._context.emit(
            CHANGED, ConversationChanged(conversation_id=new.id, leaf_id=None, changes=["created"])
        )
        return ConversationResult(conversation=conversation_of(record))

    async def list_all(self, params: ListParams) -> ListResult:
        return await asyncio.to_thread(self._list, params)

    async def get(self, params: GetParams) -> GetResult:
        def read() -> GetResult:
            store = self._context.stores.of_conversation(params.conversation_id)
            record = store.conversation(params.conversation_id)
            settings = self._context.settings.of(record.workspace_uri)
            usage = usage_state(store, store.end(record.id), settings)
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

        async with self._context.locks.of(params.conversation_id):
            record = await asyncio.to_thread(write)
        self._context.emit(
            CHANGED,
            ConversationChanged(conversation_id=record.id, leaf_id=record.leaf_id, changes=["name"]),
        )
        return ConversationResult(conversation=conversation_of(record))

    async def delete(self, params: DeleteParams) -> DeleteResult:
        """Whatever runs for the conversation is stopped first."""
        await self._context.jobs.stop(params.conversation_id)
        async with self._context.locks.of(params.conversation_id):
            store = await asyncio.to_thread(self._context.stores.of_conversation, params.conversation_id)
            await asyncio.to_thread(store.delete, params.conversation_id)
            self._context.stores.forget(params.conversation_id)
        self._context.emit(
            CHANGED,
            ConversationChanged(conversation_id=params.conversation_id, leaf_id=None, changes=["deleted"]),
        )
        return DeleteResult()

    def _list(self, params: ListParams) -> ListResult:
        if params.workspace_uri is not None or len(self._context.stores.folders) <= 1:
            workspace = params.workspace_uri or self._context.stores.default_workspace()
            store = self._context.stores.of_workspace(workspace)
            records, cursor = store.conversations(
                workspace_uri=workspace, limit=params.limit, cursor=params.cursor
            )
            return ListResult(conversations=[conversation_of(r) for r in records], next_cursor=cursor)
        return self._list_folders(params)

    def _list_folders(self, params: ListParams) -> ListResult:
        """Every folder's conversations in one order: by time of change, then by id."""
        found: list[ConversationRecord] = []
        for folder in self._context.stores.folders:
            found += self._page(self._context.stores.of_workspace(folder), folder, params)
        found.sort(key=_place, reverse=True)
        page = found[: params.limit]
        cursor = "|".join(_place(page[-1])) if len(found) > params.limit else None
        return ListResult(conversations=[conversation_of(r) for r in page], next_cursor=cursor)

    def _page(self, store: Store, folder: str, params: ListParams) -> list[ConversationRecord]:
        records, _ = store.conversations(workspace_uri=folder, limit=params.limit + 1, cursor=params.cursor)
        return records


def _place(record: ConversationRecord) -> tuple[str, str]:
    return record.modified_at, record.id
