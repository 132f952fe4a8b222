"""Conversations as a whole: made, listed, deleted."""

import base64
import binascii
import json
from collections.abc import Callable
from typing import Any, Final

from sqlalchemy import Connection, and_, bindparam, insert, or_, select, update

from coppice.errors import IdConflictError, UnknownEntryError
from coppice.store.engines.engine import Database
from coppice.store.schema.entry_json import showable, storable
from coppice.store.schema.records import ConversationRecord, ModelChoice, NewConversation
from coppice.store.schema.tables import CONVERSATION, ENTRY_TABLE
from coppice.store.tree.changes import record_change
from coppice.store.tree.location import canonical_uri
from coppice.store.tree.path_ends import unknown_conversation


def insert_conversation(
    connection: Connection, new: NewConversation, *, import_seen: int | None = None
) -> int:
    """Makes an empty conversation and gives its key; with `import_seen` an invisible one, without id.

    Raises:
        IdConflictError: there is a conversation of that id.
    """
    check_id_is_free(connection, new.id)
    values = {
        "id": storable(new.id) if import_seen is None else None,
        "workspace": storable(canonical_uri(new.workspace_uri)),
        "workspace_uri": storable(new.workspace_uri),
        "created_at": storable(new.created_at),
        "modified_at": storable(new.created_at),
        "name": None if new.name is None else showable(new.name),
        "parent_conversation_id": new.parent_conversation_id,
        "model": new.choice.model,
        "thinking_level": new.choice.thinking_level,
        "source": None if new.source is None else _source(new.source),
        "import_seen": import_seen,
        "entry_count": 0,
    }
    return int(connection.execute(_INSERT, values).scalar_one())


def create(
    database: Database, connection: Connection, origin: str, new: NewConversation
) -> ConversationRecord:
    """A new conversation. Raises IdConflictError where its id is taken."""
    insert_conversation(connection, new)
    record_change(database, connection, origin, new.id, ["created"])
    return conversation(connection, new.id)


def check_id_is_free(connection: Connection, conversation_id: str) -> None:
    """Raises IdConflictError where a conversation of this id exists."""
    if connection.execute(_ID, {"id": storable(conversation_id)}).scalar() is not None:
        raise IdConflictError("There is a conversation of this id already.", conversationId=conversation_id)


def conversation(connection: Connection, conversation_id: str) -> ConversationRecord:
    """One conversation. Raises UnknownConversationError."""
    row = connection.execute(_BY_ID, {"id": storable(conversation_id)}).one_or_none()
    if row is None:
        raise unknown_conversation(conversation_id)
    return record_of(row, row.leaf_id)


def conversations(
    connection: Connection, *, workspace_uri: str | None = None, limit: int, cursor: str | None = None
) -> tuple[list[ConversationRecord], str | None]:
    """A page of conversations, newest modified first, and the cursor of the next page if there is one.

    Raises:
        UnknownEntryError: the cursor is none that was given out.
    """
    statement = _BY_TIME.limit(limit + 1)
    if workspace_uri is not None:
        statement = statement.where(CONVERSATION.c.workspace == storable(canonical_uri(workspace_uri)))
    if cursor is not None:
        modified_at, key = _parse_cursor(cursor)
        older = CONVERSATION.c.modified_at < modified_at
        statement = statement.where(
            or_(older, and_(CONVERSATION.c.modified_at == modified_at, CONVERSATION.c.key < key))
        )
    rows = connection.execute(statement).all()
    page = rows[:limit]
    more = len(rows) > limit and page
    listed = [record_of(row, row.leaf_id) for row in page]
    return listed, listed[-1].cursor if more else None


def hide(
    database: Database,
    connection: Connection,
    origin: str,
    conversation_id: str,
    condition: Callable[[ConversationRecord], bool] | None = None,
) -> bool:
    """Makes a conversation unknown at once, unless it does not meet `condition`; whether it did. purging.py
    takes what is left of it away.
    """
    if condition is not None:
        database.lock_conversation(connection, conversation_id)
        if not condition(conversation(connection, conversation_id)):
            return False
    hidden = connection.execute(_HIDE, {"conversation": storable(conversation_id)})
    if hidden.rowcount == 0:
        raise unknown_conversation(conversation_id)
    record_change(database, connection, origin, conversation_id, ["deleted"])
    return True


def set_source(connection: Connection, conversation_id: str, source: dict[str, Any]) -> None:
    """Says anew where a conversation came from. Raises UnknownConversationError."""
    values = {"conversation": storable(conversation_id), "text": _source(source)}
    if connection.execute(_SET_SOURCE, values).rowcount == 0:
        raise unknown_conversation(conversation_id)


def _source(source: dict[str, Any]) -> str:
    return storable(json.dumps(source, ensure_ascii=False))


def record_of(row: Any, leaf_id: str | None) -> ConversationRecord:
    """The conversation of a row of its table."""
    return ConversationRecord(
        id=row.id,
        workspace_uri=row.workspace_uri,
        created_at=row.created_at,
        modified_at=row.modified_at,
        leaf_id=leaf_id,
        entry_count=row.entry_count,
        name=row.name,
        first_message=row.first_message,
        parent_conversation_id=row.parent_conversation_id,
        source=None if row.source is None else json.loads(row.source),
        key=row.key,
        choice=ModelChoice(row.model, row.thinking_level),
    )


def _parse_cursor(cursor: str) -> tuple[str, int]:
    try:
        modified_at, key = json.loads(base64.b64decode(cursor, altchars=b"-_", validate=True))
        if isinstance(modified_at, str) and isinstance(key, int) and abs(key) < 2**63:
            return storable(modified_at), key
    except (ValueError, TypeError, RecursionError, binascii.Error):
        pass
    raise UnknownEntryError("The list cannot go on from there: the cursor is none of ours. Start it again.")


_LEAF: Final = ENTRY_TABLE.alias("leaf")
_RECORD: Final = select(CONVERSATION, _LEAF.c.id.label("leaf_id")).select_from(
    CONVERSATION.outerjoin(_LEAF, _LEAF.c.key == CONVERSATION.c.leaf_key)
)
_BY_ID: Final = _RECORD.where(CONVERSATION.c.id == bindparam("id"))
_BY_TIME: Final = _RECORD.where(CONVERSATION.c.id.is_not(None)).order_by(
    CONVERSATION.c.modified_at.desc(), CONVERSATION.c.key.desc()
)
_ID: Final = select(CONVERSATION.c.key).where(CONVERSATION.c.id == bindparam("id"))
_INSERT: Final = insert(CONVERSATION).returning(CONVERSATION.c.key)
_SET_SOURCE: Final = (
    update(CONVERSATION)
    .where(CONVERSATION.c.id == bindparam("conversation"))
    .values(source=bindparam("text"))
)
_HIDE: Final = (
    update(CONVERSATION)
    .where(CONVERSATION.c.id == bindparam("conversation"))
    .values(id=None, import_seen=None)
)
