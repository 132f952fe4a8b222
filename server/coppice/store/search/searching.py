"""Finds entries by their text, the newest stored first."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection, Select, func, select

from coppice.store.schema.records import SearchRow
from coppice.store.schema.tables import CONVERSATION, ENTRY_TABLE, RUN
from coppice.store.search.indexing import Scope
from coppice.store.search.search_text import searchable_text
from coppice.store.search.snippets import snippet
from coppice.store.tree.current_path import on_current_paths
from coppice.store.tree.damage import rows_around_damage
from coppice.store.words.tokens import Term
from coppice.store.words.word_index import WordIndex

_KEYS_AROUND_DAMAGE: Final = 1_000
"""Hits that are looked through one by one where one is damaged: some 50 ms."""


def search(
    index: WordIndex, connection: Connection, terms: Sequence[Term], scope: Scope, limit: int
) -> list[SearchRow]:
    """The newest `limit` entries in `scope` that hold all `terms`, as far as they are indexed."""
    values, rows = {"words": index.all_of(terms)}, []
    if index.newest is not None:
        last = connection.execute(select(func.max(index.key))).scalar() or 0
        near = _found(index, scope, limit).where(index.key > last - index.newest)
        rows = list(connection.execute(near, values))
    if len(rows) < limit:
        matches = _found(index, scope, limit)
        keys = select(index.key).where(index.matches).order_by(index.order.desc()).limit(_KEYS_AROUND_DAMAGE)
        rows = rows_around_damage(connection, matches, values, index.key, keys)[:limit]
    current = on_current_paths(connection, rows)
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
    matches = index.select(*_COLUMNS).join(RUN, RUN.c.key == ENTRY_TABLE.c.run)
    return matches.where(scope.condition).limit(limit)


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
