"""The use case `coppice/conversation/fork`."""

import asyncio
import uuid
from collections.abc import Iterator, Sequence
from typing import Final

from coppice.service.branches import said_by_a_person, standing_at
from coppice.service.context import Context, now
from coppice.service.conversations import conversation_of
from coppice.service.copying import COPIED_METADATA, label, marks, path_batches, pin
from coppice.service.jobs import uninterrupted
from coppice.service.messages.hooks import WillForkParams
from coppice.service.messages.navigation import ForkParams, ForkResult
from coppice.service.path_reading import BEFORE_THE_ROOT
from coppice.service.server_requests import WILL_FORK
from coppice.settings import Settings
from coppice.store.records import ConversationRecord, NewConversation, NewRecord, PathEnd
from coppice.store.store import Store
from coppice.tokens.size import Size
from coppice.tree.entries import METADATA_TYPES, Entry, LabelEntry, PinEntry, SessionInfoEntry
from coppice.tree.ids import new_entry_id

_INHERITED: Final = ("format", "name", "cwd")
"""What a fork takes over of where its conversation came from. The session's id is the other's alone."""


class Forking:
    def __init__(self, context: Context) -> None:
        self._context = context

    async def fork(self, params: ForkParams) -> ForkResult:
        """The path becomes a conversation of its own, its labels, pins and file activity with it.

        At metadata it ends with the entry that the metadata is about.
        """
        await self._ask_hooks(params)
        record, text = await uninterrupted(asyncio.to_thread(self._fork, params))
        self._context.announce(record.id, record.leaf_id, "created")
        return ForkResult(conversation=conversation_of(record), editor_text=text)

    async def _ask_hooks(self, params: ForkParams) -> None:
        """Raises CancelledByHookError."""
        hooks = self._context.hooks
        if not hooks.are_there(WILL_FORK):
            return
        settings = await asyncio.to_thread(self._settings, params)
        asked = WillForkParams(
            conversation_id=params.conversation_id, entry_id=params.entry_id, position=params.position
        )
        await hooks.will_fork(asked, settings.hooks.timeout_seconds)

    def _settings(self, params: ForkParams) -> Settings:
        """Raises UnknownEntryError: hooks are asked about entries that are there."""
        store = self._context.stores.of_conversation(params.conversation_id)
        store.entry(params.conversation_id, params.entry_id)
        return self._context.settings.of(store.conversation(params.conversation_id).workspace_uri)

    def _fork(self, params: ForkParams) -> tuple[ConversationRecord, str | None]:
        store = self._context.stores.of_conversation(params.conversation_id)
        origin = store.conversation(params.conversation_id)
        entry = store.entry(origin.id, params.entry_id)
        last_id = standing_at(store, origin.id, entry) if params.position == "at" else entry.parent_id
        new = NewConversation(
            id=uuid.uuid4().hex,
            workspace_uri=origin.workspace_uri,
            created_at=now(),
            name=params.name or origin.name,
            parent_conversation_id=origin.id,
            source={key: origin.source[key] for key in _INHERITED if key in origin.source}
            if origin.source
            else None,
        )
        end = store.end(origin.id, last_id) if last_id is not None else None
        self._copy(store, end, new)
        return store.conversation(new.id), said_by_a_person(entry) if params.position == "before" else None

    def _copy(self, store: Store, end: PathEnd | None, new: NewConversation) -> None:
        with store.importing(new, modified_at=now()) as writer:
            if end is None:
                return
            on_path: list[Entry] = []
            for batch in path_batches(store, end):
                writer.add(batch)
                on_path += [record.entry for record in batch if record.entry.type in METADATA_TYPES]
            beside = store.attached(end, BEFORE_THE_ROOT, end.depth, COPIED_METADATA)
            last = [*_overruling(on_path, end, new.name), *marks(store, end)]
            writer.add([NewRecord(entry, Size()) for entry in (*(entry for _, entry in beside), *last)])
            writer.leaf(end.id)


def _overruling(on_path: Sequence[Entry], end: PathEnd, name: str | None) -> Iterator[Entry]:
    """Takes back what the path's own metadata says; an imported session has its labels and name there."""
    for entry in on_path:
        match entry:
            case LabelEntry():
                yield label(end, entry.target_id, None)
            case PinEntry():
                yield pin(end, entry.target_id, pinned=False)
            case SessionInfoEntry():
                yield SessionInfoEntry(id=new_entry_id(), parent_id=end.id, timestamp=now(), name=name)
            case _:
                pass
