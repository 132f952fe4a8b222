"""What can be read from a store."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Literal, TypeVar

from sqlalchemy import Connection

from coppice.store import annotations, conversations, outline, paging, paths, tree_listing
from coppice.store.engine import Work
from coppice.store.errors import translated
from coppice.store.records import (
    LEAF,
    CompactionRecord,
    ConversationRecord,
    EntryRef,
    EntryRow,
    NewRecord,
    PathEnd,
    TreeRow,
)
from coppice.tree.entries import Entry

T = TypeVar("T")


class StoreReader(ABC):
    """Reads conversations, each call from one state of the store: the newest, or that of a snapshot.

    Every method raises `StorageFailedError` when the database fails, and those that take an id
    `UnknownConversationError` or `UnknownEntryError`.
    """

    @abstractmethod
    def _read(self, work: Work[T]) -> T: ...

    def conversation(self, conversation_id: str) -> ConversationRecord:
        """One conversation. Raises UnknownConversationError."""
        return self._read(lambda connection: conversations.conversation(connection, conversation_id))

    def conversations(
        self, *, workspace_uri: str | None = None, limit: int, cursor: str | None = None
    ) -> tuple[list[ConversationRecord], str | None]:
        """A page of conversations, newest modified first, and the cursor of the next page if there is one.

        Raises:
            UnknownEntryError: the cursor is none that was given out.
        """
        return self._read(
            lambda connection: conversations.conversations(
                connection, workspace_uri=workspace_uri, limit=limit, cursor=cursor
            )
        )

    def end(self, conversation_id: str, leaf: EntryRef | None = LEAF) -> PathEnd | None:
        """The end of the path to an entry, or to the current leaf; None where the path is empty."""
        return self._read(lambda connection: paths.end(connection, conversation_id, leaf))

    def rows(self, end: PathEnd, from_depth: int, to_depth: int) -> list[EntryRow]:
        """The path's entries from one depth to another, both included, root first, without content."""
        return self._read(lambda connection: paths.rows(connection, end, from_depth, to_depth))

    def entries(self, end: PathEnd, from_depth: int, to_depth: int) -> list[Entry]:
        """The same with content."""
        return self._read(lambda connection: paths.entries(connection, end, from_depth, to_depth))

    def page(self, end: PathEnd, from_depth: int, to_depth: int, *, backward: bool) -> list[Entry]:
        """As many of these entries, the first or with `backward` the last, as a page holds; at least one."""
        return self._read(
            lambda connection: paging.page(connection, end, from_depth, to_depth, backward=backward)
        )

    def entry(self, conversation_id: str, entry_id: str) -> Entry:
        """One entry. Raises UnknownConversationError and UnknownEntryError."""
        return self._read(lambda connection: paths.entry(connection, conversation_id, entry_id))

    def ancestor_depth(self, end: PathEnd, entry_id: str) -> int | None:
        """The depth of an entry on the path to `end`; None if it is not on it."""
        return self._read(lambda connection: paths.ancestor_depth(connection, end, entry_id))

    def common_ancestor(self, one: PathEnd, other: PathEnd) -> PathEnd | None:
        """The deepest entry that both paths share."""
        return self._read(lambda connection: paths.common_ancestor(connection, one, other))

    def compaction(self, end: PathEnd) -> CompactionRecord | None:
        """The newest compaction on the path, `end` included."""
        return self._read(lambda connection: paths.compaction(connection, end))

    def attached(
        self, end: PathEnd, from_depth: int, to_depth: int, types: Sequence[str]
    ) -> list[tuple[int, Entry]]:
        """Metadata off the path whose parent is on it, with the parent's depth, in append order.

        Metadata that has no parent counts as at depth -1.
        """
        return self._read(
            lambda connection: annotations.attached(connection, end, from_depth, to_depth, types)
        )

    def root_metadata(self, conversation_id: str, types: Sequence[str]) -> list[Entry]:
        """Metadata that was recorded before the first message, in append order."""
        return self._read(lambda connection: annotations.root_metadata(connection, conversation_id, types))

    def pins(self, end: PathEnd) -> list[tuple[int, Entry]]:
        """The pinned entries on the path with their depths, root first."""
        return self._read(lambda connection: annotations.pins(connection, end))

    def labels(self, end: PathEnd) -> list[tuple[int, str, str]]:
        """The labelled entries on the path as depth, id and label, root first."""
        return self._read(lambda connection: annotations.labels(connection, end))

    def tree(
        self, conversation_id: str, *, mode: Literal["all", "branches"], limit: int, after: str | None = None
    ) -> tuple[list[TreeRow], str | None]:
        """A page of the tree in append order, and the id to ask for the next page with, if there is one.

        Mode `branches` lists leaves, forks, compactions and labelled entries, each representing the
        entries after the node above it. Metadata off the path appears in mode `all` only.
        """
        return self._read(
            lambda connection: tree_listing.tree(
                connection, conversation_id, folded=mode == "branches", limit=limit, after=after
            )
        )

    def outline(self, end: PathEnd) -> outline.Outline:
        """The compactions, marks and branch points of the path, at most 1,000 of each."""
        return self._read(lambda connection: outline.outline(connection, end))

    def branch_end(self, conversation_id: str, entry_id: str) -> str:
        """The leaf that was stored last below an entry, or the entry itself."""
        return self._read(lambda connection: outline.branch_end(connection, conversation_id, entry_id))

    def all_entries(self, conversation_id: str) -> Iterator[Entry]:
        """Every entry of the tree in append order, in pages: all from one state in a snapshot only."""
        return (record.entry for record in self.all_records(conversation_id))

    def all_records(self, conversation_id: str) -> Iterator[NewRecord]:
        """The same entries as stored, with sizes and ledgers, as an import into another store needs them."""
        key = self._read(lambda connection: paths.conversation_key(connection, conversation_id))
        last = 0
        while page := self._read(partial(paths.records_after, conversation=key, after_key=last)):
            yield from (record for _, record in page)
            last = page[-1][0]


class Snapshot(StoreReader):
    """One state of a store, in one thread, for as long as a transaction lasts."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def _read(self, work: Work[T]) -> T:
        with translated():
            return work(self._connection)
