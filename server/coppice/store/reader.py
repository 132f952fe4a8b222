"""What can be read from a store."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import partial, wraps
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection

from coppice.store.engines.engine import Work
from coppice.store.schema.errors import translated
from coppice.store.schema.records import NewRecord
from coppice.store.search import recalling, sessions
from coppice.store.tree import annotations, paging, path_ends, paths
from coppice.store.tree import conversations as conversation_rows
from coppice.store.tree import listing as tree_listing
from coppice.store.tree import outline as outlines
from coppice.tree.entries import Entry

P = ParamSpec("P")
T = TypeVar("T")


def _read_method(
    query: Callable[Concatenate[Connection, P], T],
) -> Callable[Concatenate["StoreReader", P], T]:
    """The method that returns what `query` reads from one state of the store."""

    @wraps(query)
    def method(self: "StoreReader", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._read(lambda connection: query(connection, *args, **kwargs))

    return method


class StoreReader(ABC):
    """Reads conversations, each call from one state of the store: the newest, or that of a snapshot.

    Every method raises `StorageFailedError` when the database fails, and those that take an id
    `UnknownConversationError` or `UnknownEntryError`.
    """

    @abstractmethod
    def _read(self, work: Work[T]) -> T: ...

    conversation = _read_method(conversation_rows.conversation)
    conversations = _read_method(conversation_rows.conversations)

    end = _read_method(path_ends.end)
    rows = _read_method(paths.rows)
    entries = _read_method(paths.entries)
    page = _read_method(paging.page)
    entry = _read_method(paths.entry)
    ancestor_depth = _read_method(path_ends.ancestor_depth)
    common_ancestor = _read_method(path_ends.common_ancestor)
    compaction = _read_method(paths.compaction)
    stored_ledger = _read_method(paths.stored_ledger)

    attached = _read_method(annotations.attached)
    root_metadata = _read_method(annotations.root_metadata)
    pins = _read_method(annotations.pins)
    labels_and_pins = _read_method(annotations.labels_and_pins)

    tree = _read_method(tree_listing.tree)
    outline = _read_method(outlines.outline)
    branch_end = _read_method(outlines.branch_end)

    key_of = _read_method(recalling.key_of)
    recall_newest = _read_method(recalling.newest)
    recall_on_path = _read_method(recalling.on_path)
    recall_rows = _read_method(recalling.rows)
    recall_parents_and_roles = _read_method(recalling.parents_and_roles)
    recall_neighbours = _read_method(recalling.neighbours)

    extent = _read_method(sessions.extent)
    named_conversations = _read_method(sessions.named)
    conversations_without = _read_method(sessions.without)
    newest_conversations = _read_method(sessions.newest)
    entries_named = _read_method(sessions.entries_named)

    def all_entries(self, conversation_id: str) -> Iterator[Entry]:
        """Every entry of the tree in append order, in pages: all from one state in a snapshot only."""
        return (record.entry for record in self.all_records(conversation_id))

    def all_records(self, conversation_id: str) -> Iterator[NewRecord]:
        """The same entries as stored, with sizes and ledgers, as an import into another store needs them."""
        key = self._read(lambda connection: path_ends.conversation_key(connection, conversation_id))
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
