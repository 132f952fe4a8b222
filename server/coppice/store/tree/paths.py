"""Reads along a path. The cost follows the entries that are asked for, not the length of the path."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Executable, and_, bindparam, exists, select

from coppice.store.schema.entry_json import entry_from, storable
from coppice.store.schema.records import CompactionRecord, EntryRow, NewRecord, PathEnd
from coppice.store.schema.tables import COMPACTION, ENTRY_TABLE, PIN
from coppice.store.tree.path_ends import conversation_key, end_at, unknown_conversation, unknown_entry
from coppice.store.tree.runs import exits, segments
from coppice.tokens.size import Size
from coppice.tree.entries import Entry

_RECORDS_A_READ: Final = 200  # entries: some hundred kilobytes
PARENT: Final = ENTRY_TABLE.alias("parent")
ENTRY_COLUMNS: Final[tuple[ColumnElement[Any], ...]] = (
    ENTRY_TABLE.c.id,
    PARENT.c.id.label("parent_id"),
    ENTRY_TABLE.c.timestamp,
    ENTRY_TABLE.c.type,
    ENTRY_TABLE.c.body,
)
WITH_PARENT: Final = ENTRY_TABLE.outerjoin(PARENT, PARENT.c.key == ENTRY_TABLE.c.parent_key)


def rows(connection: Connection, end: PathEnd, from_depth: int, to_depth: int) -> list[EntryRow]:
    """The path's entries from one depth to another, both included, root first, without content."""
    path_rows = _rows(connection, _ROWS, end, from_depth, to_depth)
    return [
        EntryRow(row.id, row.depth, row.type, row.role, Size(*row[4:6]), row.timestamp) for row in path_rows
    ]


def entries(connection: Connection, end: PathEnd, from_depth: int, to_depth: int) -> list[Entry]:
    """The same with content."""
    return [entry for entry, _ in sized_entries(connection, end, from_depth, to_depth)]


def sized_entries(
    connection: Connection, end: PathEnd, from_depth: int, to_depth: int
) -> list[tuple[Entry, int]]:
    """The same, each with the characters that are stored of it."""
    path_rows = _rows(connection, _ENTRIES, end, from_depth, to_depth)
    return [(entry_from(*row), len(row.body)) for row in path_rows]


def entry(connection: Connection, conversation_id: str, entry_id: str) -> Entry:
    """One entry. Raises UnknownConversationError and UnknownEntryError."""
    key = conversation_key(connection, conversation_id)
    row = connection.execute(_ENTRY, {"conversation": key, "id": storable(entry_id)}).one_or_none()
    if row is None:
        raise unknown_entry(entry_id)
    return entry_from(*row)


def records_after(
    connection: Connection, *, conversation: int, after_key: int
) -> list[tuple[int, NewRecord]]:
    """The next entries of a conversation in append order, each with its key, as they were stored."""
    rows = connection.execute(_NEXT_RECORDS, {"conversation": conversation, "after_key": after_key})
    return [
        (
            row.key,
            NewRecord(
                entry_from(*row[:5]),
                Size(row.size_tokenizer, row.size_estimate),
                None if row.ledger is None else json.loads(row.ledger),
            ),
        )
        for row in rows
    ]


def compaction(connection: Connection, end: PathEnd) -> CompactionRecord | None:
    """The newest compaction on the path, `end` included."""
    if end.compaction_key is None:
        return None
    row = connection.execute(_COMPACTION, {"key": end.compaction_key}).one_or_none()
    if row is None:
        raise unknown_conversation(end.conversation_id)
    return compaction_record(row)


def compaction_record(row: Sequence[Any]) -> CompactionRecord:
    """The compaction in a row of `COMPACTION_COLUMNS`."""
    entry_id, depth, kept_depth, first_kept, has_pins, *sizes = row
    return CompactionRecord(
        entry_id=entry_id,
        depth=depth,
        kept_depth=kept_depth,
        first_kept_entry_id=first_kept,
        size=Size(*sizes[:2]),
        total=Size(*sizes[2:4]),
        before_kept=Size(*sizes[4:]),
        has_pins=has_pins,
    )


def stored_ledger(connection: Connection, end: PathEnd) -> dict[str, Any] | None:
    """The files that the newest compaction on the path was stored with, as JSON values."""
    if end.compaction_key is None:
        return None
    row = connection.execute(_LEDGER, {"key": end.compaction_key}).one_or_none()
    if row is None:
        raise unknown_conversation(end.conversation_id)
    return None if row.ledger is None else json.loads(row.ledger)


def _rows(
    connection: Connection, statement: Executable, end: PathEnd, from_depth: int, to_depth: int
) -> Iterator[Any]:
    low, high = max(from_depth, 0), min(to_depth, end.depth)
    missing = max(high - low + 1, 0)
    for segment in segments(connection, end.run, end.depth, low, high):
        for row in connection.execute(statement, segment._asdict()):
            missing -= 1
            yield row
    # The end may outlive its conversation, which is purged piece by piece.
    if missing:
        raise unknown_conversation(end.conversation_id)


_IN_CONVERSATION: Final = ENTRY_TABLE.c.conversation_key == bindparam("conversation")
_IN_RANGE: Final = and_(
    ENTRY_TABLE.c.run == bindparam("run"), ENTRY_TABLE.c.depth.between(bindparam("low"), bindparam("high"))
)
_ROWS: Final = (
    select(
        ENTRY_TABLE.c.id,
        ENTRY_TABLE.c.depth,
        ENTRY_TABLE.c.type,
        ENTRY_TABLE.c.role,
        ENTRY_TABLE.c.size_tokenizer,
        ENTRY_TABLE.c.size_estimate,
        ENTRY_TABLE.c.timestamp,
    )
    .where(_IN_RANGE)
    .order_by(ENTRY_TABLE.c.depth)
)
_ENTRIES: Final = (
    select(*ENTRY_COLUMNS).select_from(WITH_PARENT).where(_IN_RANGE).order_by(ENTRY_TABLE.c.depth)
)
_ENTRY: Final = (
    select(*ENTRY_COLUMNS)
    .select_from(WITH_PARENT)
    .where(_IN_CONVERSATION, ENTRY_TABLE.c.id == bindparam("id"))
)
_NEXT_RECORDS: Final = (
    select(
        *ENTRY_COLUMNS,
        ENTRY_TABLE.c.key,
        ENTRY_TABLE.c.size_tokenizer,
        ENTRY_TABLE.c.size_estimate,
        COMPACTION.c.ledger,
    )
    .select_from(WITH_PARENT.outerjoin(COMPACTION, COMPACTION.c.entry_key == ENTRY_TABLE.c.key))
    .where(_IN_CONVERSATION, ENTRY_TABLE.c.key > bindparam("after_key"))
    .order_by(ENTRY_TABLE.c.key)
    .limit(_RECORDS_A_READ)
)
CUT: Final = ENTRY_TABLE.alias("cut")
"""The entry of a row of `COMPACTION`."""
COMPACTION_COLUMNS: Final[tuple[ColumnElement[Any], ...]] = (
    CUT.c.id,
    CUT.c.depth,
    COMPACTION.c.kept_depth,
    COMPACTION.c.first_kept_entry_id,
    exists().where(PIN.c.conversation_key == COMPACTION.c.conversation_key),
    CUT.c.size_tokenizer,
    CUT.c.size_estimate,
    CUT.c.total_tokenizer,
    CUT.c.total_estimate,
    COMPACTION.c.before_kept_tokenizer,
    COMPACTION.c.before_kept_estimate,
)
_COMPACTION: Final = select(*COMPACTION_COLUMNS).where(
    COMPACTION.c.entry_key == bindparam("key"), CUT.c.key == COMPACTION.c.entry_key
)
_LEDGER: Final = select(COMPACTION.c.ledger).where(COMPACTION.c.entry_key == bindparam("key"))


_LEVELS_APART: Final = 64
"""Runs whose levels lie further apart are looked for one by one: to climb as many takes 0.2 ms, a query in
SQLite 0.07 ms, and PostgreSQL is further away."""


def on_current_paths(connection: Connection, rows: Sequence[Any]) -> set[int]:
    """The keys of those rows, of any conversations, that lie on the path to their conversation's leaf."""
    on_paths: set[int] = set()
    for leaf_key in {row.leaf_key for row in rows if row.leaf_key is not None}:
        some = [row for row in rows if row.leaf_key == leaf_key]
        on_paths |= keys_on_path(connection, some, end_at(connection, some[0].conversation_id, leaf_key))
    return on_paths


def keys_on_path(connection: Connection, rows: Sequence[Any], leaf: PathEnd | None) -> set[int]:
    """The keys of those rows that lie on the path to the leaf."""
    if leaf is None:
        return set()
    leaves_at = {leaf.run: leaf.depth}
    levels = sorted({row.run_depth for row in rows if row.run != leaf.run})
    start = 0
    for index, level in enumerate(levels):
        if index + 1 == len(levels) or levels[index + 1] - level > _LEVELS_APART:
            leaves_at |= exits(connection, leaf.run, leaf.depth, levels[start], level)
            start = index + 1
    return {row.key for row in rows if row.depth <= leaves_at.get(row.run, -1)}
