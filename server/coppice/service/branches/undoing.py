"""The use case `coppice/undoCompaction`."""

from functools import partial

from coppice.errors import UnknownEntryError
from coppice.protocol.navigation import UndoCompactionParams, UndoCompactionResult
from coppice.protocol.usage import UsageState
from coppice.service.branches.replay import replayed
from coppice.service.core.client_turns import Turns
from coppice.service.core.context import Context, now
from coppice.service.core.conversation_path import ConversationPath
from coppice.service.core.progress import Progress
from coppice.service.core.thread_work import ThreadWork
from coppice.service.window.usage import usage_state
from coppice.store.schema.records import PathEnd
from coppice.store.store import Store
from coppice.tree.entries import METADATA_TYPES


class Undoing:
    """The use case `coppice/undoCompaction`."""

    def __init__(self, context: Context, turns: Turns) -> None:
        self._context = context
        self._turns = turns

    async def undo_compaction(self, params: UndoCompactionParams, progress: Progress) -> UndoCompactionResult:
        """The work since goes on, on a branch from before the compaction, which stays in the tree.

        A cancel leaves everything as it was.
        """
        await self._turns.refuse_if_busy(params.conversation_id)
        leaf_id, usage = await self._context.write_long(
            params.conversation_id, partial(self._undo, params), progress, title="Undoing the compaction"
        )
        progress.end(f"{usage.tokens:,} tokens")
        self._context.announce(params.conversation_id, leaf_id, "entries", "leaf")
        self._context.announce_usage(params.conversation_id, usage)
        return UndoCompactionResult(leaf_id=leaf_id)

    def _undo(self, params: UndoCompactionParams, thread: ThreadWork) -> tuple[str | None, UsageState]:
        path = self._context.path(params.conversation_id)
        leaf_id = _replay(path.store, *_found(path, params), thread)
        return leaf_id, usage_state(path.to())


def _found(path: ConversationPath, params: UndoCompactionParams) -> tuple[PathEnd, int, str | None]:
    """The current path's end, the compaction's depth and its parent. Raises UnknownEntryError."""
    newest = path.compaction
    if newest is None and params.compaction_id is None:
        raise UnknownEntryError("Nothing on this branch has been compacted: there is nothing to undo.")
    compaction_id = params.compaction_id or (newest.entry_id if newest is not None else None)
    depth = path.depth_of(compaction_id) if compaction_id else None
    if path.end is None or depth is None or compaction_id is None:
        raise UnknownEntryError(
            "There is no such compaction on the current path; navigate to it first, or leave out "
            "compactionId to undo the newest.",
            entryId=params.compaction_id,
        )
    compaction = path.store.entry(params.conversation_id, compaction_id)
    if compaction.type not in ("compaction", "context_edit"):
        raise UnknownEntryError("That entry is no compaction and no context edit.", entryId=compaction_id)
    return path.end, depth, compaction.parent_id


def _replay(store: Store, end: PathEnd, depth: int, parent_id: str | None, thread: ThreadWork) -> str | None:
    """Stores the work done after `depth` again, after `parent_id`, and gives the new leaf."""
    records = replayed(store, end, depth, on_batch=thread.check)
    thread.finish()
    expected: str | None = end.id
    if all(record.entry.type in METADATA_TYPES for record in records):
        store.set_leaf(end.conversation_id, parent_id, modified_at=now(), expected_leaf_id=expected)
        expected = parent_id
    if not records:
        return parent_id
    done = store.append(
        end.conversation_id, records, parent_id=parent_id, expected_leaf_id=expected, modified_at=now()
    )
    return done.leaf_id
