"""Finds entries by their text, the newest stored first."""

from collections import deque
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection, Select, func, select

from coppice.protocol.navigation import SearchHit
from coppice.store.schema.entry_json import readable_body
from coppice.store.schema.tables import CONVERSATION, ENTRY_TABLE, RUN
from coppice.store.search.indexing import Scope
from coppice.store.search.search_text import parts_of, shortened
from coppice.store.tree.damage import rows_around_damage
from coppice.store.tree.paths import on_current_paths
from coppice.store.words.tokens import Term, occurs, places
from coppice.store.words.word_index import WordIndex
from coppice.tree.authorship import authorship

_KEYS_AROUND_DAMAGE: Final = 1_000
"""Hits that are looked through one by one where one is damaged: some 50 ms."""
SNIPPET_CHARS: Final = 200  # characters: two lines of a list
_BEFORE: Final = 60  # characters before the first match: a third of the snippet
_WITHIN: Final = 120  # characters in which matches count as close: what is left of the snippet, about
_SPACES: Final = 4
"""Room for white space, which is drawn together only after a stretch has been cut out."""


def search(
    index: WordIndex, connection: Connection, terms: Sequence[Term], scope: Scope, limit: int
) -> list[SearchHit]:
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
    return [_hit(row, terms, on_current_branch=row.key in current) for row in rows]


def _hit(row: Any, terms: Sequence[Term], *, on_current_branch: bool) -> SearchHit:
    parts = parts_of(row.type, readable_body(row.body))
    text = shortened("\n".join(parts))
    marks = shortened(authorship(parts)) if row.role == "user" else ""
    return SearchHit(
        conversation_id=row.conversation_id,
        entry_id=row.id,
        type=row.type,
        role=row.role,
        attached=True if "a" in marks and marks[_place(text, terms)] == "a" else None,
        snippet=snippet(text, terms),
        timestamp=row.timestamp,
        on_current_branch=on_current_branch,
    )


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


def snippet(text: str, terms: Sequence[Term]) -> str:
    """The stretch of `text` that holds most of the `terms`, at most `SNIPPET_CHARS` long."""
    start = _place(text, terms)
    first = max(start - _BEFORE * _SPACES, 0)
    before = " ".join(text[first:start].split())
    cut = first > 0 or len(before) > _BEFORE
    if len(before) > _BEFORE:
        before = before[-_BEFORE:].partition(" ")[2] or before[-_BEFORE:]
    room = SNIPPET_CHARS - len(before) - 3
    raw = text[start : start + room * _SPACES]
    after = " ".join(raw.split())
    more = start + len(raw) < len(text) or len(after) > room
    gap = " " if before and text[start - 1].isspace() else ""
    return f"{'…' if cut else ''}{before}{gap}{after[:room].rstrip()}{'…' if more else ''}"


def _place(text: str, terms: Sequence[Term]) -> int:
    """Where the first stretch that holds most of the terms begins; 0 where none is found."""
    words: list[str] = []
    starts: list[int] = []
    near: deque[tuple[int, int]] = deque()
    best, most = 0, 0
    for place in places(text):
        words.append(place.word)
        starts.append(place.start)
        for number, term in enumerate(terms):
            begins = len(words) - len(term.words)
            if begins < 0 or not occurs(term, words, begins):
                continue
            near.append((starts[begins], number))
            while near[0][0] < starts[begins] - _WITHIN:
                near.popleft()
            held = len({each for _, each in near})
            if held > most:
                best, most = near[0][0], held
            if most == len(terms):
                return best
    return best
