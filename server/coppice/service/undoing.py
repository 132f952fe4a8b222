"""The use case `coppice/undoCompaction`."""

from coppice.errors import UnknownEntryError
from coppice.service.context import Context, now
from coppice.service.copying import replayed
from coppice.service.messages.navigation import UndoCompactionParams, UndoCompactionResult
from coppice.service.messages.usage import UsageState
from coppice.service.path_reading import read_path
from coppice.service.usage import usage_state
from coppice.store.records import PathEnd
from coppice.store.store import Store
from coppice.tree.entries import METADATA_TYPES


class Undoing:
    def __init__(self, context: Context) -> None:
        self._context = context

    async def undo_compaction(self, params: UndoCompactionParams) -> UndoCompactionResult:
        """The work since goes on, on a branch from before the compaction, which stays in the tree."""
        self._context.jobs.refuse_if_busy(params.conversation_id)
        leaf_id, usage = await self._context.write(params.conversation_id, lambda: self._undo(params))
        self._context.announce(params.conversation_id, leaf_id, "entries", "leaf")
        self._context.announce_usage(params.conversation_id, usage)
        return UndoCompactionResult(leaf_id=leaf_id)

    def _undo(self, params: UndoCompactionParams) -> tuple[str | None, UsageState]:
        store = self._context.stores.of_conversation(params.conversation_id)
        settings = self._context.settings.of(store.conversation(params.conversation_id).workspace_uri)
        leaf_id = _replay(store, *_found(store, params))
        return leaf_id, usage_state(read_path(store, params.conversation_id, settings))


def _found(store: Store, params: UndoCompactionParams) -> tuple[PathEnd, int, str | None]:
    """The current path's end, the compaction's depth and its parent. Raises UnknownEntryError."""
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
    return end, depth, compaction.parent_id


def _replay(store: Store, end: PathEnd, depth: int, parent_id: str | None) -> str | None:
    """Stores the work done behind `depth` again, behind `parent_id`, and gives the new leaf."""
    records = replayed(store, end, depth)
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
