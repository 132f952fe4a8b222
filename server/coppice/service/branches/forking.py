"""The use case `coppice/conversation/fork`."""

import uuid
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from coppice.protocol.hooks import DidForkParams, WillForkParams
from coppice.protocol.navigation import ForkParams, ForkResult
from coppice.protocol.notifications import DID_FORK
from coppice.service.branches.branch_switch import editable_text, leaf_at
from coppice.service.branches.labels_and_pins import label_entry, pin_entry
from coppice.service.branches.replay import COPIED_METADATA, labels_and_pins, path_batches
from coppice.service.conversations.conversations import conversation_of
from coppice.service.core.context import Context, now
from coppice.service.core.conversation_path import BEFORE_THE_ROOT
from coppice.service.core.progress import Progress
from coppice.service.core.thread_work import ThreadWork, run_in_thread
from coppice.service.core.workers import run_read
from coppice.store.reader import StoreReader
from coppice.store.schema.records import ConversationRecord, NewConversation, NewRecord, PathEnd
from coppice.store.tree.importing import ImportWriter
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
        asked = WillForkParams(
            conversation_id=params.conversation_id, entry_id=params.entry_id, position=params.position
        )
        await self._context.hooks.will_fork(asked, self._context.asking(path))
        record, text = await run_in_thread(partial(self._fork, params), progress, title="Forking")
        self._context.announce(record.id, record.leaf_id, "created")
        forked = DidForkParams(**dict(asked), fork_id=record.id)
        self._context.did(DID_FORK, forked, path)
        progress.end(f"{record.entry_count:,} entries")
        return ForkResult(conversation=conversation_of(record), editor_text=text)

    def _fork(self, params: ForkParams, thread: ThreadWork) -> tuple[ConversationRecord, str | None]:
        """The new conversation, and the text that the person may edit and send again."""
        store = self._context.stores.of_conversation(params.conversation_id)
        with store.snapshot() as source:
            origin = source.conversation(params.conversation_id)
            entry = source.entry(origin.id, params.entry_id)
            last_id = leaf_at(source, origin.id, entry) if params.position == "at" else entry.parent_id
            end = source.end(origin.id, last_id) if last_id is not None else None
            source_of = origin.source or {}
            inherited: dict[str, Any] = {key: source_of[key] for key in _INHERITED if key in source_of}
            new = NewConversation(
                id=uuid.uuid4().hex,
                workspace_uri=origin.workspace_uri,
                created_at=now(),
                name=params.name or origin.name,
                parent_conversation_id=origin.id,
                source=inherited if origin.source else None,
                choice=origin.choice,
            )
            with store.importing(new, modified_at=now()) as writer:
                if end is not None:
                    _copy(source, end, new.name, writer, thread)
                thread.finish()
        return store.conversation(new.id), editable_text(entry) if params.position == "before" else None


def _copy(
    source: StoreReader, end: PathEnd, name: str | None, writer: ImportWriter, thread: ThreadWork
) -> None:
    on_path: list[Entry] = []
    for batch in path_batches(source, end):
        writer.add(batch)
        thread.check()
        on_path += [record.entry for record in batch if record.entry.type in METADATA_TYPES]
    attached = [entry for _, entry in source.attached(end, BEFORE_THE_ROOT, end.depth, COPIED_METADATA)]
    added = [*attached, *_overruling(on_path, end, name), *labels_and_pins(source, end)]
    writer.add([NewRecord(entry, Size()) for entry in added])
    writer.leaf(end.id)


def _overruling(on_path: Sequence[Entry], end: PathEnd, name: str | None) -> Iterator[Entry]:
    """Takes back what the path's own metadata sets; an imported session has its labels and name there."""
    for entry in on_path:
        match entry:
            case LabelEntry():
                yield label_entry(entry.target_id, None, parent_id=end.id)
            case PinEntry():
                yield pin_entry(entry.target_id, pinned=False, parent_id=end.id)
            case SessionInfoEntry():
                yield SessionInfoEntry(id=new_entry_id(), parent_id=end.id, timestamp=now(), name=name)
            case _:
                pass
