"""The use cases of `coppice/conversation/*` that keep conversations."""

import json
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from pydantic import TypeAdapter, ValidationError

from coppice.errors import UnknownEntryError
from coppice.protocol.conversations import (
    Conversation,
    ConversationResult,
    CreateParams,
    DeleteParams,
    DeleteResult,
    GetParams,
    GetResult,
    ListParams,
    ListResult,
    RenameParams,
)
from coppice.protocol.usage import UsageState
from coppice.service.core.client_turns import Turns
from coppice.service.core.context import Context, now
from coppice.service.core.workers import run_read, run_write
from coppice.service.files.tracking import Tracking
from coppice.service.window.usage import usage_state
from coppice.store.schema.records import LEAF, ConversationRecord, NewConversation, NewRecord
from coppice.tokens.counting import load_ahead
from coppice.tokens.size import Size
from coppice.tree.entries import SessionInfoEntry
from coppice.tree.ids import new_entry_id


def conversation_of(record: ConversationRecord) -> Conversation:
    """A stored conversation as the wire shows it."""
    return Conversation.model_validate(replace(record, source=record.source or None), from_attributes=True)


class Conversations:
    """The use cases `coppice/conversation/create`, `list`, `get`, `rename` and `delete`."""

    def __init__(self, context: Context, tracking: Tracking, turns: Turns) -> None:
        self._context = context
        self._tracking = tracking
        self._turns = turns

    async def create(self, params: CreateParams) -> ConversationResult:
        """A new conversation without entries, in the default workspace unless one is named."""
        workspace = params.workspace_uri or self._context.stores.default_workspace()
        new = NewConversation(
            id=uuid.uuid4().hex, workspace_uri=workspace, created_at=now(), name=params.name
        )
        stores = self._context.stores
        url = await run_read(stores.url_of, workspace)
        record = await run_write(url, lambda: stores.of_workspace(workspace).create(new))
        load_ahead()
        await self._tracking.open(new.id)
        self._context.announce(new.id, None, "created")
        return ConversationResult(conversation=conversation_of(record))

    async def list_all(self, params: ListParams) -> ListResult:
        """A page of the conversations of one workspace or of all, newest first."""
        return await run_read(self._list, params)

    async def get(self, params: GetParams) -> GetResult:
        """The conversation, and how full its window is."""

        def read() -> tuple[Conversation, UsageState]:
            path = self._context.path(params.conversation_id)
            return conversation_of(path.conversation), usage_state(path)

        conversation, usage = await run_read(read)
        turn = await self._turns.shared.where(params.conversation_id)
        return GetResult(conversation=conversation, usage=usage, turn=turn)

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
        await self.delete_if(params.conversation_id, None)
        return DeleteResult()

    async def delete_if(
        self, conversation_id: str, condition: Callable[[ConversationRecord], bool] | None
    ) -> bool:
        """The same, unless the conversation does not meet `condition` when it is deleted; whether it did."""

        def delete() -> bool:
            store = self._context.stores.of_conversation(conversation_id)
            is_deleted = store.delete(conversation_id, condition)
            if is_deleted:
                self._context.stores.forget(conversation_id)
            return is_deleted

        await self._context.jobs.stop(conversation_id)
        # Not after the file events that are still to be stored: on a full disk they cannot be.
        if not await self._context.commit(conversation_id, delete):
            return False
        for forget in self._context.after_deleting:
            forget(conversation_id)
        self._context.announce(conversation_id, None, "deleted")
        return True

    def _list(self, params: ListParams) -> ListResult:
        """Every folder's conversations in one order, by time of change.

        The cursor holds for each folder how far its conversations have been listed.
        """
        folders = [params.workspace_uri] if params.workspace_uri else self._context.stores.workspaces()
        listed = _read_cursor(params.cursor)
        records: list[ConversationRecord] = []
        for folder in folders:
            page, _ = self._context.stores.of_workspace(folder).conversations(
                workspace_uri=folder, limit=params.limit + 1, cursor=listed.get(folder)
            )
            records += [replace(record, workspace_uri=folder) for record in page]
        records.sort(key=lambda record: record.modified_at, reverse=True)
        page = records[: params.limit]
        listed |= {record.workspace_uri: record.cursor for record in page}
        more = len(records) > len(page)
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
