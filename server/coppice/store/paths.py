"""Reads along a path. The cost follows the entries that are asked for, not the length of the path."""

import json
from collections.abc import Sequence
from typing import Any, Final, TypeVar

from sqlalchemy import ColumnElement, Connection, and_, bindparam, select

from coppice.errors import UnknownConversationError, UnknownEntryError
from coppice.store.entry_json import entry_from, storable
from coppice.store.records import CompactionRecord, EntryRef, EntryRow, NewRecord, PathEnd
from coppice.store.runs import exits, meeting, segments
from coppice.store.schema import COMPACTION, CONVERSATION, ENTRY_TABLE, RUN
from coppice.tokens.size import Size
from coppice.tree.entries import Entry

END_COLUMNS: Final[tuple[ColumnElement[Any], ...]] = (
    ENTRY_TABLE.c.key,
    ENTRY_TABLE.c.id,
    ENTRY_TABLE.c.run,
    ENTRY_TABLE.c.depth,
    ENTRY_TABLE.c.type,
    ENTRY_TABLE.c.total_tokenizer,
    ENTRY_TABLE.c.total_estimate,
    ENTRY_TABLE.c.compaction_key,
    ENTRY_TABLE.c.usage_tokens,
    ENTRY_TABLE.c.since_usage_tokenizer,
    ENTRY_TABLE.c.since_usage_estimate,
)

_T = TypeVar("_T")
_RECORDS_A_READ: Final = 200  # entries (guess)
PARENT: Final = ENTRY_TABLE.alias("parent")
_END: Final = ENTRY_TABLE.alias("path_end")
ENTRY_COLUMNS: Final[tuple[ColumnElement[Any], ...]] = (
    ENTRY_TABLE.c.id,
    PARENT.c.id.label("parent_id"),
    ENTRY_TABLE.c.timestamp,
    ENTRY_TABLE.c.type,
    ENTRY_TABLE.c.body,
)
WITH_PARENT: Final = ENTRY_TABLE.outerjoin(PARENT, PARENT.c.key == ENTRY_TABLE.c.parent_key)


def path_end(conversation_id: str, row: Sequence[Any]) -> PathEnd:
    """The end in a row of `END_COLUMNS`."""
    key, entry_id, run, depth, kind, tokenizer, estimate, compaction_key, usage, since_t, since_e = row[:11]
    return PathEnd(
        conversation_id=conversation_id,
        key=key,
        id=entry_id,
        run=run,
        depth=depth,
        type=kind,
        total=Size(tokenizer, estimate),
        compaction_key=compaction_key,
        usage_tokens=usage,
        since_usage=Size(since_t, since_e),
    )


def conversation_key(connection: Connection, conversation_id: str) -> int:
    """The conversation's row key. Raises UnknownConversationError."""
    key: int | None = connection.execute(_CONVERSATION_KEY, {"id": storable(conversation_id)}).scalar()
    if key is None:
        raise unknown_conversation(conversation_id)
    return key


def unknown_conversation(conversation_id: str) -> UnknownConversationError:
    """The error for a conversation that is not there."""
    return UnknownConversationError(
        "There is no such conversation; it may have been deleted.", conversationId=conversation_id
    )


def unknown_entry(entry_id: str) -> UnknownEntryError:
    """The error for an entry that is not there."""
    return UnknownEntryError("There is no such entry in this conversation.", entryId=entry_id)


def end(connection: Connection, conversation_id: str, leaf: EntryRef | None) -> PathEnd | None:
    """The end of the path to `leaf`; None in an empty conversation. Raises UnknownEntryError."""
    if isinstance(leaf, str):
        key = conversation_key(connection, conversation_id)
        found = find_end(connection, key, conversation_id, leaf)
        if found is None:
            raise unknown_entry(leaf)
        return found
    row = connection.execute(_LEAF_END, {"id": storable(conversation_id)}).one_or_none()
    if row is None:
        raise unknown_conversation(conversation_id)
    return None if leaf is None or row.key is None else path_end(conversation_id, row)


def find_end(connection: Connection, key: int, conversation_id: str, entry_id: str) -> PathEnd | None:
    """The path to the entry `entry_id` of the conversation `key`, if it exists."""
    row = connection.execute(_END_BY_ID, {"conversation": key, "id": storable(entry_id)}).one_or_none()
    return None if row is None else path_end(conversation_id, row)


def rows(connection: Connection, end: PathEnd, from_depth: int, to_depth: int) -> list[EntryRow]:
    """The rows at the depths `[from_depth, to_depth]` of a path, root first, without contents."""
    found = [
        EntryRow(row.id, row.depth, row.type, row.role, Size(*row[4:6]), row.timestamp)
        for segment in segments(connection, end.run, end.depth, max(from_depth, 0), to_depth)
        for row in connection.execute(_ROWS, {"run": segment.run, "low": segment.low, "high": segment.high})
    ]
    return _complete(found, end, from_depth, to_depth)


def entries(connection: Connection, end: PathEnd, from_depth: int, to_depth: int) -> list[Entry]:
    """The entries at the depths `[from_depth, to_depth]` of a path, root first."""
    found = [
        entry_from(*row)
        for segment in segments(connection, end.run, end.depth, max(from_depth, 0), to_depth)
        for row in connection.execute(
            _ENTRIES, {"run": segment.run, "low": segment.low, "high": segment.high}
        )
    ]
    return _complete(found, end, from_depth, to_depth)


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


def ancestor_depth(connection: Connection, end: PathEnd, entry_id: str) -> int | None:
    """The depth of an entry on the path that ends at `end`; None where it is not on it."""
    row = connection.execute(_POSITION_BY_ID, {"key": end.key, "id": storable(entry_id)}).one_or_none()
    if row is None or row.depth > end.depth:
        return None
    if row.run == end.run:
        return int(row.depth)
    found = exits(connection, end.run, end.depth, row.run_depth, row.run_depth)
    return int(row.depth) if row.depth <= found.get(row.run, -1) else None


def common_ancestor(connection: Connection, one: PathEnd, other: PathEnd) -> PathEnd | None:
    """The deepest entry that both paths share; None where they share none."""
    place = meeting(connection, (one.run, one.depth), (other.run, other.depth))
    return None if place is None else _end_in_run(connection, one.conversation_id, *place)


def compaction(connection: Connection, end: PathEnd) -> CompactionRecord | None:
    """The newest compaction on a path; None where there is none."""
    if end.compaction_key is None:
        return None
    row = connection.execute(_COMPACTION, {"key": end.compaction_key}).one_or_none()
    if row is None:
        raise unknown_conversation(end.conversation_id)
    return CompactionRecord(
        entry_id=row.id,
        depth=row.depth,
        kept_depth=row.kept_depth,
        first_kept_entry_id=row.first_kept_entry_id,
        size=Size(row.size_tokenizer, row.size_estimate),
        total=Size(row.total_tokenizer, row.total_estimate),
        before_kept=Size(row.before_kept_tokenizer, row.before_kept_estimate),
        ledger=None if row.ledger is None else json.loads(row.ledger),
    )


def _complete(found: list[_T], end: PathEnd, from_depth: int, to_depth: int) -> list[_T]:
    # The end may outlive its conversation, which is purged piece by piece.
    if len(found) != max(min(to_depth, end.depth) - max(from_depth, 0) + 1, 0):
        raise unknown_conversation(end.conversation_id)
    return found


def _end_in_run(connection: Connection, conversation_id: str, run: int, depth: int) -> PathEnd:
    row = connection.execute(_END_BY_PLACE, {"run": run, "depth": depth}).one_or_none()
    if row is None:
        raise unknown_conversation(conversation_id)
    return path_end(conversation_id, row)


_IN_CONVERSATION: Final = ENTRY_TABLE.c.conversation_key == bindparam("conversation")
CONVERSATION_OF_END: Final = select(_END.c.conversation_key).where(_END.c.key == bindparam("key"))
OF_END: Final = CONVERSATION_OF_END.scalar_subquery()
_IN_RANGE: Final = and_(
    ENTRY_TABLE.c.run == bindparam("run"), ENTRY_TABLE.c.depth.between(bindparam("low"), bindparam("high"))
)

_CONVERSATION_KEY: Final = select(CONVERSATION.c.key).where(CONVERSATION.c.id == bindparam("id"))
_LEAF_END: Final = (
    select(*END_COLUMNS)
    .select_from(CONVERSATION.outerjoin(ENTRY_TABLE, ENTRY_TABLE.c.key == CONVERSATION.c.leaf_key))
    .where(CONVERSATION.c.id == bindparam("id"))
)
_END_BY_ID: Final = select(*END_COLUMNS).where(_IN_CONVERSATION, ENTRY_TABLE.c.id == bindparam("id"))
_END_BY_PLACE: Final = select(*END_COLUMNS).where(
    ENTRY_TABLE.c.run == bindparam("run"), ENTRY_TABLE.c.depth == bindparam("depth")
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
_POSITION_BY_ID: Final = (
    select(ENTRY_TABLE.c.run, ENTRY_TABLE.c.depth, RUN.c.run_depth)
    .join(RUN, RUN.c.key == ENTRY_TABLE.c.run)
    .where(ENTRY_TABLE.c.id == bindparam("id"), ENTRY_TABLE.c.conversation_key == OF_END)
)
_COMPACTION: Final = select(
    ENTRY_TABLE.c.id,
    ENTRY_TABLE.c.depth,
    ENTRY_TABLE.c.size_tokenizer,
    ENTRY_TABLE.c.size_estimate,
    ENTRY_TABLE.c.total_tokenizer,
    ENTRY_TABLE.c.total_estimate,
    COMPACTION.c.kept_depth,
    COMPACTION.c.first_kept_entry_id,
    COMPACTION.c.before_kept_tokenizer,
    COMPACTION.c.before_kept_estimate,
    COMPACTION.c.ledger,
).where(COMPACTION.c.entry_key == bindparam("key"), ENTRY_TABLE.c.key == COMPACTION.c.entry_key)
