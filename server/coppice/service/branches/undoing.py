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
from coppice.store.schema.records import NewRecord, PathEnd
from coppice.store.store import Store
from coppice.tokens.size import Size
from coppice.tree.entries import METADATA_TYPES, ContextEditEntry, Entry, TokenCounts
from coppice.tree.ids import new_entry_id


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
            params.conversation_id, partial(self._undo, params), progress, title="Undoing"
        )
        progress.end(f"{usage.tokens:,} tokens")
        self._context.announce(params.conversation_id, leaf_id, "entries", "leaf")
        self._context.announce_usage(params.conversation_id, usage)
        return UndoCompactionResult(leaf_id=leaf_id)

    def _undo(self, params: UndoCompactionParams, thread: ThreadWork) -> tuple[str | None, UsageState]:
        path = self._context.path(params.conversation_id)
        leaf_id = _replay(path.store, *_undone(path, params), thread)
        return leaf_id, usage_state(path.to())


def _undone(path: ConversationPath, params: UndoCompactionParams) -> tuple[PathEnd, int, Entry]:
    """The current path's end, and the compaction or context edit with its depth. Raises UnknownEntryError."""
    compaction_id = params.compaction_id or _newest(path)
    if compaction_id is None:
        raise UnknownEntryError("Nothing on this branch was compacted or cleared: there is nothing to undo.")
    depth = path.depth_of(compaction_id)
    if path.end is None or depth is None:
        raise UnknownEntryError(
            "There is no such compaction or context edit on the current path; navigate to it first, or leave "
            "out compactionId to undo the newest.",
            entryId=params.compaction_id,
        )
    compaction = path.store.entry(params.conversation_id, compaction_id)
    if compaction.type not in ("compaction", "context_edit"):
        raise UnknownEntryError("That entry is no compaction and no context edit.", entryId=compaction_id)
    if isinstance(compaction, ContextEditEntry) and not compaction.cleared:
        raise UnknownEntryError(
            "That context edit clears nothing: there is nothing to undo.", entryId=compaction_id
        )
    return path.end, depth, compaction


def _newest(path: ConversationPath) -> str | None:
    cleared = next((edit.id for _, edit in path.context_edits() if edit.cleared), None)
    return cleared or (path.compaction.entry_id if path.compaction is not None else None)


def _replay(store: Store, end: PathEnd, depth: int, undone: Entry, thread: ThreadWork) -> str | None:
    """Stores the work done after `undone`, at `depth`, again without it, and gives the new leaf."""
    parent_id = undone.parent_id
    records = replayed(store, end, depth, on_batch=thread.check)
    thread.finish()
    if isinstance(undone, ContextEditEntry):
        records.append(NewRecord(_shown_again(), Size()))
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


def _shown_again() -> ContextEditEntry:
    """At the end of the path, so that nothing of what the user sees whole now is cleared at once."""
    nothing = TokenCounts(tokenizer=0, estimate=0)
    return ContextEditEntry(
        id=new_entry_id(), parent_id=None, timestamp=now(), cleared=[], saved=nothing, reason="undone"
    )
