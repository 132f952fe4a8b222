"""The use case `coppice/conversation/fork`."""

import asyncio
import uuid

from coppice.service.branches import said_by_a_person
from coppice.service.context import Context, now
from coppice.service.conversations import conversation_of
from coppice.service.copying import path_batches
from coppice.service.messages.navigation import ForkParams, ForkResult
from coppice.service.path_reading import BEFORE_THE_ROOT
from coppice.store.records import ConversationRecord, NewConversation, NewRecord, PathEnd
from coppice.store.store import Store
from coppice.tokens.size import Size
from coppice.tree.entries import Entry, LabelEntry, PinEntry
from coppice.tree.ids import new_entry_id


class Forking:
    def __init__(self, context: Context) -> None:
        self._context = context

    async def fork(self, params: ForkParams) -> ForkResult:
        """The path becomes a conversation of its own, its labels, pins and file activity with it."""
        record, text = await asyncio.to_thread(self._fork, params)
        self._context.announce(record.id, record.leaf_id, "created")
        return ForkResult(conversation=conversation_of(record), editor_text=text)

    def _fork(self, params: ForkParams) -> tuple[ConversationRecord, str | None]:
        store = self._context.stores.of_conversation(params.conversation_id)
        origin = store.conversation(params.conversation_id)
        entry = store.entry(origin.id, params.entry_id)
        last_id = entry.id if params.position == "at" else entry.parent_id
        new = NewConversation(
            id=uuid.uuid4().hex,
            workspace_uri=origin.workspace_uri,
            created_at=now(),
            name=params.name or origin.name,
            parent_conversation_id=origin.id,
            source={"cwd": origin.source["cwd"]} if origin.source and "cwd" in origin.source else None,
        )
        end = store.end(origin.id, last_id) if last_id is not None else None
        self._copy(store, end, new)
        return store.conversation(new.id), said_by_a_person(entry) if params.position == "before" else None

    def _copy(self, store: Store, end: PathEnd | None, new: NewConversation) -> None:
        with store.importing(new, modified_at=now()) as writer:
            if end is None:
                return
            for batch in path_batches(store, end):
                writer.add(batch)
            beside = store.attached(end, BEFORE_THE_ROOT, end.depth, ["file_activity", "custom"])
            writer.add([NewRecord(entry, Size()) for _, entry in beside])
            writer.add([NewRecord(entry, Size()) for entry in _marks(store, end)])
            writer.leaf(end.id)


def _marks(store: Store, end: PathEnd) -> list[Entry]:
    """The labels and pins that the path's entries bear now, as entries at its end."""
    about = {"parent_id": end.id, "timestamp": now()}
    labels: list[Entry] = [
        LabelEntry.model_validate({**about, "id": new_entry_id(), "target_id": target, "label": label})
        for _, target, label in store.labels(end)
    ]
    pins: list[Entry] = [
        PinEntry.model_validate({**about, "id": new_entry_id(), "target_id": pinned.id, "pinned": True})
        for _, pinned in store.pins(end)
    ]
    return labels + pins
