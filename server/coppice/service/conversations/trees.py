"""The use cases that append to a conversation tree and list it."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial

from coppice.errors import StaleLeafError, UnknownEntryError
from coppice.protocol.notifications import Change
from coppice.protocol.outline import BranchEndParams, BranchEndResult, OutlineParams, OutlineResult
from coppice.protocol.trees import (
    AppendParams,
    AppendResult,
    AttachedRange,
    EntriesParams,
    EntriesResult,
    NewEntry,
    TreeNode,
    TreeParams,
    TreeResult,
)
from coppice.protocol.usage import UsageState
from coppice.service.core.context import Context, now
from coppice.service.core.conversation_path import ConversationPath
from coppice.service.core.workers import run_read
from coppice.service.window.usage import Counter, usage_state
from coppice.store.schema.records import LEAF, NewRecord, PathEnd, TreeRow
from coppice.store.store import Store
from coppice.tokens.measuring import size_of_entry, sizes_without_waiting
from coppice.tree.authorship import added_places
from coppice.tree.entries import METADATA_TYPES, CompactionEntry, Entry, MessageEntry
from coppice.tree.ids import new_entry_id
from coppice.tree.messages import Message, TextContent, UserMessage


class Trees:
    """The use cases `coppice/append`, `entries`, `tree`, `outline` and `branchEnd`."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def append(self, params: AppendParams) -> AppendResult:
        """Durable when it returns: all entries, or none. Calls land in the order in which they came."""
        result, changes = await self._context.write(params.conversation_id, partial(self._append, params))
        if changes:
            self._context.announce(params.conversation_id, result.leaf_id, *changes)
            self._context.announce_usage(params.conversation_id, result.usage)
        return result

    async def add(
        self, conversation_id: str, message: Message, *, after: str | None, context_window: int
    ) -> str:
        """Appends one message at the leaf, which may have grown since `after` was it; the entry's id.

        Raises StaleLeafError when the conversation has gone to another branch since.
        """
        entry = MessageEntry(id=new_entry_id(), parent_id=None, timestamp=now(), message=message)
        return await self.add_entry(conversation_id, entry, after=after, context_window=context_window)

    async def add_entry(
        self, conversation_id: str, entry: Entry, *, after: str | None, context_window: int
    ) -> str:
        """As `add`, for an entry of any type with a new id."""

        def write() -> tuple[str | None, UsageState]:
            record = NewRecord(entry, size_of_entry(entry), new_id=True)
            store = self._context.stores.of_conversation(conversation_id)
            append = partial(store.append, conversation_id, [record], modified_at=entry.timestamp)
            try:
                done = append(expected_leaf_id=LEAF if after is None else after)
            except StaleLeafError:
                if after is None:
                    raise
                path = self._context.path(conversation_id)
                done = path.retry_at_leaf(lambda grown: append(expected_leaf_id=_leaf_beyond(after, grown)))
            return done.leaf_id, usage_state(self._context.path_after(store, done), context_window)

        leaf_id, usage = await self._context.write(conversation_id, write)
        self._context.announce(conversation_id, leaf_id, "entries", "leaf")
        self._context.announce_usage(conversation_id, usage)
        return entry.id

    async def entries(self, params: EntriesParams) -> EntriesResult:
        """A page of a path, from either end."""
        return await run_read(self._entries, params)

    async def set_leaf(self, conversation_id: str, entry_id: str) -> None:
        """Makes the entry the leaf; what was there before stays in the tree."""

        def write() -> bool:
            store = self._context.stores.of_conversation(conversation_id)
            return store.set_leaf(conversation_id, entry_id, modified_at=now())

        if await self._context.write(conversation_id, write):
            self._context.announce(conversation_id, entry_id, "leaf")

    async def tree(self, params: TreeParams) -> TreeResult:
        """A page of the tree, with the sizes of its entries."""

        def read() -> TreeResult:
            store, record = self._context.find(params.conversation_id)
            rows, following = store.tree(record.id, mode=params.mode, limit=params.limit, after=params.after)
            counter = Counter(self._context.settings.of(record.workspace_uri))
            nodes = [_node(row, counter) for row in rows]
            return TreeResult(nodes=nodes, leaf_id=record.leaf_id, next_after=following)

        return await run_read(read)

    async def outline(self, params: OutlineParams) -> OutlineResult:
        """The shape of a path. The cost follows what is listed, not the length of the path."""
        return await run_read(self._outline, params)

    async def branch_end(self, params: BranchEndParams) -> BranchEndResult:
        """Where a branch that begins at an entry was left last."""

        def read() -> BranchEndResult:
            store = self._context.stores.of_conversation(params.conversation_id)
            return BranchEndResult(leaf_id=store.branch_end(params.conversation_id, params.entry_id))

        return await run_read(read)

    def _append(self, params: AppendParams) -> tuple[AppendResult, list[Change]]:
        at = now()
        records = _records(params.entries, at)
        store = self._context.stores.of_conversation(params.conversation_id)
        sent = params.model_fields_set
        _refuse_unknown_kept(store, params.conversation_id, records)
        done = store.append(
            params.conversation_id,
            records,
            parent_id=params.parent_id if "parent_id" in sent else LEAF,
            expected_leaf_id=params.expected_leaf_id if "expected_leaf_id" in sent else LEAF,
            modified_at=at,
        )
        usage = usage_state(self._context.path_after(store, done))
        result = AppendResult(entry_ids=done.entry_ids, leaf_id=done.leaf_id, usage=usage)
        stored = set(done.stored)
        changes = _changes([r.entry for r in records if r.entry.id in stored], leaf_moved=done.leaf_moved)
        return result, changes

    def _entries(self, params: EntriesParams) -> EntriesResult:
        store = self._context.stores.of_conversation(params.conversation_id)
        end = store.end(params.conversation_id, params.leaf_id if params.leaf_id is not None else LEAF)
        if end is None:
            return EntriesResult(entries=[])
        first, last = _span(params, store, end)
        page = store.page(end, first, last, backward=params.backward) if first <= last else []
        after_page, before_page = first + len(page), last - len(page)
        attached = {entry.id: ranges for entry in page if (ranges := [*_attached_ranges(entry)])}
        return EntriesResult(
            entries=page,
            attached=attached or None,
            next_after=page[-1].id if page and not params.backward and after_page <= end.depth else None,
            next_before=page[0].id if page and params.backward and before_page >= 0 else None,
        )

    def _outline(self, params: OutlineParams) -> OutlineResult:
        store = self._context.stores.of_conversation(params.conversation_id)
        end = store.end(params.conversation_id, params.leaf_id if params.leaf_id is not None else LEAF)
        if end is None:
            return OutlineResult(leaf_id=None, length=0, compactions=[], marks=[], forks=[])
        return store.outline(end)


def _leaf_beyond(entry_id: str, path: ConversationPath) -> str | None:
    """The leaf of the path. Raises StaleLeafError where the entry is not on it."""
    if path.contains(entry_id):
        return path.leaf_id
    raise StaleLeafError(
        "The conversation was taken to another branch during the turn; the turn was stopped.",
        leafId=path.leaf_id,
    )


def _attached_ranges(entry: Entry) -> Iterator[AttachedRange]:
    if not isinstance(entry, MessageEntry) or not isinstance(entry.message, UserMessage):
        return
    content = entry.message.content
    blocks = [TextContent(text=content)] if isinstance(content, str) else content
    for number, text in enumerate(block.text for block in blocks if isinstance(block, TextContent)):
        place = units = 0
        for first, last in added_places(text):
            start = units + _utf16_length(text[place:first])
            place, units = last, start + _utf16_length(text[first:last])
            yield AttachedRange(block=number, start=start, end=units)


def _utf16_length(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _span(params: EntriesParams, store: Store, end: PathEnd) -> tuple[int, int]:
    """The depths of the first and the last entry of the page; with none on it, the first is the greater."""
    if params.backward:
        last = end.depth if params.before is None else _depth_on_path(store, end, params.before) - 1
        return max(last - params.limit + 1, 0), last
    first = 0 if params.after is None else _depth_on_path(store, end, params.after) + 1
    return first, min(first + params.limit - 1, end.depth)


def _depth_on_path(store: Store, end: PathEnd, entry_id: str) -> int:
    depth = store.ancestor_depth(end, entry_id)
    if depth is None:
        raise UnknownEntryError(
            f"The entry {entry_id[:80]!r} is not on the path. Read the path from its start.",
            entryId=entry_id,
        )
    return depth


def _records(new: Sequence[NewEntry], at: str) -> list[NewRecord]:
    entries = [each.completed(new_entry_id(), at) for each in new]
    sizes = sizes_without_waiting(entries)
    return [
        NewRecord(entry, size, new_id=each.id is None)
        for each, entry, size in zip(new, entries, sizes, strict=True)
    ]


def _refuse_unknown_kept(store: Store, conversation_id: str, records: Sequence[NewRecord]) -> None:
    """Raises UnknownEntryError for a compaction whose first kept entry is none: it would keep nothing."""
    before: set[str] = set()
    for record in records:
        first_kept = record.entry.first_kept_entry_id if isinstance(record.entry, CompactionEntry) else None
        if first_kept is not None and first_kept not in before:
            store.entry(conversation_id, first_kept)
        before.add(record.entry.id)


def _changes(stored: Sequence[Entry], *, leaf_moved: bool) -> list[Change]:
    if not stored:
        return []
    if leaf_moved and any(entry.type not in METADATA_TYPES for entry in stored):
        return ["entries", "leaf"]
    return ["entries"]


def _node(row: TreeRow, counter: Counter) -> TreeNode:
    return TreeNode.model_validate(
        asdict(row) | {"pinned": row.pinned or None, "tokens": counter.tokens(row.size)}
    )
