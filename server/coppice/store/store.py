"""The store: conversation trees in a database, at a cost that follows what is looked at."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Literal

from sqlalchemy import Connection

from coppice.errors import StorageFailedError
from coppice.store import append as appending
from coppice.store import changes as change_log
from coppice.store import conversations, paths, purging, searching, tree_listing
from coppice.store.engine import Database
from coppice.store.engines import database
from coppice.store.importing import ImportWriter
from coppice.store.indexing import EVERYTHING, IDLE_SECONDS, Indexer, Scope, behind
from coppice.store.migrations import migrate
from coppice.store.records import (
    LEAF,
    Appended,
    CompactionRecord,
    ConversationRecord,
    EntryRef,
    EntryRow,
    NewConversation,
    NewRecord,
    PathEnd,
    SearchRow,
    StoredChange,
    TreeRow,
)
from coppice.store.words import terms_of
from coppice.tree.entries import Entry


class Store:
    """Conversations and their entries. May be used from several threads, and by several processes at once.

    What a method has written when it returns survives a crash. Every method raises `StorageFailedError`
    when the database fails, and those that take an id `UnknownConversationError` or `UnknownEntryError`.
    """

    def __init__(
        self, opened: Database, server_id: str, *, index_idle_seconds: float | None = IDLE_SECONDS
    ) -> None:
        self._database = opened
        self._server_id = server_id
        self._purger = purging.Purger(opened)
        self._indexer = Indexer(opened, idle_seconds=index_idle_seconds)
        self._changes_lock = threading.Lock()
        with opened.reading() as connection:
            self._seen_change = change_log.last_change(connection)
            garbage = purging.has_garbage(connection)
            unindexed = behind(connection, EVERYTHING)
        if garbage:
            self._purger.wake()
        if unindexed is not None:
            self._indexer.note()

    @classmethod
    def open(
        cls,
        url: str,
        *,
        server_id: str,
        busy_seconds: float = 10.0,
        index_idle_seconds: float | None = IDLE_SECONDS,
    ) -> "Store":
        """Opens the store at `url`, making or migrating it if need be.

        `server_id` tells this process's changes from those of others. A lock that another process holds,
        and a database server that has gone away, is waited for up to `busy_seconds`. What is stored is
        made searchable in the background when nothing has come for `index_idle_seconds`; with None only
        a search does it.
        """
        opened = database(url, busy_seconds)
        try:
            migrate(opened)
            return cls(opened, server_id, index_idle_seconds=index_idle_seconds)
        except BaseException:
            opened.close()
            raise

    def close(self) -> None:
        """Any later call raises `StorageFailedError`; a second `close` does nothing."""
        self._purger.stop()
        self._indexer.stop()
        self._database.close()

    def damages(self) -> list[str]:
        """What the database's own check finds wrong. Reads all of it: seconds for each gigabyte."""
        return self._database.damages()

    def create(self, new: NewConversation) -> ConversationRecord:
        def make(connection: Connection) -> ConversationRecord:
            conversations.insert_conversation(connection, new)
            change_log.record_change(self._database, connection, self._server_id, new.id, ["created"])
            return conversations.conversation(connection, new.id)

        return self._database.write(make)

    def conversation(self, conversation_id: str) -> ConversationRecord:
        return self._database.read(lambda connection: conversations.conversation(connection, conversation_id))

    def conversations(
        self, *, workspace_uri: str | None = None, limit: int, cursor: str | None = None
    ) -> tuple[list[ConversationRecord], str | None]:
        """A page of conversations, newest modified first, and the cursor of the next page if there is one.

        Raises:
            UnknownEntryError: the cursor is none that was given out.
        """
        return self._database.read(
            lambda connection: conversations.conversations(
                connection, workspace_uri=workspace_uri, limit=limit, cursor=cursor
            )
        )

    def delete(self, conversation_id: str) -> None:
        """The conversation is unknown at once; its space is freed in the background."""

        def hide(connection: Connection) -> None:
            conversations.hide(connection, conversation_id)
            change_log.record_change(
                self._database, connection, self._server_id, conversation_id, ["deleted"]
            )

        self._database.write(hide)
        self._purger.wake()

    def append(
        self,
        conversation_id: str,
        records: Sequence[NewRecord],
        *,
        parent_id: EntryRef | None = LEAF,
        expected_leaf_id: EntryRef | None = LEAF,
        modified_at: str,
    ) -> Appended:
        """Stores all entries, each under the one before it, or none.

        The first one's parent is `parent_id`; None makes a new root, an entry with children a new branch.
        Metadata hangs at the entry before it and is nobody's parent; the leaf becomes the last entry
        stored that is no metadata. An entry whose id, type and content are stored already is passed over:
        what follows it goes on from the path that it is on.

        Raises:
            StaleLeafError: something would be stored, and `expected_leaf_id` (None: no leaf) was given and
                is not the leaf. `data` has `leafId`.
            IdConflictError: an id stands for other content.
        """
        done = self._database.write(
            lambda connection: appending.append(
                self._database,
                connection,
                conversation_id,
                records,
                origin=self._server_id,
                parent_id=parent_id,
                expected_leaf_id=expected_leaf_id,
                modified_at=modified_at,
            )
        )
        self._indexer.note()
        return done

    def set_leaf(
        self,
        conversation_id: str,
        entry_id: str | None,
        *,
        expected_leaf_id: EntryRef | None = LEAF,
        modified_at: str,
    ) -> bool:
        """Makes an entry, or with None nothing, the leaf; false when it was already.

        Raises:
            StaleLeafError: as for `append`.
        """
        return self._database.write(
            lambda connection: appending.set_leaf(
                self._database,
                connection,
                conversation_id,
                entry_id,
                origin=self._server_id,
                expected_leaf_id=expected_leaf_id,
                modified_at=modified_at,
            )
        )

    def end(self, conversation_id: str, leaf: EntryRef | None = LEAF) -> PathEnd | None:
        """The end of the path to an entry, or to the current leaf; None where the path is empty."""
        return self._database.read(lambda connection: paths.end(connection, conversation_id, leaf))

    def rows(self, end: PathEnd, from_depth: int, to_depth: int) -> list[EntryRow]:
        """The path's entries from one depth to another, both included, root first, without content."""
        return self._database.read(lambda connection: paths.rows(connection, end, from_depth, to_depth))

    def entries(self, end: PathEnd, from_depth: int, to_depth: int) -> list[Entry]:
        """The same with content."""
        return self._database.read(lambda connection: paths.entries(connection, end, from_depth, to_depth))

    def entry(self, conversation_id: str, entry_id: str) -> Entry:
        return self._database.read(lambda connection: paths.entry(connection, conversation_id, entry_id))

    def ancestor_depth(self, end: PathEnd, entry_id: str) -> int | None:
        """The depth of an entry on the path to `end`; None if it is not on it."""
        return self._database.read(lambda connection: paths.ancestor_depth(connection, end, entry_id))

    def common_ancestor(self, one: PathEnd, other: PathEnd) -> PathEnd | None:
        """The deepest entry that both paths share."""
        return self._database.read(lambda connection: paths.common_ancestor(connection, one, other))

    def compaction(self, end: PathEnd) -> CompactionRecord | None:
        """The newest compaction on the path, `end` included."""
        return self._database.read(lambda connection: paths.compaction(connection, end))

    def attached(
        self, end: PathEnd, from_depth: int, to_depth: int, types: Sequence[str]
    ) -> list[tuple[int, Entry]]:
        """Metadata beside the path, each with its parent's depth, in append order.

        Metadata that has no parent counts as at depth -1.
        """
        return self._database.read(
            lambda connection: paths.attached(connection, end, from_depth, to_depth, types)
        )

    def beside_root(self, conversation_id: str, types: Sequence[str]) -> list[Entry]:
        """Metadata that was recorded before anything was said, in append order."""
        return self._database.read(lambda connection: paths.beside_root(connection, conversation_id, types))

    def pins(self, end: PathEnd) -> list[tuple[int, Entry]]:
        """The pinned entries on the path with their depths, root first."""
        return self._database.read(lambda connection: paths.pins(connection, end))

    def labels(self, end: PathEnd) -> list[tuple[int, str, str]]:
        """The labelled entries on the path as depth, id and label, root first."""
        return self._database.read(lambda connection: paths.labels(connection, end))

    def tree(
        self, conversation_id: str, *, mode: Literal["all", "branches"], limit: int, after: str | None = None
    ) -> tuple[list[TreeRow], str | None]:
        """A page of the tree in append order, and the id to ask for the next page with, if there is one.

        Mode `branches` lists leaves, forks, compactions and labelled entries, each standing for the
        entries from behind the node above it. Metadata beside the path appears in mode `all` only.
        """
        return self._database.read(
            lambda connection: tree_listing.tree(
                connection, conversation_id, folded=mode == "branches", limit=limit, after=after
            )
        )

    def search(
        self,
        query: str,
        *,
        conversation_id: str | None = None,
        workspace_uri: str | None = None,
        limit: int,
    ) -> list[SearchRow]:
        """The newest stored entries, on any branch, that hold every word of `query`; none for no words.

        What stands in double quotes is looked for side by side, as is a run of Chinese, Japanese or Korean
        characters. The last word may be the beginning of one. Everything else in `query` parts words.
        """
        if conversation_id is not None:
            self.conversation(conversation_id)
        terms = terms_of(query)
        if not terms:
            return []
        scope = Scope(conversation_id, workspace_uri)
        self._indexer.catch_up(scope)
        return self._database.read(
            lambda connection: searching.search(self._database, connection, terms, scope, limit)
        )

    def all_entries(self, conversation_id: str) -> Iterator[Entry]:
        """Every entry of the tree in append order, read as the iteration goes on."""
        return (record.entry for record in self.all_records(conversation_id))

    def all_records(self, conversation_id: str) -> Iterator[NewRecord]:
        """The same as they were stored, with sizes and ledgers: what an import elsewhere takes."""
        key = self._database.read(lambda connection: paths.conversation_key(connection, conversation_id))
        behind = 0
        while page := self._database.read(partial(paths.records_behind, conversation=key, behind=behind)):
            yield from (record for _, record in page)
            behind = page[-1][0]

    @contextmanager
    def importing(self, new: NewConversation, *, modified_at: str | None = None) -> Iterator[ImportWriter]:
        """A conversation that comes into being whole when the block ends, or not at all if it raises.

        `modified_at` is when it was last modified, by default when it was created.

        Raises:
            IdConflictError: there is a conversation of that id.
        """
        writer = ImportWriter(self._database, new)
        try:
            yield writer
            writer.finish(self._server_id, modified_at or new.created_at)
            self._indexer.note()
        except BaseException:
            self._give_up(writer)
            raise

    def changes(self) -> list[StoredChange]:
        """What other servers on this store changed since the last call, or since it was opened."""
        with self._changes_lock:
            if not self._database.changed_elsewhere():
                return []
            found, self._seen_change = self._database.read(
                lambda connection: change_log.changes_since(connection, self._server_id, self._seen_change)
            )
            return found

    def _give_up(self, writer: ImportWriter) -> None:
        try:
            writer.abandon()
        except StorageFailedError:
            # Whoever opens the store later purges it.
            return
        self._purger.wake()
