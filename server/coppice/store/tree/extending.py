"""Adds to a stored conversation what another program's file has grown by."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection

from coppice.store.engines.engine import Database
from coppice.store.schema.entry_json import body_of, readable_body, same_body, storable
from coppice.store.schema.records import NewRecord, PathEnd
from coppice.store.tree.append import known_entries, open_conversation, set_leaf, update_conversation
from coppice.store.tree.changes import record_change
from coppice.store.tree.importing import leading_on
from coppice.store.tree.path_ends import conversation_key, entry_end, unknown_entry
from coppice.tree.entries import HARNESS_TYPE, METADATA_TYPES, ContextEditEntry, Entry

Stored = tuple[str | None, str, str]
"""The parent's id, the type and the body of a stored entry."""

_COPIES: Final = range(2, 6)
"""An entry that changes more often than this stays as it was stored last. A guess."""
_MARKS: Final = {"denied", "answered", "answer", "pi.denied", "pi.answered"}
"""`details` of a result that say, or do not, that the user has spoken."""


class ExtendWriter:
    """Stores entries that bring their own `parent_id`: None, or any earlier entry of the conversation.

    An entry that is stored already is passed over. One that is stored with other content, or elsewhere, gets
    another id, under which what follows refers to it; the stored one stays. One that only another author is
    given to is passed over: a later version of a reader may know better. `renamed` has such ids, `stored`
    counts what was new. Each call of `add` is a transaction of its own.
    """

    def __init__(self, database: Database, origin: str, conversation_id: str) -> None:
        self.renamed: dict[str, str] = {}
        self.stored = 0
        self._database = database
        self._origin = origin
        self._id = conversation_id

    def fresh(self, entries: Sequence[Entry]) -> list[Entry]:
        """Those of `entries`, parents before children, that `add` would store, under the ids that they get.

        Raises UnknownConversationError when the conversation was deleted.
        """
        stored_entries = self._database.read(lambda connection: self._known(connection, entries))
        fresh: list[Entry] = []
        for each in entries:
            entry = _with_new_ids(each, self.renamed)
            body = body_of(entry)
            entry_id = _free_id(entry, body, stored_entries)
            if entry_id != each.id:
                self.renamed[each.id] = entry_id
                entry = entry.model_copy(update={"id": entry_id})
            if entry_id not in stored_entries:
                stored_entries[entry_id] = (entry.parent_id, entry.type, body)
                fresh.append(entry)
        return fresh

    def add(self, records: Sequence[NewRecord]) -> None:
        """Stores what `fresh` gave, durable on return.

        Raises:
            UnknownConversationError: the conversation was deleted.
            UnknownEntryError: a parent is not among the earlier entries.
        """
        if records:
            self.stored += self._database.write(lambda connection: self._place(connection, records))

    def end(self, entry_id: str) -> PathEnd:
        """The path to an entry."""
        return self._database.read(
            lambda connection: entry_end(
                connection,
                conversation_key(connection, self._id),
                self._id,
                self.renamed.get(entry_id, entry_id),
            )
        )

    def move_leaf(self, entry_id: str | None, *, expected: str | None, modified_at: str) -> bool:
        """Makes an entry the leaf. Raises StaleLeafError where the leaf is not the `expected` one."""
        return self._database.write(
            lambda connection: set_leaf(
                self._database,
                connection,
                self._origin,
                self._id,
                entry_id,
                expected_leaf_id=expected,
                modified_at=modified_at,
            )
        )

    def _known(self, connection: Connection, entries: Sequence[Entry]) -> dict[str, Stored]:
        ids = [entry.id for entry in entries]
        copies = [f"{entry_id}~{number}" for entry_id in ids for number in _COPIES]
        return known_entries(connection, conversation_key(connection, self._id), [*ids, *copies])

    def _place(self, connection: Connection, records: Sequence[NewRecord]) -> int:
        conversation = open_conversation(self._database, connection, self._id, len(records))
        stored_entries = known_entries(connection, conversation.key, [record.entry.id for record in records])
        entry_writer = conversation.writer(connection)
        on_path = leading_on(records)
        stored = 0
        for record in records:
            entry = record.entry
            if entry.id in stored_entries:  # another process was faster
                continue
            parent = None if entry.parent_id is None else entry_writer.find(entry.parent_id)
            if parent is None and entry.parent_id is not None:
                raise unknown_entry(entry.parent_id)
            annotation = entry.type in METADATA_TYPES and entry.id not in on_path
            entry_writer.place(record, body_of(entry), parent, annotation=annotation, lenient=True)
            stored += 1
        entry_writer.flush()
        if stored:
            modified_at = storable(records[-1].entry.timestamp)
            update_conversation(connection, conversation, entry_writer, stored, modified_at)
            record_change(self._database, connection, self._origin, self._id, entry_writer.kinds)
        return stored


def _free_id(entry: Entry, body: str, stored_entries: dict[str, Stored]) -> str:
    """The id under which the entry is stored or can be: its own where that is not taken by another."""
    entry_id = entry.id
    for number in _COPIES:
        stored = stored_entries.get(entry_id)
        if stored is None or (stored[0] == entry.parent_id and _is_same(stored, entry.type, body)):
            return entry_id
        entry_id = f"{entry.id}~{number}"
    return entry_id


def _is_same(stored: Stored, type_: str, body: str) -> bool:
    _, stored_type, stored_body = stored
    if stored_type == type_:
        return same_body(stored_body, body) or _without_marks(stored_body) == _without_marks(body)
    content = _content_sent(stored_body)
    return content is not None and content == _content_sent(body)


def _content_sent(body: str) -> object:
    """The content of what the user or the harness sent; None for anything else."""
    value = readable_body(body)
    if value.get("customType") == HARNESS_TYPE:
        return value.get("content")
    message = value.get("message")
    return message.get("content") if isinstance(message, dict) and message.get("role") == "user" else None


def _without_marks(body: str) -> dict[str, Any]:
    value = readable_body(body)
    message = value.get("message")
    if not isinstance(message, dict):
        return value
    details = message.get("details")
    if isinstance(details, dict):
        details = {key: each for key, each in details.items() if key not in _MARKS} or None
    return {**value, "message": {**message, "details": details}}


def _with_new_ids(entry: Entry, renamed: dict[str, str]) -> Entry:
    if not renamed:
        return entry
    names = ("parent_id", "first_kept_entry_id", "target_id", "from_id")
    changed = {
        name: renamed[value]
        for name in names
        if isinstance(value := getattr(entry, name, None), str) and value in renamed
    }
    if isinstance(entry, ContextEditEntry):
        return entry.model_copy(update={**changed, "cleared": [renamed.get(e, e) for e in entry.cleared]})
    return entry.model_copy(update=changed) if changed else entry
