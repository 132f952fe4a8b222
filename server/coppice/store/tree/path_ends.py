"""Where a path ends, and which entries are on it. The cost does not follow the length of the path."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Executable, bindparam, select

from coppice.errors import UnknownConversationError, UnknownEntryError
from coppice.store.schema.entry_json import storable
from coppice.store.schema.records import LEAF, EntryRef, PathEnd
from coppice.store.schema.tables import CONVERSATION, ENTRY_TABLE
from coppice.store.tree.runs import is_on_path, meeting
from coppice.tokens.size import Size

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
    ENTRY_TABLE.c.saved_tokenizer,
    ENTRY_TABLE.c.saved_estimate,
)


def path_end(conversation_id: str, row: Sequence[Any]) -> PathEnd:
    """The end in a row of `END_COLUMNS`."""
    key, entry_id, run, depth, kind, tokenizer, estimate, compaction_key, usage, *since, saved_t, saved_e = (
        row[: len(END_COLUMNS)]
    )
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
        since_usage=Size(*since),
        saved=Size(saved_t, saved_e),
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


def end(connection: Connection, conversation_id: str, leaf: EntryRef | None = LEAF) -> PathEnd | None:
    """The end of the path to an entry, or to the current leaf; None where the path is empty."""
    if isinstance(leaf, str):
        key = conversation_key(connection, conversation_id)
        return entry_end(connection, key, conversation_id, leaf)
    row = connection.execute(_LEAF_END, {"id": storable(conversation_id)}).one_or_none()
    if row is None:
        raise unknown_conversation(conversation_id)
    return None if leaf is None or row.key is None else path_end(conversation_id, row)


def find_end(connection: Connection, key: int, conversation_id: str, entry_id: str) -> PathEnd | None:
    """The path to the entry `entry_id` of the conversation `key`, if it exists."""
    row = connection.execute(_END_BY_ID, {"conversation": key, "id": storable(entry_id)}).one_or_none()
    return None if row is None else path_end(conversation_id, row)


def end_at(connection: Connection, conversation_id: str, key: int) -> PathEnd | None:
    """The path to the entry of this key; None where it is gone."""
    row = connection.execute(_END_BY_KEY, {"key": key}).one_or_none()
    return None if row is None else path_end(conversation_id, row)


def entry_end(connection: Connection, key: int, conversation_id: str, entry_id: str) -> PathEnd:
    """The same as `find_end` where the entry must exist. Raises UnknownEntryError."""
    position = find_end(connection, key, conversation_id, entry_id)
    if position is None:
        raise unknown_entry(entry_id)
    return position


def ancestor_depth(connection: Connection, end: PathEnd, entry_id: str) -> int | None:
    """The depth of an entry on the path to `end`; None if it is not on it."""
    row = connection.execute(_POSITION_BY_ID, {"key": end.key, "id": storable(entry_id)}).one_or_none()
    if row is None or not is_on_path(connection, (row.run, row.depth), (end.run, end.depth)):
        return None
    return int(row.depth)


def rows_on_path(connection: Connection, end: PathEnd, statement: Executable) -> list[tuple[int, Any]]:
    """The rows of `statement` whose entries are on the path, with their depths, root first.

    `statement` takes the `key` of the end and gives the `id` of each entry.
    """
    rows = connection.execute(statement, {"key": end.key}).all()
    depths = ((ancestor_depth(connection, end, row.id), row) for row in rows)
    on_path = [(depth, row) for depth, row in depths if depth is not None]
    return sorted(on_path, key=lambda each: each[0])


def common_ancestor(connection: Connection, one: PathEnd, other: PathEnd) -> PathEnd | None:
    """The deepest entry that both paths share; None where they share none."""
    place = meeting(connection, (one.run, one.depth), (other.run, other.depth))
    if place is None:
        return None
    row = connection.execute(_END_BY_PLACE, {"run": place[0], "depth": place[1]}).one_or_none()
    if row is None:
        raise unknown_conversation(one.conversation_id)
    return path_end(one.conversation_id, row)


_END: Final = ENTRY_TABLE.alias("path_end")
CONVERSATION_OF_END: Final = select(_END.c.conversation_key).where(_END.c.key == bindparam("key"))
OF_END: Final = CONVERSATION_OF_END.scalar_subquery()

_CONVERSATION_KEY: Final = select(CONVERSATION.c.key).where(CONVERSATION.c.id == bindparam("id"))
_LEAF_END: Final = (
    select(*END_COLUMNS)
    .select_from(CONVERSATION.outerjoin(ENTRY_TABLE, ENTRY_TABLE.c.key == CONVERSATION.c.leaf_key))
    .where(CONVERSATION.c.id == bindparam("id"))
)
_END_BY_ID: Final = select(*END_COLUMNS).where(
    ENTRY_TABLE.c.conversation_key == bindparam("conversation"), ENTRY_TABLE.c.id == bindparam("id")
)
_END_BY_KEY: Final = select(*END_COLUMNS).where(ENTRY_TABLE.c.key == bindparam("key"))
_END_BY_PLACE: Final = select(*END_COLUMNS).where(
    ENTRY_TABLE.c.run == bindparam("run"), ENTRY_TABLE.c.depth == bindparam("depth")
)
_POSITION_BY_ID: Final = select(ENTRY_TABLE.c.run, ENTRY_TABLE.c.depth).where(
    ENTRY_TABLE.c.id == bindparam("id"), ENTRY_TABLE.c.conversation_key == OF_END
)
