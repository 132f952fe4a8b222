"""The use case `coppice/conversation/fork`."""

import uuid
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from coppice.protocol.hooks import DidForkParams, WillForkParams
from coppice.protocol.navigation import ForkParams, ForkResult
from coppice.protocol.notifications import DID_FORK
from coppice.protocol.server_requests import WILL_FORK
from coppice.service.branches.branch_switch import editable_text, leaf_at
from coppice.service.branches.replay import COPIED_METADATA, label, marks, path_batches, pin
from coppice.service.conversations.conversations import conversation_of
from coppice.service.core.context import Context, now
from coppice.service.core.conversation_path import BEFORE_THE_ROOT, ConversationPath
from coppice.service.core.progress import Progress
from coppice.service.core.thread_work import ThreadWork, run_in_thread
from coppice.service.core.workers import run_read
from coppice.store.importing import ImportWriter
from coppice.store.reader import StoreReader
from coppice.store.records import ConversationRecord, NewConversation, NewRecord, PathEnd
from coppice.store.store import Store
from coppice.tokens.size import Size
from coppice.tree.entries import METADATA_TYPES, Entry, LabelEntry, PinEntry, SessionInfoEntry
from coppice.tree.ids import new_entry_id

_INHERITED: Final = ("format", "name", "cwd")
"""What a fork takes over of where its conversation came from. The session's id is the other's alone."""


class Forking:
    """The use case `coppice/conversation/fork`."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def fork(self, params: ForkParams, progress: Progress) -> ForkResult:
        """The path becomes a conversation of its own, its labels, pins and file activity with it.

        At metadata it ends with the entry that the metadata is about.
        """
        path = await run_read(self._context.path, params.conversation_id, params.entry_id)
        await self._ask_hooks(params, path)
        record, text = await run_in_thread(partial(self._fork, params), progress, title="Forking")
        self._context.announce(record.id, record.leaf_id, "created")
        forked = DidForkParams(
            conversation_id=params.conversation_id,
            entry_id=params.entry_id,
            position=params.position,
            fork_id=record.id,
        )
        self._context.did(DID_FORK, forked, path)
        progress.end(f"{record.entry_count:,} entries")
        return ForkResult(conversation=conversation_of(record), editor_text=text)

    async def _ask_hooks(self, params: ForkParams, path: ConversationPath) -> None:
        """Raises CancelledByHookError."""
        hooks = self._context.hooks
        if not hooks.are_there(WILL_FORK):
            return
        asked = WillForkParams(
            conversation_id=params.conversation_id, entry_id=params.entry_id, position=params.position
        )
        await hooks.will_fork(asked, self._context.asking(path))

    def _fork(self, params: ForkParams, thread: ThreadWork) -> tuple[ConversationRecord, str | None]:
        store = self._context.stores.of_conversation(params.conversation_id)
        with store.snapshot() as source:
            new_id, text = self._fork_from(source, store, params, thread)
        return store.conversation(new_id), text

    def _fork_from(
        self, source: StoreReader, target: Store, params: ForkParams, thread: ThreadWork
    ) -> tuple[str, str | None]:
        """The id of the new conversation, and the text that the person may edit and send again."""
        origin = source.conversation(params.conversation_id)
        entry = source.entry(origin.id, params.entry_id)
        last_id = leaf_at(source, origin.id, entry) if params.position == "at" else entry.parent_id
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
        end = source.end(origin.id, last_id) if last_id is not None else None
        with target.importing(new, modified_at=now()) as writer:
            self._copy(source, end, new, writer, thread)
        return new.id, editable_text(entry) if params.position == "before" else None

    def _copy(
        self,
        source: StoreReader,
        end: PathEnd | None,
        new: NewConversation,
        writer: ImportWriter,
        thread: ThreadWork,
    ) -> None:
        if end is None:
            thread.finish()
            return
        on_path: list[Entry] = []
        for batch in path_batches(source, end):
            writer.add(batch)
            thread.check()
            on_path += [record.entry for record in batch if record.entry.type in METADATA_TYPES]
        attached = source.attached(end, BEFORE_THE_ROOT, end.depth, COPIED_METADATA)
        last = [*_overruling(on_path, end, new.name), *marks(source, end)]
        writer.add([NewRecord(entry, Size()) for entry in (*(entry for _, entry in attached), *last)])
        writer.leaf(end.id)
        thread.finish()


def _overruling(on_path: Sequence[Entry], end: PathEnd, name: str | None) -> Iterator[Entry]:
    """Takes back what the path's own metadata sets; an imported session has its labels and name there."""
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
