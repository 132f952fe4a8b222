"""The rules of an append: chains, branches, safe retries, the leaf."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, bindparam, select, update

from coppice.errors import IdConflictError, StaleLeafError, StoreDamagedError, UnknownConversationError
from coppice.store.engines.engine import Database
from coppice.store.engines.prepared import execute
from coppice.store.schema.entry_json import body_of, same_body, storable
from coppice.store.schema.errors import DAMAGED
from coppice.store.schema.records import (
    LEAF,
    Appended,
    CompactionRecord,
    ConversationRecord,
    EntryRef,
    ModelChoice,
    NewRecord,
    PathEnd,
)
from coppice.store.schema.tables import COMPACTION, CONVERSATION, ENTRY_TABLE, RUN
from coppice.store.tree.changes import record_change
from coppice.store.tree.conversations import record_of
from coppice.store.tree.entry_writer import EntryWriter
from coppice.store.tree.path_ends import END_COLUMNS, entry_end, path_end, unknown_conversation
from coppice.store.tree.paths import COMPACTION_COLUMNS, CUT, compaction, compaction_record
from coppice.store.tree.run_writer import OPEN_RUN
from coppice.tree.entries import METADATA_TYPES

_IDS_A_QUERY: Final = 500  # parameters; SQLite allowed 999 before 3.32


@dataclass(frozen=True, slots=True)
class OpenConversation:
    """A conversation as the transaction that writes to it found it; no other one writes to it."""

    key: int
    record: ConversationRecord
    leaf: PathEnd | None
    compaction: CompactionRecord | None
    leaf_run: Sequence[Any] | None
    keys: Sequence[int]

    @property
    def id(self) -> str:
        """Its id on the wire."""
        return self.record.id

    @property
    def leaf_id(self) -> str | None:
        """The leaf's id; None in an empty conversation."""
        return None if self.leaf is None else self.leaf.id

    def writer(self, connection: Connection) -> EntryWriter:
        """Places the new entries for which keys were reserved."""
        return EntryWriter(connection, self.key, self.id, self.keys, self.leaf_run)


def append(
    database: Database,
    connection: Connection,
    origin: str,
    conversation_id: str,
    records: Sequence[NewRecord],
    *,
    parent_id: EntryRef | None = LEAF,
    expected_leaf_id: EntryRef | None = LEAF,
    modified_at: str,
    choice: ModelChoice | None = None,
) -> Appended:
    """Stores all entries, each under the one before it, or none.

    The first one's parent is `parent_id`; None makes a new root, an entry with children a new branch.
    Metadata hangs at the entry before it and is nobody's parent; the leaf becomes the last entry
    stored that is no metadata. An entry whose id, type and content are stored already is passed over:
    what follows it goes on from the path that it is on. `choice` is the conversation's from then on.
    `origin` is the id of the server that appends.

    Raises:
        StaleLeafError: something would be stored, and `expected_leaf_id` (None: no leaf) was given and
            is not the leaf. `data` has `leafId`.
        IdConflictError: an id is in use for other content.
        StoreDamagedError: as for `open_conversation`, at the leaf and at the parent.
    """
    conversation = open_conversation(database, connection, conversation_id, len(records))
    fresh, stored_ends = sort_out(connection, conversation.key, conversation_id, records)
    entry_ids = [record.entry.id for record in records]
    if not fresh:
        return Appended(
            entry_ids, [], conversation.record, conversation.leaf, conversation.compaction, leaf_moved=False
        )
    _check_leaf(conversation, expected_leaf_id)
    position = _stored(connection, conversation, parent_id)
    entry_writer = conversation.writer(connection)
    leaf = conversation.leaf
    for record in _once_each(records):
        entry = record.entry
        metadata = entry.type in METADATA_TYPES
        if entry.id in fresh:
            placed = entry_writer.place(record, fresh[entry.id], position, annotation=metadata)
            if not metadata:
                leaf = position = placed
        elif not metadata and not entry_writer.on_path(stored_ends[entry.id], position):
            position = stored_ends[entry.id]
    entry_writer.flush()
    moved = leaf is not conversation.leaf
    update_conversation(
        connection,
        conversation,
        entry_writer,
        len(fresh),
        storable(modified_at),
        leaf=leaf if moved else None,
        choice=choice,
    )
    kinds = entry_writer.kinds | ({"leaf"} if moved else set()) | ({"model"} if choice else set())
    record_change(database, connection, origin, conversation_id, kinds)
    newest = _newest_compaction(connection, conversation, leaf, entry_writer.kinds)
    return Appended(entry_ids, list(fresh), conversation.record, leaf, newest, leaf_moved=moved)


def set_leaf(
    database: Database,
    connection: Connection,
    origin: str,
    conversation_id: str,
    entry_id: str | None,
    *,
    expected_leaf_id: EntryRef | None = LEAF,
    modified_at: str,
) -> bool:
    """Makes an entry, or with None nothing, the leaf; false when it was already.

    `origin` is the id of the server that moves it.

    Raises:
        StaleLeafError: as for `append`.
    """
    conversation = open_conversation(database, connection, conversation_id)
    _check_leaf(conversation, expected_leaf_id)
    leaf = _stored(connection, conversation, entry_id)
    if entry_id == conversation.leaf_id:
        return False
    values = {"open": conversation.key, "leaf_key": None if leaf is None else leaf.key}
    connection.execute(_UPDATE, {**values, "modified_at": modified_at})
    record_change(database, connection, origin, conversation_id, ["leaf"])
    return True


def open_conversation(
    database: Database, connection: Connection, conversation_id: str, count: int = 0
) -> OpenConversation:
    """The conversation's row and leaf, locked for this transaction, with keys for `count` new entries.

    Raises:
        UnknownConversationError: no conversation has the id.
        StoreDamagedError: the row of the leaf, or of the newest compaction before it, is gone.
    """
    database.lock_conversation(connection, conversation_id)
    statement = _open_statement(database.next_keys)
    row = connection.execute(statement, {"id": storable(conversation_id), "count": count}).one_or_none()
    if row is None:
        raise unknown_conversation(conversation_id)
    columns = iter(row[len(CONVERSATION.c) :])
    end, run, cut = ([*islice(columns, len(part))] for part in (END_COLUMNS, OPEN_RUN, COMPACTION_COLUMNS))
    if end[0] is None and row.leaf_key is not None:
        raise StoreDamagedError(DAMAGED)
    leaf = None if end[0] is None else path_end(conversation_id, end)
    if leaf is not None and leaf.compaction_key is not None and cut[0] is None:
        raise StoreDamagedError(DAMAGED)
    return OpenConversation(
        row.key,
        record_of(row, None if leaf is None else leaf.id),
        leaf,
        compaction=None if cut[0] is None else compaction_record(cut),
        leaf_run=None if run[0] is None else run,
        keys=database.keys(row.next_keys, count),
    )


def sort_out(
    connection: Connection, conversation: int, conversation_id: str, records: Sequence[NewRecord]
) -> tuple[dict[str, str], dict[str, PathEnd]]:
    """Which records are new, with their bodies, and which are stored already.

    Raises:
        IdConflictError: an id is in use for other content, in the store or in this call.
    """
    bodies: dict[str, tuple[str, str]] = {}
    for record in records:
        type_and_body = (record.entry.type, body_of(record.entry))
        _check_same(record.entry.id, type_and_body, bodies.setdefault(record.entry.id, type_and_body))
    stored_ends: dict[str, PathEnd] = {}
    sought = list(dict.fromkeys(record.entry.id for record in records if not record.new_id))
    for row in _rows(connection, conversation, sought):
        _check_same(row.id, bodies[row.id], (row.type, row.body))
        stored_ends[row.id] = path_end(conversation_id, row)
    fresh = {entry_id: body for entry_id, (_, body) in bodies.items() if entry_id not in stored_ends}
    return fresh, stored_ends


def known_entries(
    connection: Connection, conversation: int, ids: Sequence[str]
) -> dict[str, tuple[str | None, str, str]]:
    """The parent's id, the type and the body of each entry of `ids` that is stored."""
    rows = _rows(connection, conversation, ids, _WITH_PARENT)
    return {row.id: (row.parent_id, row.type, row.body) for row in rows}


def _rows(
    connection: Connection, conversation: int, ids: Sequence[str], query: Select[Any] | None = None
) -> Iterator[Any]:
    for start in range(0, len(ids), _IDS_A_QUERY):
        some = {"conversation": conversation, "ids": ids[start : start + _IDS_A_QUERY]}
        yield from connection.execute(_KNOWN if query is None else query, some)


def _check_same(entry_id: str, new: tuple[str, str], old: tuple[str, str]) -> None:
    if new[0] != old[0] or not same_body(new[1], old[1]):
        raise IdConflictError(
            "The entry's id is taken by an entry with other content. Nothing was stored.", entryId=entry_id
        )


def _check_leaf(conversation: OpenConversation, expected: EntryRef | None) -> None:
    if expected is not LEAF and expected != conversation.leaf_id:
        raise StaleLeafError(
            "The conversation has moved on since you last looked. Read it again, then repeat the request.",
            leafId=conversation.leaf_id,
        )


def _stored(
    connection: Connection, conversation: OpenConversation, entry_id: EntryRef | None
) -> PathEnd | None:
    if not isinstance(entry_id, str):
        return None if entry_id is None else conversation.leaf
    return entry_end(connection, conversation.key, conversation.id, entry_id)


def _newest_compaction(
    connection: Connection, conversation: OpenConversation, leaf: PathEnd | None, kinds: Collection[str]
) -> CompactionRecord | None:
    before = None if conversation.leaf is None else conversation.leaf.compaction_key
    if leaf is None or (leaf.compaction_key == before and "pins" not in kinds):
        return conversation.compaction
    try:
        return compaction(connection, leaf)
    except UnknownConversationError as error:
        raise StoreDamagedError(DAMAGED) from error


def _once_each(records: Iterable[NewRecord]) -> Iterable[NewRecord]:
    first: dict[str, NewRecord] = {}
    for record in records:
        first.setdefault(record.entry.id, record)
    return first.values()


def update_conversation(
    connection: Connection,
    conversation: OpenConversation,
    entry_writer: EntryWriter,
    stored: int,
    modified_at: str,
    *,
    leaf: PathEnd | None = None,
    choice: ModelChoice | None = None,
) -> None:
    """What the list of conversations shows of the `stored` new entries, the leaf if it moves, the choice."""
    values: dict[str, Any] = {"open": conversation.key, "modified_at": modified_at}
    if leaf is not None:
        values["leaf_key"] = leaf.key
    if entry_writer.first_message is not None and conversation.record.first_message is None:
        values["first_message"] = entry_writer.first_message
    for name in entry_writer.names:
        values["name"] = name
    if choice is not None:
        values |= {"model": choice.model, "thinking_level": choice.thinking_level}
    execute(connection, _COUNT, {**values, "stored": stored})


@cache
def _open_statement(next_keys: ColumnElement[Any]) -> Select[Any]:
    return (
        select(CONVERSATION, *END_COLUMNS, *OPEN_RUN, *COMPACTION_COLUMNS, next_keys.label("next_keys"))
        .select_from(
            CONVERSATION.outerjoin(ENTRY_TABLE, ENTRY_TABLE.c.key == CONVERSATION.c.leaf_key)
            .outerjoin(RUN, RUN.c.key == ENTRY_TABLE.c.run)
            .outerjoin(COMPACTION, COMPACTION.c.entry_key == ENTRY_TABLE.c.compaction_key)
            .outerjoin(CUT, CUT.c.key == COMPACTION.c.entry_key)
        )
        .where(CONVERSATION.c.id == bindparam("id"))
    )


_KNOWN: Final = select(*END_COLUMNS, ENTRY_TABLE.c.body).where(
    ENTRY_TABLE.c.conversation_key == bindparam("conversation"),
    ENTRY_TABLE.c.id.in_(bindparam("ids", expanding=True)),
)
_PARENT: Final = ENTRY_TABLE.alias("parent")
_WITH_PARENT: Final = (
    select(ENTRY_TABLE.c.id, ENTRY_TABLE.c.type, ENTRY_TABLE.c.body, _PARENT.c.id.label("parent_id"))
    .outerjoin(_PARENT, _PARENT.c.key == ENTRY_TABLE.c.parent_key)
    .where(
        ENTRY_TABLE.c.conversation_key == bindparam("conversation"),
        ENTRY_TABLE.c.id.in_(bindparam("ids", expanding=True)),
    )
)
_UPDATE: Final = update(CONVERSATION).where(CONVERSATION.c.key == bindparam("open"))
_COUNT: Final = _UPDATE.values(entry_count=CONVERSATION.c.entry_count + bindparam("stored"))
