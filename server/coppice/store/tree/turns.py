"""Which server runs a turn in a conversation, for the other servers on the same store."""

from typing import Any, Final

from sqlalchemy import Connection, bindparam, or_, select, update

from coppice.store.engines.engine import Database
from coppice.store.schema.entry_json import storable
from coppice.store.schema.records import StoredTurn
from coppice.store.schema.tables import CONVERSATION
from coppice.store.tree.changes import record_change
from coppice.store.tree.path_ends import unknown_conversation


class RunningTurns:
    """At most one turn a conversation. What changes one is recorded for the other servers."""

    def __init__(self, database: Database, server_id: str) -> None:
        self._database = database
        self._server_id = server_id

    def of(self, conversation_id: str) -> StoredTurn | None:
        """Raises UnknownConversationError."""

        def read(connection: Connection) -> StoredTurn | None:
            row = connection.execute(_TURN, {"id": storable(conversation_id)}).one_or_none()
            if row is None:
                raise unknown_conversation(conversation_id)
            if row.turn_holder is None:
                return None
            return StoredTurn(row.turn_holder, row.turn_seen or 0, bool(row.turn_stop))

        return self._database.read(read)

    def begin(
        self, conversation_id: str, holder: str, seen: int, *, instead_of: StoredTurn | None = None
    ) -> bool:
        """False when a turn runs already that is neither the holder's nor `instead_of`."""
        old = instead_of.holder if instead_of is not None else None
        return self._change(_BEGIN, conversation_id, holder=holder, seen=seen, stop=False, old=old)

    def keep(self, conversation_id: str, holder: str, seen: int) -> None:
        """Notes that the turn still runs. The other servers are not notified."""
        values = {"conversation": storable(conversation_id), "old": holder, "seen": seen}
        self._database.write(lambda connection: connection.execute(_KEEP, values))

    def end(self, conversation_id: str, holder: str) -> bool:
        """False when the turn was not the holder's."""
        return self._change(_END, conversation_id, old=holder)

    def ask_to_stop(self, conversation_id: str, turn: StoredTurn) -> bool:
        """Asks the holder of a turn to stop it; false when it is not the holder any more."""
        return self._change(_STOP, conversation_id, old=turn.holder)

    def _change(self, statement: Any, conversation_id: str, **values: Any) -> bool:
        def write(connection: Connection) -> bool:
            result = connection.execute(statement, {"conversation": storable(conversation_id), **values})
            if result.rowcount == 0:
                return False
            record_change(self._database, connection, self._server_id, conversation_id, ["turn"])
            return True

        return self._database.write(write)


_TURN: Final = select(CONVERSATION.c.turn_holder, CONVERSATION.c.turn_seen, CONVERSATION.c.turn_stop).where(
    CONVERSATION.c.id == bindparam("id")
)
_ROW: Final = update(CONVERSATION).where(CONVERSATION.c.id == bindparam("conversation"))
_HELD: Final = _ROW.where(CONVERSATION.c.turn_holder == bindparam("old"))
_BEGIN: Final = _ROW.where(
    or_(
        CONVERSATION.c.turn_holder.is_(None),
        CONVERSATION.c.turn_holder.in_((bindparam("old"), bindparam("holder"))),
    )
).values(turn_holder=bindparam("holder"), turn_seen=bindparam("seen"), turn_stop=bindparam("stop"))
_KEEP: Final = _HELD.values(turn_seen=bindparam("seen"))
_END: Final = _HELD.values(turn_holder=None, turn_seen=None, turn_stop=None)
_STOP: Final = _HELD.values(turn_stop=True)
