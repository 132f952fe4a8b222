"""The change log of a store: which server changed which conversation, for the others that share it."""

import time
from collections.abc import Iterable
from typing import Final

from sqlalchemy import Connection, and_, bindparam, delete, func, insert, select

from coppice.store.engines.engine import Database
from coppice.store.engines.prepared import inserted_key
from coppice.store.schema.records import StoredChange
from coppice.store.schema.tables import CHANGE, CONVERSATION, ENTRY_TABLE

KEPT_CHANGES: Final = 10_000
"""Rows of the log that stay however old they are, for servers whose machine slept: about a megabyte."""
KEPT_SECONDS: Final = 3600  # seconds; no server that runs is without a look for longer
_PRUNE_EVERY: Final = 512  # changes between two prunings: a twentieth of those that are kept


def record_change(
    database: Database, connection: Connection, origin: str, conversation_id: str, kinds: Iterable[str]
) -> None:
    """Records and announces a change; the last statement of the transaction that makes it."""
    now = int(time.time())
    database.announce_change(connection)
    values = {
        "conversation_id": conversation_id,
        "origin": origin,
        "kinds": " ".join(sorted(kinds)),
        "made_at": now,
    }
    key = inserted_key(connection, _INSERT, values)
    if key % _PRUNE_EVERY == 0:
        connection.execute(_PRUNE, {"old": key - KEPT_CHANGES, "before": now - KEPT_SECONDS})


def last_change(connection: Connection) -> int:
    """The key of the newest change; 0 if there is none."""
    return connection.execute(_LAST).scalar() or 0


def changes_since(connection: Connection, origin: str, since: int) -> tuple[list[StoredChange], int]:
    """The changes made by others than `origin` after the key `since`, and the newest key seen.

    Changes to one conversation come as one, in the order of the first.
    """
    kinds: dict[str, dict[str, None]] = {}
    for row in connection.execute(_SINCE, {"since": since}):
        since = row.key
        if row.origin != origin:
            kinds.setdefault(row.conversation_id, {}).update(dict.fromkeys(row.kinds.split()))
    changes = [
        StoredChange(conversation, connection.execute(_LEAF_ID, {"id": conversation}).scalar(), list(changed))
        for conversation, changed in kinds.items()
    ]
    return changes, since


_INSERT: Final = insert(CHANGE)
_PRUNE: Final = delete(CHANGE).where(
    and_(CHANGE.c.key <= bindparam("old"), CHANGE.c.made_at < bindparam("before"))
)
_LAST: Final = select(func.max(CHANGE.c.key))
_SINCE: Final = select(CHANGE).where(CHANGE.c.key > bindparam("since")).order_by(CHANGE.c.key)
_LEAF_ID: Final = (
    select(ENTRY_TABLE.c.id)
    .join(CONVERSATION, CONVERSATION.c.leaf_key == ENTRY_TABLE.c.key)
    .where(CONVERSATION.c.id == bindparam("id"))
)
