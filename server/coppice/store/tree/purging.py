"""Takes deleted conversations away, a little at a time, so that nobody waits long for the database."""

import logging
import time
from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, Delete, Table, and_, bindparam, delete, select, update
from typing_extensions import override

from coppice.errors import StorageFailedError
from coppice.store.engines.background import BackgroundWork
from coppice.store.engines.engine import Database
from coppice.store.schema.errors import is_full
from coppice.store.schema.tables import (
    COMPACTION,
    CONVERSATION,
    ENTRY_TABLE,
    LABEL,
    LANDMARK,
    PIN,
    RUN,
)
from coppice.store.words.word_index import WordIndex

PURGE_ROWS: Final = 500
"""The most rows that one transaction takes away."""

IMPORT_SECONDS: Final = 3600
"""An import that has stored nothing for so long is dead."""

SPACE_SECONDS: Final = 10.0
"""How long a write on a full disk waits for the purge. As long as for a lock of another program."""

_PAUSE: Final = 0.005  # seconds in which others may write: as long as one append takes
_LOG: Final = logging.getLogger(__name__)


class Purger(BackgroundWork):
    """Purges while there is something to purge."""

    def __init__(self, database: Database) -> None:
        super().__init__("coppice-purge")
        self._database = database
        self._rows = PURGE_ROWS
        self.is_erased = True
        """Whether the files hold nothing of what the last purge took away."""

    @override
    def work(self) -> None:
        try:
            for purge in (self._purge_rows, self._purge_words):
                self.is_erased = False
                while not self._stopped.is_set() and purge():
                    self._stopped.wait(_PAUSE)
                self.is_erased = self._database.shrink(self._stopped.is_set)
        except StorageFailedError as error:
            # What is left is invisible already, and purged when the store is opened again.
            _LOG.warning("purging deleted conversations stopped: %s", error)

    def _purge_rows(self) -> bool:
        try:
            return self._database.write_deletion(lambda connection: purge_some(connection, self._rows))
        except StorageFailedError as error:
            if not is_full(error) or self._rows == 1:
                raise
        # Rows of many pages: what a transaction changes has to fit into the space there is.
        self._rows = max(1, self._rows // 10)
        return True

    def _purge_words(self) -> bool:
        indexes = (self._database.index, self._database.pieces)
        return self._database.write_deletion(lambda connection: purge_some_words(connection, indexes))


def has_garbage(connection: Connection) -> bool:
    """Whether rows of deleted conversations are left to remove."""
    return any(connection.execute(each, _dead()).scalar() is not None for each in (_GARBAGE, _DEAD))


def purge_some(connection: Connection, limit: int) -> bool:
    """Takes away at most `limit` rows of one deleted conversation; false when there is none.

    Its own row stays, for `purge_some_words`. A conversation that another server is purging is passed over.
    A dead import becomes a deleted conversation before anything of it goes: one that is not dead after all,
    by its own clock, then ends before it stores more.
    """
    conversation = connection.execute(_LOCKED_FILLED).scalar()
    if conversation is None:
        return connection.execute(_MARK_DEAD, _dead()).rowcount > 0
    for statement in _STATEMENTS:
        if connection.execute(statement, {"conversation": conversation, "most": limit}).rowcount > 0:
            return True
    connection.execute(_MARK_EMPTIED, {"conversation": conversation})
    return True


def purge_some_words(connection: Connection, indexes: Sequence[WordIndex]) -> bool:
    """Takes words of deleted conversations out of the indexes, then their rows; false when none are left."""
    if connection.execute(_EMPTIED).first() is None:
        return False
    if not any(index.forget_some(connection) for index in indexes):
        connection.execute(_DELETE_EMPTIED)
    return True


def _dead() -> dict[str, int]:
    return {"dead": int(time.time()) - IMPORT_SECONDS}


def _delete_some(table: Table) -> Delete:
    # Children have greater keys than their parents, which must go last.
    key = table.c["entry_key" if "entry_key" in table.c else "key"]
    some = (
        select(key)
        .where(table.c.conversation_key == bindparam("conversation"))
        .order_by(key.desc())
        .limit(bindparam("most"))
    )
    return delete(table).where(key.in_(some))


_STATEMENTS: Final = [_delete_some(table) for table in (LANDMARK, LABEL, PIN, COMPACTION, ENTRY_TABLE, RUN)]
_IS_EMPTIED: Final = and_(CONVERSATION.c.id.is_(None), CONVERSATION.c.indexed_count < 0)
"""Of the conversation nothing is left but its row, and words in the full-text index."""
_MARK_EMPTIED: Final = (
    update(CONVERSATION)
    .where(CONVERSATION.c.key == bindparam("conversation"))
    .values(indexed_count=-1, name=None, first_message=None, source=None, import_seen=None)
)
_EMPTIED: Final = select(CONVERSATION.c.key).where(_IS_EMPTIED).limit(1)
_DELETE_EMPTIED: Final = delete(CONVERSATION).where(_IS_EMPTIED)
_INVISIBLE: Final = select(CONVERSATION.c.key).where(CONVERSATION.c.id.is_(None)).limit(1)
_GARBAGE: Final = _INVISIBLE.where(CONVERSATION.c.import_seen.is_(None))
_LOCKED_FILLED: Final = _GARBAGE.where(CONVERSATION.c.indexed_count >= 0).with_for_update(skip_locked=True)
_DEAD: Final = _INVISIBLE.where(CONVERSATION.c.import_seen < bindparam("dead"))
_MARK_DEAD: Final = (
    update(CONVERSATION)
    .where(CONVERSATION.c.key.in_(_DEAD.with_for_update(skip_locked=True)))
    .values(import_seen=None)
)
