"""The use case `coppice/clearToolResults`: a context edit, by hand or before a request."""

from dataclasses import dataclass, replace
from typing import Final

from coppice.compaction.clearing import Clearable, ClearSizes, clear_sizes, clears, first_kept, plan
from coppice.protocol.recovery import ClearedToolResult, ClearToolResultsParams, ClearToolResultsResult
from coppice.protocol.usage import UsageState
from coppice.service.core.client_turns import Turns
from coppice.service.core.context import Context, now
from coppice.service.core.conversation_path import ConversationPath
from coppice.service.core.workers import run_read
from coppice.service.window.usage import Counter, context_tokens, usage_state
from coppice.store.schema.records import NewRecord
from coppice.tokens.size import Size
from coppice.tree.clearing import cleared_ids
from coppice.tree.entries import ContextEditEntry, TokenCounts
from coppice.tree.ids import new_entry_id

_EVERYTHING: Final = 2**53  # tokens to save, where all results that can be cleared are to be
_NOTHING: Final = "There is no tool result to clear that is older than the newest {keep:,} tokens."


@dataclass(frozen=True, slots=True)
class _Step:
    """What a context edit clears; nothing where it would gain too little. `before` are the view's tokens."""

    path: ConversationPath
    counter: Counter
    before: int
    results: list[Clearable]

    @property
    def saved(self) -> Size:
        return sum((each.saved for each in self.results), Size())

    def entry(self, reason: str) -> ContextEditEntry:
        saved = self.saved
        return ContextEditEntry(
            id=new_entry_id(),
            parent_id=self.path.leaf_id,
            timestamp=now(),
            cleared=[each.entry_id for each in self.results],
            saved=TokenCounts(tokenizer=saved.tokenizer, estimate=saved.estimate),
            reason=reason,
        )


class Clearing:
    """The use case `coppice/clearToolResults`, and what is cleared before a request."""

    def __init__(self, context: Context, turns: Turns) -> None:
        self._context = context
        self._turns = turns

    async def clear(self, params: ClearToolResultsParams) -> ClearToolResultsResult:
        """Clears every result that can be cleared; with `preview` it says which they are."""
        conversation_id = params.conversation_id
        if params.preview:
            step, entry, leaf_id = await run_read(self._preview, params)
        else:
            await self._turns.refuse_if_busy(conversation_id)
            step, entry, leaf_id = await self._append(params, "manual")
        results = [
            ClearedToolResult(
                entry_id=each.entry_id, tool_name=each.tool, saved_tokens=step.counter.tokens(each.saved)
            )
            for each in step.results
        ]
        keep = _sizes(step.path, params).keep
        return ClearToolResultsResult(
            cleared=results,
            tokens_before=step.before,
            tokens_after=max(0, step.before - step.counter.tokens(step.saved)),
            entry=entry,
            leaf_id=leaf_id,
            reason=None if results else _NOTHING.format(keep=keep),
        )

    async def make_room(
        self, path: ConversationPath, context_window: int, request_tokens: int
    ) -> ContextEditEntry | None:
        """Clears results where the next request is over the start share and that gains enough."""
        sizes = clear_sizes(path.settings.compaction.clear, context_window)
        if not clears(path.settings) or request_tokens <= sizes.start:
            return None
        if not await run_read(_may_gain, path, sizes):
            return None
        params = ClearToolResultsParams(conversation_id=path.conversation.id, context_window=context_window)
        _, entry, _ = await self._append(params, "threshold", request_tokens - sizes.target)
        return entry

    def will_make_room(
        self, path: ConversationPath, context_window: int, request_tokens: int, later_tokens: int
    ) -> bool:
        """Whether `make_room` will clear results until a request has `later_tokens`. Reads the store."""
        sizes = clear_sizes(path.settings.compaction.clear, context_window)
        if not clears(path.settings) or later_tokens <= sizes.start:
            return False
        sizes = replace(sizes, keep=max(0, sizes.keep - (later_tokens - request_tokens)))
        return _may_gain(path, sizes) and bool(_step(path, sizes, later_tokens - sizes.target).results)

    def _preview(self, params: ClearToolResultsParams) -> tuple[_Step, None, str | None]:
        path = self._context.path(params.conversation_id)
        return _step(path, _sizes(path, params)), None, path.leaf_id

    async def _append(
        self, params: ClearToolResultsParams, reason: str, goal: int | None = None
    ) -> tuple[_Step, ContextEditEntry | None, str | None]:
        """Without a `goal` all that can be is cleared, however little that gains."""
        conversation_id = params.conversation_id

        def append(path: ConversationPath) -> tuple[_Step, ContextEditEntry | None, ConversationPath]:
            step = _step(path, _sizes(path, params), goal)
            if not step.results:
                return step, None, path
            entry = step.entry(reason)
            done = path.store.append(
                conversation_id,
                [NewRecord(entry, Size())],
                expected_leaf_id=path.leaf_id,
                modified_at=entry.timestamp,
            )
            return step, entry, path.after(done)

        def write() -> tuple[_Step, ContextEditEntry | None, str | None, UsageState]:
            step, entry, path = self._context.path(conversation_id).retry_at_leaf(append)
            return step, entry, path.leaf_id, usage_state(path, params.context_window)

        step, entry, leaf_id, usage = await self._context.write(conversation_id, write)
        if entry is not None:
            self._context.announce(conversation_id, leaf_id, "entries", "leaf")
            self._context.announce_usage(conversation_id, usage)
        return step, entry, leaf_id


def _sizes(path: ConversationPath, params: ClearToolResultsParams) -> ClearSizes:
    window = params.context_window or path.settings.model.context_window
    return clear_sizes(path.settings.compaction.clear, window, params.keep_tokens)


def _step(path: ConversationPath, sizes: ClearSizes, goal: int | None = None) -> _Step:
    """Reads the store."""
    counter = Counter(path.settings)
    before, _ = context_tokens(path, counter)
    entries, rows = path.entries(), path.rows()
    first = _shown_again(path) if goal is not None else 0
    decided = {row.id for row in rows if row.depth < first}
    pinned = {entry.id for _, entry in path.store.pins(path.end)} if path.end is not None else set()
    results = plan(
        entries,
        [row.size for row in rows],
        keep=sizes.keep,
        goal=_EVERYTHING if goal is None else goal,
        tokens=counter.tokens,
        excluded=pinned | decided | cleared_ids(entries),
    )
    if goal is not None and sum(counter.tokens(each.saved) for each in results) < sizes.least_gain:
        results = []
    return _Step(path, counter, before, results)


def _may_gain(path: ConversationPath, sizes: ClearSizes) -> bool:
    """Whether the old results are large enough together. Reads the store's rows, and the context edits."""
    counter, rows = Counter(path.settings), path.rows()
    tokens = [counter.tokens(row.size) for row in rows]
    results = [row for row in rows[: first_kept(tokens, sizes.keep)] if row.role == "toolResult"]
    saved = counter.tokens(path.end.saved) if path.end is not None else 0
    if sum(counter.tokens(row.size) for row in results) - saved < sizes.least_gain:
        return False
    first = _shown_again(path)
    return sum(counter.tokens(row.size) for row in results if row.depth > first) >= sizes.least_gain


def _shown_again(path: ConversationPath) -> int:
    """The depth before which nothing is cleared by itself until the next compaction; 0 where there is none.

    A user had the results there shown again. Reads the store.
    """
    return next((depth for depth, edit in path.context_edits() if not edit.cleared), 0)
