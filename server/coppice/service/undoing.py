"""The use case `coppice/undoCompaction`."""

from itertools import chain

from coppice.errors import UnknownEntryError
from coppice.service.context import Context, now
from coppice.service.copying import path_batches, with_new_ids
from coppice.service.messages.navigation import UndoCompactionParams, UndoCompactionResult


class Undoing:
    def __init__(self, context: Context) -> None:
        self._context = context

    async def undo_compaction(self, params: UndoCompactionParams) -> UndoCompactionResult:
        """The work since goes on, on a branch from before the compaction, which stays in the tree."""
        self._context.jobs.refuse_if_busy(params.conversation_id)
        leaf_id = await self._context.write(params.conversation_id, lambda: self._undo(params))
        self._context.announce(params.conversation_id, leaf_id, "entries", "leaf")
        return UndoCompactionResult(leaf_id=leaf_id)

    def _undo(self, params: UndoCompactionParams) -> str | None:
        store = self._context.stores.of_conversation(params.conversation_id)
        end = store.end(params.conversation_id)
        newest = store.compaction(end) if end is not None else None
        compaction_id = params.compaction_id or (newest.entry_id if newest is not None else None)
        depth = store.ancestor_depth(end, compaction_id) if end is not None and compaction_id else None
        if end is None or depth is None or compaction_id is None:
            raise UnknownEntryError(
                "There is no such compaction on the current path; navigate to it first, or leave out "
                "compactionId to undo the newest.",
                entryId=params.compaction_id,
            )
        compaction = store.entry(params.conversation_id, compaction_id)
        if compaction.type != "compaction":
            raise UnknownEntryError("That entry is no compaction.", entryId=compaction_id)
        since = with_new_ids(list(chain.from_iterable(path_batches(store, end, depth + 1))))
        if not since:
            store.set_leaf(
                params.conversation_id, compaction.parent_id, modified_at=now(), expected_leaf_id=end.id
            )
            return compaction.parent_id
        done = store.append(
            params.conversation_id,
            since,
            parent_id=compaction.parent_id,
            expected_leaf_id=end.id,
            modified_at=now(),
        )
        return done.leaf_id
