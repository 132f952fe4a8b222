"""Reading one path: its newest compaction, its kept entries, its files.

A pickled path names its store, which is opened where the path is unpickled: in a process of `worker_process`.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from heapq import merge
from itertools import chain
from typing import Any, Final, TypeVar

from coppice.errors import ResultTooLargeError, StaleLeafError
from coppice.files.ledger import FileLedger
from coppice.files.paths import path_of_uri
from coppice.service.core.reopened_stores import reopened_store
from coppice.service.core.worker_process import SMALL_TOKENS, call_on_tokens
from coppice.service.core.workers import check_stopped
from coppice.settings import Settings
from coppice.store.schema.records import (
    LEAF,
    Appended,
    CompactionRecord,
    ConversationRecord,
    EntryRow,
    PathEnd,
)
from coppice.store.store import Store
from coppice.tokens.counting import CHARS_PER_TOKEN
from coppice.tree.entries import (
    HARNESS_TYPE,
    CompactionEntry,
    ContextEditEntry,
    CustomMessageEntry,
    Entry,
    reply_of,
)
from coppice.tree.view import ViewMessage, view_of

BEFORE_THE_ROOT: Final = -1
"""The depth of metadata that was recorded before the first message."""
_RESULTS_LOOKED_PAST: Final = 64
"""Entries before a span that are searched for the reply whose calls its first results answer. Recorded
replies have at most eight calls."""
_A_PIECE: Final = 500
"""Entries that are read at once: some hundreds of kilobytes of typical entries."""
_ROWS: Final = 10_000
"""Rows that are read at once: a tenth of a second."""
MOST_READ_TOKENS: Final = 8_000_000
"""What is held in memory of a path at once. Four times the largest window, some 300 MB."""
_STALE_LEAF_RETRIES: Final = 4
"""How often a write is repeated whose leaf moved meanwhile. Other servers append rarely at once."""

Written = TypeVar("Written")


@dataclass(frozen=True)
class ConversationPath:
    """A path to `end`, which is None for an empty one. All of it blocks on the disk."""

    store: Store
    conversation: ConversationRecord
    end: PathEnd | None
    compaction: CompactionRecord | None
    settings: Settings

    def __reduce__(self) -> tuple[Callable[..., "ConversationPath"], tuple[object, ...]]:
        return _reopened, (self.store.url, self.conversation, self.end, self.compaction, self.settings)

    @property
    def first_depth(self) -> int:
        """The depth at which the view begins: that of the first kept entry, or the root's."""
        return self.compaction.kept_depth if self.compaction is not None else 0

    def entries(self, first: int | None = None, last: int | None = None) -> list[Entry]:
        """The entries of the view, oldest first, or those from depth `first` to `last`.

        Raises ResultTooLargeError for a view of more than `MOST_READ_TOKENS`.
        """
        if self.end is None:
            return []
        if first is None:
            self._check_size()
        first = self.first_depth if first is None else first
        last = self.end.depth if last is None else last
        return self.store.entries(self.end, first, last) if first <= last else []

    def _check_size(self) -> None:
        before = self.compaction.before_kept.estimate if self.compaction is not None else 0
        tokens = self.end.total.estimate - before if self.end is not None else 0
        if tokens > MOST_READ_TOKENS:
            raise ResultTooLargeError(
                f"What the model would see has about {tokens:,} tokens, more than is read at once. Compact "
                "the conversation, or read it in pages with `coppice/entries`.",
                tokens=tokens,
                limit=MOST_READ_TOKENS * CHARS_PER_TOKEN,
            )

    def all_entries(self) -> Iterator[Entry]:
        """Every entry from the root on, read in pieces as the iteration goes on."""
        if self.end is not None:
            yield from chain.from_iterable(self.pieces(0, self.end.depth))

    def entries_of_all_branches(self) -> Iterator[Entry]:
        """Every entry of the conversation in the order in which they were appended, read in pieces."""
        return _stopping(self.store.all_entries(self.conversation.id))

    def newest_first(self, first: int = 0) -> Iterator[Entry]:
        """The entries from depth `first` on, the newest first, read in pieces as the iteration goes on."""
        if self.end is not None:
            for start in reversed(range(first, self.end.depth + 1, _A_PIECE)):
                yield from reversed(self.entries(start, min(start + _A_PIECE - 1, self.end.depth)))

    def pieces(self, first: int, last: int) -> Iterator[list[Entry]]:
        """The entries from depth `first` to `last`, some hundreds at a time, oldest first.

        Raises StoppedError where nobody waits for the work of the thread any more.
        """
        for start in range(first, last + 1, _A_PIECE):
            check_stopped()
            yield self.entries(start, min(start + _A_PIECE - 1, last))

    def ids(self) -> frozenset[str]:
        """The ids of the whole path. Raises StoppedError as `pieces` does."""
        return frozenset(row.id for row in self.rows(0))

    def rows(self, first: int | None = None) -> list[EntryRow]:
        """The rows of the view, oldest first, or those from depth `first` on. Raises StoppedError."""
        if self.end is None:
            return []
        rows: list[EntryRow] = []
        for start in range(self.first_depth if first is None else first, self.end.depth + 1, _ROWS):
            check_stopped()
            rows += self.store.rows(self.end, start, min(start + _ROWS - 1, self.end.depth))
        return rows

    def harness_detail(self, name: str, after: int = BEFORE_THE_ROOT) -> Any:
        """What the newest of the harness's messages in the view that has `name` in its details has there.

        None where none deeper than `after` has it.
        """
        for row in reversed(self.rows()):
            if row.depth > after and row.type == "custom_message":
                entry = self.store.entry(self.conversation.id, row.id)
                if not isinstance(entry, CustomMessageEntry) or entry.custom_type != HARNESS_TYPE:
                    continue
                if isinstance(entry.details, dict) and name in entry.details:
                    return entry.details[name]
        return None

    def context_edits(self) -> Iterator[tuple[int, ContextEditEntry]]:
        """The context edits since the newest compaction, each with its depth, the newest first."""
        ended = self.compaction.depth if self.compaction is not None else BEFORE_THE_ROOT
        for row in reversed(self.rows()):
            if row.depth <= ended:
                return
            if row.type == "context_edit":
                entry = self.store.entry(self.conversation.id, row.id)
                assert isinstance(entry, ContextEditEntry)  # noqa: S101 - its row says so
                yield row.depth, entry

    def pinned(self, before: int | None = None) -> list[Entry]:
        """The pinned entries that a view does not show in their places, root first.

        Those are the ones from before the view and every compaction but the one that opens it. With
        `before` the view is the one that a new compaction keeping the entries from that depth on would
        leave.
        """
        if self.end is None:
            return []
        opening = self.compaction.entry_id if self.compaction is not None and before is None else None
        first = self.first_depth if before is None else before
        return [
            entry
            for depth, entry in self.store.pins(self.end)
            if entry.id != opening and (depth < first or isinstance(entry, CompactionEntry))
        ]

    def view(self, history_note: str = "") -> list[ViewMessage]:
        """What a model sees. `history_note` is put before the summary, if there is one.

        Raises ResultTooLargeError as `entries` does.
        """
        role = self.settings.context.summary_role
        return view_of(self.entries(), self.compaction_entry(), role, self.pinned(), history_note)

    def compaction_entry(self) -> CompactionEntry | None:
        """The newest compaction on the path, read from the store; None where there is none."""
        if self.compaction is None:
            return None
        entry = self.store.entry(self.conversation.id, self.compaction.entry_id)
        assert isinstance(entry, CompactionEntry)  # noqa: S101 - the store's own record says so
        return entry

    @property
    def tokens(self) -> int:
        """The estimate of all that is on the path, also what a compaction summarized."""
        return self.end.total.estimate if self.end is not None else 0

    def ledger(self, last: int | None = None) -> FileLedger:
        """The files of the path up to depth `last`, which is not before the view's beginning.

        Of a long path they are computed in another process. Raises WorkTooLongError.
        """
        if self.tokens < SMALL_TOKENS:
            return self.ledger_here(last)
        return call_on_tokens(self.tokens, _ledger, self, last)

    def ledger_here(self, last: int | None = None) -> FileLedger:
        """`ledger`, in this thread: also of a path that is not committed yet."""
        stored = self.store.stored_ledger(self.end) if self.end is not None else None
        ledger = FileLedger.from_json(stored, self.root, self.settings.files.tools, self.aliases)
        return self.fed(ledger, self.first_depth, last)

    def ledger_of(self, first: int, last: int | None = None) -> FileLedger:
        """The files of the entries from depth `first` to `last` alone, as `ledger` computes them.

        A result among them counts though its call comes before them.
        """
        return call_on_tokens(self.tokens, _ledger_of, self, first, last)

    def calling_reply(self, before: int) -> list[Entry]:
        """The newest reply before a depth, whose calls may be answered from there on."""
        if self.end is None:
            return []
        rows = self.store.rows(self.end, max(0, before - _RESULTS_LOOKED_PAST), before - 1)
        reply = next((row for row in reversed(rows) if row.role == "assistant"), None)
        return self.entries(reply.depth, reply.depth) if reply is not None else []

    def fed(self, ledger: FileLedger, first: int, last: int | None) -> FileLedger:
        """Feeds `ledger` the entries on the path, each followed by the file activity attached to it."""
        if self.end is None:
            return ledger.add(self.store.root_metadata(self.conversation.id, ["file_activity"]))
        last = self.end.depth if last is None else last
        if last < first:
            return ledger
        on_path = enumerate(chain.from_iterable(self.pieces(first, last)), first)
        earliest = first if first > 0 else BEFORE_THE_ROOT
        attached = sorted(
            self.store.attached(self.end, earliest, last, ["file_activity"]), key=lambda pair: pair[0]
        )
        ordered: Iterable[tuple[int, Entry]] = merge(on_path, attached, key=lambda pair: pair[0])
        return ledger.add(_stopping(entry for _, entry in ordered))

    @classmethod
    def read(
        cls, store: Store, conversation: ConversationRecord, settings: Settings, leaf_id: str | None = None
    ) -> "ConversationPath":
        """The path to `leaf_id`, by default to the conversation's leaf. Raises UnknownEntryError."""
        end = store.end(conversation.id, LEAF if leaf_id is None else leaf_id)
        is_compacted = end is not None and end.compaction_key is not None
        compaction = store.compaction(end) if end is not None and is_compacted else None
        return cls(store, conversation, end, compaction, settings)

    def after(self, done: Appended) -> "ConversationPath":
        """The path to the leaf that an append left. Reads nothing."""
        return replace(self, conversation=done.conversation, end=done.end, compaction=done.compaction)

    def to(self, leaf_id: str | None = None) -> "ConversationPath":
        """The path to another leaf, by default to the conversation's leaf as it is now."""
        return ConversationPath.read(self.store, self.conversation, self.settings, leaf_id)

    def retry_at_leaf(self, write: Callable[["ConversationPath"], Written]) -> Written:
        """The result of `write`, which appends at the end of the path that it is given.

        Where the leaf has moved before anything was stored, `write` is called again with the path to the new
        leaf. Raises StaleLeafError when that happens too often.
        """
        path = self
        for _ in range(_STALE_LEAF_RETRIES):
            try:
                return write(path)
            except StaleLeafError:
                path = self.to()
        return write(path)

    @property
    def leaf_id(self) -> str | None:
        """The last entry of the path; None where it is empty."""
        return self.end.id if self.end is not None else None

    def depth_of(self, entry_id: str) -> int | None:
        """The depth of an entry on the path, None for one that is not on it."""
        return self.store.ancestor_depth(self.end, entry_id) if self.end is not None else None

    def contains(self, entry_id: str) -> bool:
        """Whether the entry is on the path."""
        return self.depth_of(entry_id) is not None

    def has_reply_since(self, entry_id: str) -> bool:
        """Whether a model has replied after the entry without failing; false for an entry not on the path."""
        depth = self.depth_of(entry_id)
        if depth is None or self.end is None:
            return False
        return any(
            (reply := reply_of(entry)) is not None and not reply.failed
            for piece in self.pieces(depth + 1, self.end.depth)
            for entry in piece
        )

    @property
    def root(self) -> str | None:
        """The folder that paths are relative to: where an imported session ran, else the workspace."""
        source: Mapping[str, object] = self.conversation.source or {}
        cwd = source.get("cwd")
        return cwd if isinstance(cwd, str) else path_of_uri(self.conversation.workspace_uri)

    @property
    def aliases(self) -> list[str]:
        """Other names of that folder: the workspace's, and what a link in it leads to."""
        folder = path_of_uri(self.conversation.workspace_uri)
        return [] if folder is None else [folder, os.path.realpath(folder)]


def _ledger(path: ConversationPath, last: int | None) -> FileLedger:
    return path.ledger_here(last)


def _ledger_of(path: ConversationPath, first: int, last: int | None) -> FileLedger:
    ledger = FileLedger(path.root, path.settings.files.tools, aliases=path.aliases)
    return path.fed(ledger.add(path.calling_reply(first)), first, last)


def _stopping(entries: Iterable[Entry]) -> Iterator[Entry]:
    """The entries; raises StoppedError where nobody waits for the work of the thread any more."""
    for entry in entries:
        check_stopped()
        yield entry


def _reopened(url: str, *rest: Any) -> ConversationPath:
    return ConversationPath(reopened_store(url), *rest)
