"""Imports a conversation of any size, in pieces, out of sight until it is whole."""

import time
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection, bindparam, select, update

from coppice.errors import ImportPausedError
from coppice.store.engines.engine import Database
from coppice.store.schema.entry_json import showable, storable
from coppice.store.schema.records import LEAF, EntryRef, NewConversation, NewRecord, PathEnd
from coppice.store.schema.tables import CONVERSATION
from coppice.store.tree.append import sort_out
from coppice.store.tree.changes import record_change
from coppice.store.tree.conversations import check_id_is_free, insert_conversation
from coppice.store.tree.entry_writer import EntryWriter
from coppice.store.tree.path_ends import entry_end, unknown_entry
from coppice.tree.entries import METADATA_TYPES

BATCH: Final = 1000
"""The most entries that one transaction stores."""


class ImportWriter:
    """Stores the entries of an import.

    Every entry brings its own `parent_id`: None, or any earlier entry, metadata too.
    """

    def __init__(self, database: Database, new: NewConversation) -> None:
        self._database = database
        self._new = new
        self._last: PathEnd | None = None
        self._leaf: EntryRef | None = LEAF
        self._count = 0
        self._first_message: str | None = None
        self._name = None if new.name is None else showable(new.name)
        self._key = database.write(
            lambda connection: insert_conversation(connection, new, import_seen=int(time.time()))
        )

    def add(self, records: Sequence[NewRecord]) -> None:
        """Stores entries, durable on return; an entry that is stored already is skipped.

        Metadata with a descendant that is not metadata is on the path; other metadata is an annotation. A
        label or pin whose target does not exist is stored without effect.

        Raises:
            UnknownEntryError: a parent is not among the earlier entries.
            IdConflictError: an id is in use for other content.
            ImportPausedError: the import paused for so long that it is being removed.
        """
        for start in range(0, len(records), BATCH):
            self._add(records[start : start + BATCH])

    def leaf(self, entry_id: str | None) -> None:
        """Sets the leaf of the conversation; without this call it is the last entry added."""
        self._leaf = entry_id

    def end(self, entry_id: str) -> PathEnd:
        """The path to an entry that was added, for reads while the import goes on."""
        return self._database.read(lambda connection: self._end(connection, entry_id))

    def finish(self, origin: str, modified_at: str) -> None:
        """Makes the conversation visible. Raises ImportPausedError as `add` does."""

        def show(connection: Connection) -> None:
            self._update(connection, import_seen=int(time.time()))  # or the leaf may be purged
            check_id_is_free(connection, self._new.id)
            leaf = None if self._leaf is None else self._last
            if isinstance(self._leaf, str):
                leaf = self._end(connection, self._leaf)
            self._update(
                connection,
                id=storable(self._new.id),
                leaf_key=None if leaf is None else leaf.key,
                modified_at=storable(modified_at),
                entry_count=self._count,
                first_message=self._first_message,
                name=self._name,
                import_seen=None,
            )
            record_change(self._database, connection, origin, self._new.id, ["created"])

        self._database.write(show)

    def abandon(self) -> None:
        """Leaves the conversation to the purger."""
        values = {"importing": self._key, "import_seen": None}
        self._database.write(lambda connection: connection.execute(_UPDATE, values))

    def _add(self, records: Sequence[NewRecord]) -> None:
        entry_writer, last, stored = self._database.write(lambda connection: self._place(connection, records))
        self._last = last
        self._count += stored
        self._first_message = self._first_message or entry_writer.first_message
        for name in entry_writer.names:
            self._name = name

    def _place(
        self, connection: Connection, records: Sequence[NewRecord]
    ) -> tuple[EntryWriter, PathEnd | None, int]:
        """What was placed, the path to the last entry given, and how many entries were stored."""
        self._update(connection, import_seen=int(time.time()))
        fresh, stored_ends = sort_out(connection, self._key, self._new.id, records)
        stored = len(fresh)
        reserved = connection.execute(select(self._database.next_keys), {"count": stored}).scalar()
        keys = self._database.keys(reserved, stored)
        entry_writer = EntryWriter(connection, self._key, self._new.id, keys)
        on_path = leading_on(records)
        last = self._last
        for record in records:
            entry = record.entry
            body = fresh.pop(entry.id, None)
            if body is None:
                last = stored_ends.get(entry.id) or entry_writer.find(entry.id)
                continue
            parent = None
            if entry.parent_id is not None:
                parent = entry_writer.find(entry.parent_id)
                if parent is None:
                    raise unknown_entry(entry.parent_id)
            annotation = entry.type in METADATA_TYPES and entry.id not in on_path
            last = entry_writer.place(record, body, parent, annotation=annotation, lenient=True)
        entry_writer.flush()
        return entry_writer, last, stored

    def _end(self, connection: Connection, entry_id: str) -> PathEnd:
        return entry_end(connection, self._key, self._new.id, entry_id)

    def _update(self, connection: Connection, **values: Any) -> None:
        updated = connection.execute(_UPDATE, {"importing": self._key, **values})
        if updated.rowcount == 0:
            raise ImportPausedError(
                "What was being stored paused for too long, by the clock of a server on this store, and was "
                "given up. Start it again; if that does not help, compare the clocks of the machines."
            )


def leading_on(records: Sequence[NewRecord]) -> set[str]:
    """The ids of the metadata entries with a descendant among `records` that is not metadata.

    Other metadata gets a run of its own, which a message below would turn into an ordinary one: the same
    tree, and four times the processor's time where every second entry leads on.
    """
    leading: set[str] = set()
    for record in reversed(records):
        entry = record.entry
        if entry.parent_id is not None and (entry.type not in METADATA_TYPES or entry.id in leading):
            leading.add(entry.parent_id)
    return leading


_UPDATE: Final = update(CONVERSATION).where(
    CONVERSATION.c.key == bindparam("importing"),
    CONVERSATION.c.id.is_(None),
    CONVERSATION.c.import_seen.is_not(None),
)
"""Of an import that nobody has taken for dead."""
