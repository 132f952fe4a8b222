"""Finds entries by their text, the newest stored first."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection, Select, bindparam, func, select

from coppice.store.damage import rows_around_damage
from coppice.store.engine import Database, WordIndex
from coppice.store.indexing import Scope
from coppice.store.paths import END_COLUMNS, path_end
from coppice.store.records import PathEnd, SearchRow
from coppice.store.schema import CONVERSATION, ENTRY_TABLE, RUN
from coppice.store.search_text import searchable_text
from coppice.store.snippets import snippet
from coppice.store.tokenize import Term
from coppice.store.tree_listing import on_current_path

_KEYS_AROUND_DAMAGE: Final = 1_000
"""Hits that are looked through one by one where one is damaged: some 50 ms. Guess."""


def search(
    database: Database, connection: Connection, terms: Sequence[Term], scope: Scope, limit: int
) -> list[SearchRow]:
    """The newest `limit` entries in `scope` that hold all `terms`, as far as they are indexed."""
    values = {"words": database.expression(terms)}
    index, rows = database.index, []
    if index.newest is not None:
        last = connection.execute(select(func.max(index.key))).scalar() or 0
        near = _found(index, scope, limit).where(index.key > last - index.newest)
        rows = list(connection.execute(near, values))
    if len(rows) < limit:
        found, one = _found(index, scope, limit), _found(index, scope, 1).where(index.key == bindparam("key"))
        keys = select(index.key).where(index.matches).order_by(index.order.desc()).limit(_KEYS_AROUND_DAMAGE)
        rows = rows_around_damage(connection, found, values, one, keys)[:limit]
    current = _on_current_paths(connection, rows)
    return [
        SearchRow(
            conversation_id=row.conversation_id,
            entry_id=row.id,
            type=row.type,
            role=row.role,
            snippet=snippet(searchable_text(row.type, row.body), terms),
            timestamp=row.timestamp,
            on_current_branch=row.key in current,
        )
        for row in rows
    ]


def _found(index: WordIndex, scope: Scope, limit: int) -> Select[Any]:
    return (
        select(*_COLUMNS)
        .select_from(
            index.table.join(ENTRY_TABLE, ENTRY_TABLE.c.key == index.key)
            .join(CONVERSATION, CONVERSATION.c.key == ENTRY_TABLE.c.conversation_key)
            .join(RUN, RUN.c.key == ENTRY_TABLE.c.run)
        )
        .where(index.matches, scope.condition)
        .order_by(index.order.desc())
        .limit(limit)
    )


def _on_current_paths(connection: Connection, rows: Sequence[Any]) -> set[int]:
    found: set[int] = set()
    for leaf_key in {row.leaf_key for row in rows if row.leaf_key is not None}:
        some = [row for row in rows if row.leaf_key == leaf_key]
        found |= on_current_path(connection, some, _leaf(connection, some[0].conversation_id, leaf_key))
    return found


def _leaf(connection: Connection, conversation_id: str, key: int) -> PathEnd | None:
    row = connection.execute(select(*END_COLUMNS).where(ENTRY_TABLE.c.key == key)).one_or_none()
    return None if row is None else path_end(conversation_id, row)


_COLUMNS: Final = (
    ENTRY_TABLE.c.key,
    ENTRY_TABLE.c.id,
    ENTRY_TABLE.c.run,
    ENTRY_TABLE.c.depth,
    ENTRY_TABLE.c.type,
    ENTRY_TABLE.c.role,
    ENTRY_TABLE.c.timestamp,
    RUN.c.run_depth,
    CONVERSATION.c.id.label("conversation_id"),
    CONVERSATION.c.leaf_key,
    ENTRY_TABLE.c.body,
)
