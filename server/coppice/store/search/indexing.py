"""Brings the full-text index up to what is stored.

An append does not index. The row of a conversation, which an append updates, records how far the index
reaches, and a partial index of the schema holds the conversations that are not fully indexed. Entries of
one conversation are committed in the order of their keys, and an indexer locks the conversation's row, so
that none is indexed twice and none is missed, however many servers there are.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final

from sqlalchemy import Connection, and_, bindparam, func, select, update
from typing_extensions import override

from coppice.errors import StorageFailedError
from coppice.store.engines.background import BackgroundWork
from coppice.store.engines.engine import Database
from coppice.store.schema.entry_json import readable_body, storable
from coppice.store.schema.tables import CONVERSATION, ENTRY_TABLE
from coppice.store.search.search_text import shortened, whole_text
from coppice.store.tree.damage import rows_around_damage
from coppice.store.tree.location import canonical_uri
from coppice.store.words.pieces import indexed_pieces
from coppice.store.words.tokens import index_text

BATCH_ENTRIES: Final = 200
"""Entries a transaction, in which others who write wait: of six recorded sessions 50 to 183 ms of processor
time."""
BATCH_CHARS: Final = 2_000_000
"""The most that one transaction indexes, but for one entry that is larger."""

IDLE_SECONDS: Final = 2.0
"""Without a write before indexing, for which writers wait. Of 3,916 pauses between recorded entries a third
are shorter: the steps of a turn that follow one another at once."""
_SHARE: Final = 4  # one part of the time is indexing, the others are for writers (guess)
_LOG: Final = logging.getLogger(__name__)


Report = Callable[[int, int], None]
"""Called with how many entries were indexed, and of how many."""


class Scope:
    """A set of conversations: one, those of a workspace, or all."""

    def __init__(self, conversation_id: str | None = None, workspace_uri: str | None = None) -> None:
        self.conversation_id = conversation_id
        self.condition: Any = CONVERSATION.c.id.is_not(None)
        if conversation_id is not None:
            self.condition = and_(self.condition, CONVERSATION.c.id == storable(conversation_id))
        if workspace_uri is not None:
            workspace = storable(canonical_uri(workspace_uri))
            self.condition = and_(self.condition, CONVERSATION.c.workspace == workspace)


EVERYTHING: Final = Scope()


def newest_unindexed(connection: Connection, scope: Scope, below: int | None = None) -> int | None:
    """The key of the newest conversation, older than the one `below`, that is not fully indexed, or None."""
    statement = select(CONVERSATION.c.key).where(scope.condition, _NOT_FULLY_INDEXED)
    if below is not None:
        statement = statement.where(CONVERSATION.c.key < below)
    key: int | None = connection.execute(statement.order_by(CONVERSATION.c.key.desc()).limit(1)).scalar()
    return key


def count_unindexed(connection: Connection, scope: Scope) -> int:
    """How many entries of `scope` are not in the index."""
    left = func.sum(CONVERSATION.c.entry_count - CONVERSATION.c.indexed_count)
    return int(connection.execute(select(left).where(scope.condition, _NOT_FULLY_INDEXED)).scalar() or 0)


def index_some(database: Database, connection: Connection, conversation: int) -> int:
    """Indexes the next entries of a conversation, if it is still not fully indexed; returns how many."""
    row = connection.execute(_LOCK, {"conversation": conversation}).one_or_none()
    if row is None:
        return 0
    values = {"conversation": conversation, "after": row.indexed_key, "up_to": MAX_KEY}
    batch = rows_around_damage(connection, _SIZES, values, ENTRY_TABLE.c.key, _KEYS, take=_first_batch)
    reach = {"conversation": conversation, "to": row.entry_count, "up_to": row.indexed_key}
    if batch:
        values["up_to"] = batch[-1].key
        reach |= {"to": row.indexed_count + len(batch), "up_to": values["up_to"]}
        words: list[tuple[int, str]] = []
        pieces: list[tuple[int, str]] = []
        for entry in rows_around_damage(connection, _BODIES, values, ENTRY_TABLE.c.key, _KEYS):
            body = readable_body(entry.body)
            text = shortened(whole_text(entry.type, body))
            if folded := index_text(text):
                words.append((entry.key, folded))
                pieces += indexed_pieces(entry.key, body, text)
        for index, rows in ((database.index, words), (database.pieces, pieces)):
            if rows:
                index.add(connection, rows)
    connection.execute(_REACH, reach)
    return len(batch)


def _first_batch(sizes: Iterable[Any]) -> list[Any]:
    batch: list[Any] = []
    chars = 0
    for size in sizes:
        chars += size.chars
        if batch and chars > BATCH_CHARS:
            break
        batch.append(size)
    return batch


class Indexer(BackgroundWork):
    """Indexes when nothing has been stored for a while."""

    def __init__(self, database: Database, *, idle_seconds: float | None) -> None:
        super().__init__("coppice-index")
        self._database = database
        self._idle_seconds = idle_seconds
        self._noted = 0.0

    def note(self) -> None:
        """Records that something was stored; it is indexed once `idle_seconds` pass without a call."""
        self._noted = time.monotonic()
        if self._idle_seconds is not None:
            self.wake()

    def catch_up(self, scope: Scope, report: Report) -> None:
        """Returns when everything in `scope` that was stored before is indexed.

        `report` is called after each transaction; what it raises ends the indexing.
        """
        total, done = self._database.read(lambda connection: count_unindexed(connection, scope)), 0
        for count in self._steps(scope):
            done += count
            report(done, max(done, total))

    @override
    def work(self) -> None:
        steps = self._steps(EVERYTHING)
        try:
            while not self._stopped.is_set():
                quiet = (self._idle_seconds or 0) - (time.monotonic() - self._noted)
                if quiet > 0:
                    self._stopped.wait(quiet)
                    continue
                started = time.monotonic()
                if next(steps, None) is None:
                    return
                # Other users of the database get most of the time.
                self._stopped.wait((_SHARE - 1) * (time.monotonic() - started))
        except StorageFailedError as error:
            # The next search indexes the rest.
            _LOG.warning("indexing stopped: %s", error)

    def _steps(self, scope: Scope) -> Iterator[int]:
        """Indexes in a transaction each, and gives how many entries."""
        below: int | None = None
        while (conversation := self._newest(scope, below)) is not None:
            count = self._database.write(partial(self._index, scope, conversation))
            if count is None:
                _LOG.warning("a conversation that is indexed is named as not indexed: the store is damaged")
                below = conversation
            yield count or 0

    def _newest(self, scope: Scope, below: int | None) -> int | None:
        return self._database.read(lambda connection: newest_unindexed(connection, scope, below))

    def _index(self, scope: Scope, conversation: int, connection: Connection) -> int | None:
        """Indexes some entries, and returns how many; None where the conversation would come for ever."""
        count = index_some(self._database, connection, conversation)
        # Where the index of the schema does not fit the row, it is named again.
        comes_again = count == 0 and newest_unindexed(connection, scope, conversation + 1) == conversation
        return None if comes_again else count


_NOT_FULLY_INDEXED: Final = and_(
    CONVERSATION.c.id.is_not(None), CONVERSATION.c.entry_count > CONVERSATION.c.indexed_count
)
_LOCK: Final = (
    select(CONVERSATION.c.entry_count, CONVERSATION.c.indexed_count, CONVERSATION.c.indexed_key)
    .where(CONVERSATION.c.key == bindparam("conversation"), _NOT_FULLY_INDEXED)
    .with_for_update()
)
_UNINDEXED: Final = and_(
    ENTRY_TABLE.c.conversation_key == bindparam("conversation"), ENTRY_TABLE.c.key > bindparam("after")
)
_SIZES: Final = (
    select(ENTRY_TABLE.c.key, func.length(ENTRY_TABLE.c.body).label("chars"))
    .where(_UNINDEXED)
    .order_by(ENTRY_TABLE.c.key)
    .limit(BATCH_ENTRIES)
)
_BODIES: Final = (
    select(ENTRY_TABLE.c.key, ENTRY_TABLE.c.type, ENTRY_TABLE.c.body)
    .where(_UNINDEXED, ENTRY_TABLE.c.key <= bindparam("up_to"))
    .order_by(ENTRY_TABLE.c.key)
)
_KEYS: Final = (
    select(ENTRY_TABLE.c.key)
    .where(_UNINDEXED, ENTRY_TABLE.c.key <= bindparam("up_to"))
    .order_by(ENTRY_TABLE.c.key)
    .limit(BATCH_ENTRIES)
)
MAX_KEY: Final = 2**63 - 1  # SQLite's and PostgreSQL's largest 64-bit integer
_REACH: Final = (
    update(CONVERSATION)
    .where(CONVERSATION.c.key == bindparam("conversation"))
    .values(indexed_count=bindparam("to"), indexed_key=bindparam("up_to"))
)
