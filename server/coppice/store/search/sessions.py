"""Which conversations a name or a workspace stands for, and how much they hold."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, func, or_, select

from coppice.store.schema.entry_json import storable
from coppice.store.schema.tables import CONVERSATION, ENTRY_TABLE
from coppice.store.search.indexing import Scope

SHORTEST_NAME: Final = 8
"""Characters from which the beginning of an id names a conversation."""
MOST_COUNTED: Final = 100_000
"""Entries whose times are looked at, in 80 ms of processor time: no index has them."""
_NAMES: Final = ("sessionId", "headerId")
"""Properties of a conversation's source by which its agent knows the session."""
_MOST: Final = 20  # conversations that one name may stand for: the caller lists them


@dataclass(frozen=True, slots=True)
class Extent:
    """How many conversations and entries there are, and when the first of them began; with `is_of_any_time`
    also those that were not asked for.
    """

    conversations: int
    entries: int
    since: str | None
    is_of_any_time: bool = False


def extent(
    connection: Connection,
    scope: Scope,
    agent: str | None = None,
    since: str | None = None,
    until: str | None = None,
) -> Extent:
    """What is stored in `scope`, or of it what came from `agent`'s sessions, with ISO times from `since` on
    and before `until`, where that can be counted soon.
    """
    conditions = [CONVERSATION.c.id.is_not(None), scope.condition, *from_agent(agent)]
    counts = func.count(), func.sum(CONVERSATION.c.entry_count), func.min(CONVERSATION.c.created_at)
    whole = _extent(connection.execute(select(*counts).where(*conditions)).one())
    if since is None and until is None:
        return whole
    if whole.entries > MOST_COUNTED:
        return replace(whole, is_of_any_time=True)
    time, conversation = ENTRY_TABLE.c.timestamp, ENTRY_TABLE.c.conversation_key
    conditions += [] if since is None else [time >= since]
    conditions += [] if until is None else [time < until]
    statement = (
        select(func.count(conversation.distinct()), func.count(), func.min(time))
        .join_from(CONVERSATION, ENTRY_TABLE, CONVERSATION.c.key == conversation)
        .where(*conditions)
    )
    return _extent(connection.execute(statement).one())


def _extent(counts: Sequence[Any]) -> Extent:
    conversations, entries, first = counts
    return Extent(int(conversations), int(entries or 0), first)


def named(connection: Connection, scope: Scope, name: str) -> list[str]:
    """The ids of the conversations that `name` is the id of, or its agent's id of the session, or the
    beginning of one of them; newest first. What another one started comes last: the ids of some sub-agents
    begin with their session's.
    """
    name = storable(name)
    order = [CONVERSATION.c.parent_conversation_id.is_not(None)]
    exact = [CONVERSATION.c.id == name, *(_source_has(each, name, whole=True) for each in _NAMES)]
    ids = _ids(connection, scope, or_(*exact), order=order)
    if ids or len(name) < SHORTEST_NAME:
        return ids
    begun = [
        CONVERSATION.c.id.startswith(name, autoescape=True),
        *(_source_has(each, name, whole=False) for each in _NAMES),
    ]
    return _ids(connection, scope, or_(*begun), order=order)


def without(connection: Connection, name: str, format_: str) -> frozenset[str]:
    """The ids of the conversations of sessions in a format whose source lacks the property `name`."""
    statement = select(CONVERSATION.c.id).where(
        CONVERSATION.c.id.is_not(None),
        _source_has("format", format_, whole=True),
        ~_source_has(name, "", whole=False),
    )
    return frozenset(connection.execute(statement).scalars())


def newest(connection: Connection, scope: Scope, agent: str | None, most: int) -> list[str]:
    """The ids of the conversations in `scope` that were modified last."""
    return _ids(connection, scope, *from_agent(agent), most=most)


def entries_named(connection: Connection, scope: Scope, entry_id: str, most: int) -> list[Any]:
    """At most `most` entries of that id in `scope`, or else whose ids begin so, newest conversation first.

    Each has the entry's `key` and `id`, and the `conversation_id`.
    """
    entry_id = storable(entry_id)
    rows = _entries(connection, scope, ENTRY_TABLE.c.id == entry_id, most)
    if rows or len(entry_id) < SHORTEST_NAME:
        return rows
    begun = (ENTRY_TABLE.c.id > entry_id) & (ENTRY_TABLE.c.id < entry_id + "\U0010ffff")
    return _entries(connection, scope, begun, most)


def from_agent(agent: str | None) -> list[ColumnElement[bool]]:
    """The condition that a conversation comes from an agent's session: its format begins with `agent`."""
    return [] if not agent else [_source_has("format", storable(agent), whole=False)]


def _entries(connection: Connection, scope: Scope, condition: ColumnElement[bool], most: int) -> list[Any]:
    statement = (
        select(ENTRY_TABLE.c.key, ENTRY_TABLE.c.id, CONVERSATION.c.id.label("conversation_id"))
        .join(CONVERSATION, CONVERSATION.c.key == ENTRY_TABLE.c.conversation_key)
        .where(CONVERSATION.c.id.is_not(None), scope.condition, condition)
        .order_by(CONVERSATION.c.modified_at.desc(), ENTRY_TABLE.c.key)
        .limit(most)
    )
    return list(connection.execute(statement))


def _ids(
    connection: Connection, scope: Scope, *conditions: Any, most: int = _MOST, order: Sequence[Any] = ()
) -> list[str]:
    statement = (
        select(CONVERSATION.c.id)
        .where(CONVERSATION.c.id.is_not(None), scope.condition, *conditions)
        .order_by(*order, CONVERSATION.c.modified_at.desc(), CONVERSATION.c.key.desc())
        .limit(most)
    )
    return list(connection.execute(statement).scalars())


def _source_has(name: str, value: str, *, whole: bool) -> ColumnElement[bool]:
    """Whether a property of a conversation's source is `value`, or begins with it. It is kept as JSON."""
    end = '"' if whole else ""
    return CONVERSATION.c.source.contains(f'"{name}": "{value}{end}', autoescape=True)
