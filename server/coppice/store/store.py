"""The store: conversation trees in a database, at a cost that follows what is looked at."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial, wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from sqlalchemy import Connection
from typing_extensions import override

from coppice.errors import StorageFailedError, StoreDamagedError
from coppice.protocol.navigation import SearchHit
from coppice.store.engines.choosing import database
from coppice.store.engines.engine import Database, T, Work
from coppice.store.engines.migrations import migrate
from coppice.store.reader import Snapshot, StoreReader
from coppice.store.schema.errors import is_unwritable
from coppice.store.schema.records import (
    ConversationRecord,
    EntryRow,
    NewConversation,
    PathEnd,
    StoredChange,
)
from coppice.store.search import recalling, searching
from coppice.store.search.indexing import EVERYTHING, IDLE_SECONDS, Indexer, Report, Scope, newest_unindexed
from coppice.store.tree import append as appending
from coppice.store.tree import changes as change_log
from coppice.store.tree import conversations, paths, purging
from coppice.store.tree.damage import damaged_entries
from coppice.store.tree.extending import ExtendWriter
from coppice.store.tree.importing import ImportWriter
from coppice.store.tree.recent_paths import ENTRY_CHARACTERS, ROW_CHARACTERS, RecentPaths
from coppice.store.tree.turns import RunningTurns
from coppice.store.words.tokens import terms_of
from coppice.tree.entries import Entry

MOST_DAMAGES: Final = 5
"""Damages that are listed; the repair lists all. Enough to see that it is no single accident."""


P = ParamSpec("P")
Result = TypeVar("Result")


def _write_method(
    command: Callable[Concatenate[Database, Connection, str, P], Result], *, adds_entries: bool = False
) -> Callable[Concatenate["Store", P], Result]:
    """The method that carries out `command` in a transaction, as a change by the store's server."""

    @wraps(command)
    def method(self: "Store", /, *args: P.args, **kwargs: P.kwargs) -> Result:
        done = self._database.write(
            lambda connection: command(self._database, connection, self._server_id, *args, **kwargs)
        )
        if adds_entries:
            self.note_entries()
        return done

    return method


class Store(StoreReader):
    """Conversations and their entries. May be used from several threads, and by several processes at once.

    What a method has written when it returns survives a crash. Every method raises `StorageFailedError`
    when the database fails, and those that take an id `UnknownConversationError` or `UnknownEntryError`.
    """

    create = _write_method(conversations.create)
    append = _write_method(appending.append, adds_entries=True)
    set_leaf = _write_method(appending.set_leaf)

    def __init__(
        self,
        opened: Database,
        server_id: str,
        *,
        url: str,
        index_idle_seconds: float | None = IDLE_SECONDS,
    ) -> None:
        self.url = url
        self._database = opened
        self._server_id = server_id
        self.turns = RunningTurns(opened, server_id)
        self._purger = purging.Purger(opened)
        opened.await_space = partial(self._purger.wait, purging.SPACE_SECONDS)
        self._indexer = Indexer(opened, idle_seconds=index_idle_seconds)
        self._rests = False
        self._recent_rows, self._recent_entries = RecentPaths[EntryRow](), RecentPaths[Entry]()
        self._purger.on_end = self._indexer.on_end = self._rest_after_work
        self._changes_lock = threading.Lock()
        with opened.reading() as connection:
            self._seen_change = change_log.last_change(connection)
            garbage = purging.has_garbage(connection)
            unindexed = newest_unindexed(connection, EVERYTHING)
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

        `server_id` identifies this process's changes among those of others. A lock of another process, and a
        database server that has gone away, is waited for up to `busy_seconds`. What is stored is
        made searchable in the background when nothing has come for `index_idle_seconds`; with None only
        a search does it.
        """
        opened = database(url, busy_seconds)
        try:
            migrate(opened)
            return cls(opened, server_id, url=url, index_idle_seconds=index_idle_seconds)
        except BaseException:
            opened.close()
            raise

    def rest(self) -> None:
        """Closes what is open for now; the next call opens it again, background work until its end."""
        self._rests = True
        self._database.rest()

    def _rest_after_work(self) -> None:
        if self._rests:
            self._database.rest()

    def close(self) -> None:
        """Any later call raises `StorageFailedError`; a second `close` does nothing."""
        self._purger.stop()
        self._indexer.stop()
        self._database.close()

    def damages(self) -> list[str]:
        """A sentence for each damage, the first few. Reads everything: seconds for each gigabyte."""
        damages = self._database.damages()
        try:
            return damages + self._read(lambda connection: damaged_entries(connection, MOST_DAMAGES))
        except StorageFailedError as error:
            return [*damages, str(error)]

    @override
    def rows(self, end: PathEnd, from_depth: int, to_depth: int) -> list[EntryRow]:
        def load(low: int, high: int) -> list[tuple[EntryRow, int]]:
            rows = self._read(lambda connection: paths.rows(connection, end, low, high))
            return [(row, ROW_CHARACTERS) for row in rows]

        recent = RecentPaths[EntryRow]() if self._database.is_together else self._recent_rows
        return recent.read(end, from_depth, to_depth, load)

    @override
    def entries(self, end: PathEnd, from_depth: int, to_depth: int) -> list[Entry]:
        def load(low: int, high: int) -> list[tuple[Entry, int]]:
            sized = self._read(lambda connection: paths.sized_entries(connection, end, low, high))
            return [(entry, characters + ENTRY_CHARACTERS) for entry, characters in sized]

        recent = RecentPaths[Entry]() if self._database.is_together else self._recent_entries
        return recent.read(end, from_depth, to_depth, load)

    @contextmanager
    def snapshot(self) -> Iterator[StoreReader]:
        """One state of the store to read from, whatever is written meanwhile; in this thread only.

        A database server that is lost meanwhile ends it with a `StorageFailedError`.
        """
        with self._database.reading() as connection:
            yield Snapshot(connection)

    def delete(
        self, conversation_id: str, condition: Callable[[ConversationRecord], bool] | None = None
    ) -> bool:
        """The conversation is unknown at once; its space is freed in the background. False where it does not
        meet `condition`, which is asked in the same transaction, and stays.

        On a full disk a write waits until that has ended, but not for longer than `SPACE_SECONDS`.
        """
        is_deleted = self._database.write_deletion(
            lambda connection: conversations.hide(
                self._database, connection, self._server_id, conversation_id, condition
            )
        )
        if not is_deleted:
            return False
        self._recent_rows.forget(conversation_id)
        self._recent_entries.forget(conversation_id)
        self._purger.wake()
        return True

    def set_source(self, conversation_id: str, source: dict[str, Any]) -> None:
        """Says anew where a conversation came from, of which no client is told."""
        self._database.write(lambda connection: conversations.set_source(connection, conversation_id, source))

    def erase(self) -> bool:
        """Waits until nothing of deleted conversations is left in the store. Whether nothing is left in its
        files either: where another process was reading, it stays there until all have closed the store.
        """
        self._purger.wake()
        self._purger.wait()
        return self._purger.is_erased

    def search(
        self,
        query: str,
        *,
        conversation_id: str | None = None,
        workspace_uri: str | None = None,
        limit: int,
        report: Report = lambda _done, _total: None,
    ) -> list[SearchHit]:
        """The newest stored entries, on any branch, that hold every word of `query`; none for no words.

        Words in double quotes must be adjacent, as must a run of Chinese, Japanese or Korean characters. The
        last word also matches as a prefix. All other characters of `query` separate words. `report` is called
        every moment while entries are indexed first, and may raise.
        """
        if conversation_id is not None:
            self.conversation(conversation_id)
        terms = terms_of(query)
        if not terms:
            return []
        scope = Scope(conversation_id, workspace_uri)
        self.make_searchable(scope, report)
        return self._database.read(
            lambda connection: searching.search(self._database.index, connection, terms, scope, limit)
        )

    def recall_postings(
        self, stems: Sequence[str], where: recalling.Where, most: int
    ) -> list[recalling.Postings]:
        """For each stem, or several that follow one another, set apart by spaces, the newest `most` pieces
        that hold it, of entries that were made searchable.
        """
        return self._database.read(
            lambda connection: recalling.postings(self._database.pieces, connection, stems, where, most)
        )

    def make_searchable(self, scope: Scope, report: Report = lambda _done, _total: None) -> None:
        """Indexes what is stored in `scope`, the newest conversations first.

        What cannot be indexed, for damage or because nothing can be written, is passed over. `report` is
        called every moment and may raise; what was indexed before stays.
        """
        try:
            self._indexer.catch_up(scope, report)
        except StoreDamagedError:
            pass
        except StorageFailedError as error:
            if not is_unwritable(error):
                raise

    def _read(self, work: Work[T]) -> T:
        return self._database.read(work)

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

    def extending(self, conversation_id: str) -> ExtendWriter:
        """Adds entries that bring their own parents, as a transcript that grows has them."""
        return ExtendWriter(self._database, self._server_id, conversation_id)

    def together(self) -> AbstractContextManager[None]:
        """What this thread imports and extends in the block is durable when it ends, all or none of it."""
        return self._database.together()

    def note_entries(self) -> None:
        """Entries were added that are to be made searchable in the background."""
        self._indexer.note()

    def changes(self) -> list[StoredChange]:
        """What other servers on this store changed since the last call, or since it was opened."""
        with self._changes_lock:
            if not self._database.changed_elsewhere():
                return []
            changes, self._seen_change = self._database.read(
                lambda connection: change_log.changes_since(connection, self._server_id, self._seen_change)
            )
            return changes

    def _give_up(self, writer: ImportWriter) -> None:
        try:
            writer.abandon()
        except StorageFailedError:
            # Whoever opens the store later purges it.
            return
        self._purger.wake()
