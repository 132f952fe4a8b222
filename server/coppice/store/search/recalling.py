"""Finds pieces of entries for a ranking: the newest that hold a stem, and the entries that they are of.

The cost does not grow with the store: of each stem only the newest pieces are taken, and only those that the
caller chooses among them are read.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import BigInteger, ColumnElement, Connection, bindparam, func, select

from coppice.store.schema.entry_json import readable_body, storable
from coppice.store.schema.tables import CONVERSATION, ENTRY_TABLE, RUN
from coppice.store.search.indexing import MAX_KEY, Scope
from coppice.store.search.sessions import from_agent
from coppice.store.tree.path_ends import unknown_entry
from coppice.store.tree.paths import on_current_paths
from coppice.store.words.pieces import KEYS_PER_ENTRY
from coppice.store.words.tokens import Term
from coppice.store.words.word_index import WordIndex

SHORTEST_PREFIX: Final = 8
"""Characters from which a prefix names an entry, as in a summary's `[#26c4206e]`."""
TEXTLESS_TYPES: Final = (
    "label",
    "pin",
    "session_info",
    "file_activity",
    "custom",
    "model_change",
    "context_edit",
)
"""Types of entries without text."""
_PIECES_AN_ENTRY: Final = 3
"""Measured in six recorded sessions: 2.1 to 5.2."""


@dataclass(frozen=True, slots=True)
class Where:
    """Which entries are looked through: of `scope`, what was appended between two keys, both exclusive.

    Of these the ones of certain types or roles, with ISO times from `since` on and before `until`, from the
    sessions of an agent, and with `failed` only results that are errors.
    """

    scope: Scope
    after: int = 0
    before: int = MAX_KEY
    types: Collection[str] | None = None
    roles: Collection[str] | None = None
    since: str | None = None
    until: str | None = None
    agent: str | None = None
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Postings:
    """The keys of the newest pieces that hold a stem, newest first, and how rare it is, as BM25 weighs it."""

    keys: Sequence[int]
    rarity: float


@dataclass(frozen=True, slots=True)
class RecallRow:
    """An entry as it is stored, with where it lies. `body` is its JSON without images."""

    key: int
    conversation_id: str
    entry_id: str
    parent_key: int | None
    timestamp: str
    type: str
    body: dict[str, Any]
    on_current_path: bool

    @property
    def message(self) -> dict[str, Any]:
        """The message of an entry that is one; empty of every other entry, whatever its properties are."""
        message = self.body.get("message") if self.type == "message" else None
        return message if isinstance(message, dict) else {}

    @property
    def role(self) -> str | None:
        """The role of the message; None of other entries."""
        return _text(self.message.get("role"))

    @property
    def tool_name(self) -> str | None:
        """The tool that the message is a result of. In messages of other roles the property means nothing."""
        return _text(self.message.get("toolName")) if self.role == "toolResult" else None

    @property
    def tool_call_id(self) -> str | None:
        """The call that the message is the result of, likewise."""
        return _text(self.message.get("toolCallId")) if self.role == "toolResult" else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def postings(
    index: WordIndex, connection: Connection, stems: Sequence[str], where: Where, most: int
) -> list[Postings]:
    """At most `most` pieces for each stem, in the order of `stems`; `index` is that of pieces.

    Instead of a stem there may be several, set apart by spaces: those that follow one another so.
    """
    oldest, newest = _extent(connection, where.scope)
    first = max(oldest, where.after + 1) * KEYS_PER_ENTRY - 1
    last = min(newest + 1, where.before) * KEYS_PER_ENTRY

    def holding(words: str, after: int) -> list[int]:
        bounds = (index.key > after, index.key < last)
        statement = index.select(index.key).where(*bounds, *_conditions(where)).limit(most)
        return list(connection.execute(statement, {"words": words}).scalars())

    span = max(newest - oldest + 1, 1)
    listed = []
    for stem in stems:
        words = index.any_of([Term(tuple(stem.split()))])
        keys: list[int] = []
        if index.newest is not None:
            keys = holding(words, max(first, last - index.newest))
        if len(keys) < most:
            keys = holding(words, first)
        listed.append(Postings(keys, _rarity(keys, most, span)))
    return listed


def _rarity(keys: Sequence[int], most: int, span: int) -> float:
    """Of a stem in these pieces, where `span` entries are searched.

    Where only the newest pieces are known, their number is estimated by how densely they lie.
    """
    total = span * _PIECES_AN_ENTRY
    frequency = float(len(keys))
    if len(keys) >= most:
        frequency *= max(1.0, span * KEYS_PER_ENTRY / (keys[0] - keys[-1] + 1))
    frequency = min(frequency, total)
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))


def parents_and_roles(
    connection: Connection, keys: Sequence[int]
) -> dict[int, tuple[int | None, str | None]]:
    """The key of the entry before, and the role, of the entries with these keys that are there."""
    statement = select(ENTRY_TABLE.c.key, ENTRY_TABLE.c.parent_key, ENTRY_TABLE.c.role).where(
        ENTRY_TABLE.c.key.in_(_KEYS)
    )
    return {
        row.key: (row.parent_key, row.role) for row in connection.execute(statement, {"keys": list(keys)})
    }


def newest(connection: Connection, where: Where, most: int) -> list[int]:
    """The keys of the newest `most` entries that have text, newest first."""
    statement = (
        select(ENTRY_TABLE.c.key)
        .join(CONVERSATION, CONVERSATION.c.key == ENTRY_TABLE.c.conversation_key)
        .where(
            ENTRY_TABLE.c.type.not_in(TEXTLESS_TYPES),
            ENTRY_TABLE.c.key > where.after,
            ENTRY_TABLE.c.key < where.before,
            *_conditions(where),
        )
        .order_by(ENTRY_TABLE.c.key.desc())
        .limit(most)
    )
    return list(connection.execute(statement).scalars())


def neighbours(connection: Connection, key: int, before: int, after: int) -> list[int]:
    """The keys of the entries with text that were appended around `key` to its conversation, with its own."""
    own = select(ENTRY_TABLE.c.conversation_key).where(ENTRY_TABLE.c.key == key).scalar_subquery()
    visible = select(ENTRY_TABLE.c.key).where(
        ENTRY_TABLE.c.conversation_key == own, ENTRY_TABLE.c.type.not_in(TEXTLESS_TYPES)
    )
    earlier = visible.where(ENTRY_TABLE.c.key < key).order_by(ENTRY_TABLE.c.key.desc()).limit(before)
    later = visible.where(ENTRY_TABLE.c.key > key).order_by(ENTRY_TABLE.c.key).limit(after)
    keys = [list(connection.execute(each).scalars()) for each in (earlier, later)]
    return [*reversed(keys[0]), key, *keys[1]]


def key_of(connection: Connection, conversation_id: str, entry_id: str) -> int:
    """The key of an entry, which orders by appending. Raises UnknownEntryError.

    The entry is named by its id or, as a summary references it, by a prefix that no other has.
    """
    entries = (
        select(ENTRY_TABLE.c.key, ENTRY_TABLE.c.id)
        .join(CONVERSATION, CONVERSATION.c.key == ENTRY_TABLE.c.conversation_key)
        .where(CONVERSATION.c.id == storable(conversation_id))
    )
    row = connection.execute(entries.where(ENTRY_TABLE.c.id == storable(entry_id))).first()
    if row is not None:
        return int(row.key)
    named = ENTRY_TABLE.c.id.startswith(storable(entry_id), autoescape=True)
    matches = (
        connection.execute(entries.where(named).limit(2)).all() if len(entry_id) >= SHORTEST_PREFIX else []
    )
    if len(matches) != 1:
        raise unknown_entry(entry_id)
    return int(matches[0].key)


def on_path(connection: Connection, keys: Sequence[int]) -> list[int]:
    """Those of the keys whose entries lie on the current path of their conversation, in their order."""
    places = list(connection.execute(_PLACES, {"keys": list(keys)})) if keys else []
    current = on_current_paths(connection, places)
    return [key for key in keys if key in current]


def rows(connection: Connection, keys: Sequence[int]) -> list[RecallRow]:
    """The entries with these keys, in the order of `keys`; what is gone is left out."""
    current = frozenset(on_path(connection, keys))
    stored = connection.execute(_ROWS, {"keys": list(keys)}) if keys else ()
    row_of = {
        row.key: RecallRow(
            key=row.key,
            conversation_id=row.conversation_id,
            entry_id=row.id,
            parent_key=row.parent_key,
            timestamp=row.timestamp,
            type=row.type,
            body=_without_images(readable_body(row.body)),
            on_current_path=row.key in current,
        )
        for row in stored
    }
    return [row_of[key] for key in keys if key in row_of]


def _without_images(body: dict[str, Any]) -> dict[str, Any]:
    """`body` itself. Hundreds of entries are held at once, and images are most of what is in them."""
    for holder in (body, body.get("message")):
        content = holder.get("content") if isinstance(holder, dict) else None
        if isinstance(holder, dict) and isinstance(content, list):
            holder["content"] = [
                block for block in content if not (isinstance(block, dict) and block.get("type") == "image")
            ]
    return body


def _extent(connection: Connection, scope: Scope) -> tuple[int, int]:
    """The smallest and the largest key in `scope`."""
    first, last = select(func.min(ENTRY_TABLE.c.key)), select(func.max(ENTRY_TABLE.c.key))
    if scope.conversation_id is not None:
        own = select(CONVERSATION.c.key).where(scope.condition).scalar_subquery()
        first = first.where(ENTRY_TABLE.c.conversation_key == own)
        last = last.where(ENTRY_TABLE.c.conversation_key == own)
    return connection.execute(first).scalar() or 0, connection.execute(last).scalar() or 0


def _conditions(where: Where) -> list[ColumnElement[bool]]:
    conditions = [where.scope.condition]
    if where.types is not None:
        conditions.append(ENTRY_TABLE.c.type.in_(where.types))
    if where.roles is not None:
        conditions.append(ENTRY_TABLE.c.role.in_(where.roles))
    if where.since is not None:
        conditions.append(ENTRY_TABLE.c.timestamp >= where.since)
    if where.until is not None:
        conditions.append(ENTRY_TABLE.c.timestamp < where.until)
    if where.failed:
        conditions.append(ENTRY_TABLE.c.body.contains('"isError":true', autoescape=True))
    return [*conditions, *from_agent(where.agent)]


_KEYS: Final = bindparam("keys", type_=BigInteger, expanding=True)
_PLACES: Final = (
    select(
        ENTRY_TABLE.c.key,
        ENTRY_TABLE.c.run,
        ENTRY_TABLE.c.depth,
        RUN.c.run_depth,
        CONVERSATION.c.id.label("conversation_id"),
        CONVERSATION.c.leaf_key,
    )
    .join(CONVERSATION, CONVERSATION.c.key == ENTRY_TABLE.c.conversation_key)
    .join(RUN, RUN.c.key == ENTRY_TABLE.c.run)
    .where(ENTRY_TABLE.c.key.in_(_KEYS), CONVERSATION.c.id.is_not(None))
)
_ROWS: Final = _PLACES.add_columns(
    ENTRY_TABLE.c.id,
    ENTRY_TABLE.c.parent_key,
    ENTRY_TABLE.c.type,
    ENTRY_TABLE.c.timestamp,
    ENTRY_TABLE.c.body,
)
