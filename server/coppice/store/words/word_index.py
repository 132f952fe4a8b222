"""The full-text indexes.

`entry_words` holds the words that `index_text` makes of an entry's text, `piece_words` the stems of its
pieces.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Integer,
    Select,
    TextClause,
    column,
    literal_column,
    select,
    table,
    text,
)

from coppice.store.schema.tables import CONVERSATION, ENTRY_TABLE
from coppice.store.words.pieces import KEYS_PER_ENTRY
from coppice.store.words.tokens import Term


@dataclass(frozen=True, slots=True, kw_only=True)
class WordIndex:
    """What the databases do differently. `key` is the row's, and `entry_key` its entry's, in the same order;
    `matches` has a parameter `words`.

    Ordered by `order`, which is by key, a search of everything costs what it finds. With `newest` that is
    too much for a frequent word, and the newest so many keys are looked through first.

    `removal` undoes `definition`. `expression` is a query for a term; `conjunction` and `disjunction` join
    several. Where a deleted row leaves its words in the index, `merging` rewrites a part of it without them.
    """

    definition: Sequence[str]
    removal: Sequence[str] = ()
    table: FromClause
    key: ColumnElement[int]
    entry_key: ColumnElement[int]
    matches: TextClause
    order: ColumnElement[int]
    newest: int | None = None
    insertion: str
    merging: str | None = None
    expression: Callable[[Term], str]
    conjunction: str
    disjunction: str

    def make(self, connection: Connection) -> None:
        """Makes the index. A row of it goes when its entry is deleted."""
        for statement in self.definition:
            connection.execute(text(statement))

    def add(self, connection: Connection, rows: Sequence[tuple[int, str]]) -> None:
        """Indexes texts: the key of each, and its words."""
        connection.execute(text(self.insertion), [{"key": key, "words": words} for key, words in rows])

    def forget_some(self, connection: Connection) -> bool:
        """Removes some of the words that deleted rows leave behind; false when none are left."""
        if self.merging is None:
            return False
        before = connection.execute(_TOTAL_CHANGES).scalar_one()
        connection.execute(text(self.merging))
        # FTS5 counts one change for the command itself.
        return bool(connection.execute(_TOTAL_CHANGES).scalar_one() - before > 1)

    def all_of(self, terms: Sequence[Term]) -> str:
        """The parameter `words` that finds what holds all `terms`."""
        return self.conjunction.join(map(self.expression, terms))

    def any_of(self, terms: Sequence[Term]) -> str:
        """The parameter `words` that finds what holds one of `terms` at least."""
        return self.disjunction.join(map(self.expression, terms))

    def select(self, *columns: ColumnElement[Any]) -> Select[Any]:
        """These columns of the rows that match, their entries and conversations, newest first."""
        return (
            select(*columns)
            .select_from(
                self.table.join(ENTRY_TABLE, ENTRY_TABLE.c.key == self.entry_key).join(
                    CONVERSATION, CONVERSATION.c.key == ENTRY_TABLE.c.conversation_key
                )
            )
            .where(self.matches)
            .order_by(self.order.desc())
        )


def _phrase(term: Term) -> str:
    """A query for FTS5. Words are put in double quotes, so that none is read as an operator."""
    return f'"{" ".join(term.words)}"{" *" if term.prefix else ""}'


def _side_by_side(term: Term) -> str:
    """A query for `to_tsquery`. Words are put in single quotes, which they never contain."""
    words = " <-> ".join(f"'{word}'" for word in term.words)
    return f"({words}{':*' if term.prefix else ''})"


_TOTAL_CHANGES: Final = text("SELECT total_changes()")
_FTS5: Final = table("entry_words", column("rowid"))
SQLITE_INDEX: Final = WordIndex(
    removal=("DROP TRIGGER entry_words_deleted", "DROP TABLE entry_words"),
    definition=(
        """
        CREATE VIRTUAL TABLE entry_words
        USING fts5(words, tokenize = 'unicode61 remove_diacritics 2', columnsize = 0)
        """,
        """
        CREATE TRIGGER entry_words_deleted AFTER DELETE ON entry
        BEGIN DELETE FROM entry_words WHERE rowid = old.key; END
        """,
    ),
    table=_FTS5,
    key=_FTS5.c.rowid,
    entry_key=_FTS5.c.rowid,
    matches=text("entry_words.words MATCH :words"),
    order=_FTS5.c.rowid,
    insertion="INSERT INTO entry_words (rowid, words) VALUES (:key, :words)",
    # Writes about so many pages a call; 'secure-delete' does not exist before SQLite 3.42.
    merging="INSERT INTO entry_words (entry_words, rank) VALUES ('merge', -200)",
    expression=_phrase,
    conjunction=" AND ",
    disjunction=" OR ",
)

_FTS5_PIECES: Final = table("piece_words", column("rowid"), column("words"))
SQLITE_PIECES: Final = replace(
    SQLITE_INDEX,
    definition=(
        """
        CREATE VIRTUAL TABLE piece_words
        USING fts5(words, tokenize = 'unicode61 remove_diacritics 2', columnsize = 0)
        """,
        """
        CREATE TRIGGER piece_words_deleted AFTER DELETE ON entry
        BEGIN
            DELETE FROM piece_words
            WHERE rowid BETWEEN old.key * 128 AND old.key * 128 + 127;
        END
        """,
    ),
    table=_FTS5_PIECES,
    key=_FTS5_PIECES.c.rowid,
    entry_key=literal_column("piece_words.rowid / 128", Integer),
    matches=text("piece_words.words MATCH :words"),
    order=_FTS5_PIECES.c.rowid,
    insertion="INSERT INTO piece_words (rowid, words) VALUES (:key, :words)",
    merging="INSERT INTO piece_words (piece_words, rank) VALUES ('merge', -200)",
)

_TSVECTOR: Final = table("entry_words", column("entry_key"))
# Without stopping early: the planner knows too little of words to choose, and would look for a rare one
# through the whole table.
POSTGRES_INDEX: Final = WordIndex(
    removal=("DROP TABLE entry_words",),
    definition=(
        """
        CREATE TABLE entry_words (
            entry_key bigint PRIMARY KEY REFERENCES entry (key) ON DELETE CASCADE, words tsvector NOT NULL
        )
        """,
        "CREATE INDEX entry_words_by_word ON entry_words USING gin (words)",
    ),
    table=_TSVECTOR,
    key=_TSVECTOR.c.entry_key,
    entry_key=_TSVECTOR.c.entry_key,
    matches=text("entry_words.words @@ to_tsquery('simple', :words)"),
    order=literal_column("entry_words.entry_key + 0"),
    newest=3_000,
    insertion="INSERT INTO entry_words (entry_key, words) VALUES (:key, to_tsvector('simple', :words))",
    expression=_side_by_side,
    conjunction=" & ",
    disjunction=" | ",
)

_TSVECTOR_PIECES: Final = table("piece_words", column("piece_key"), column("entry_key"), column("words"))
POSTGRES_PIECES: Final = replace(
    POSTGRES_INDEX,
    definition=(
        """
        CREATE TABLE piece_words (
            piece_key bigint PRIMARY KEY, entry_key bigint NOT NULL REFERENCES entry (key) ON DELETE CASCADE,
            words text NOT NULL, vector tsvector NOT NULL
        )
        """,
        "CREATE INDEX piece_words_by_word ON piece_words USING gin (vector)",
        "CREATE INDEX piece_words_by_entry ON piece_words (entry_key)",
    ),
    table=_TSVECTOR_PIECES,
    key=_TSVECTOR_PIECES.c.piece_key,
    entry_key=_TSVECTOR_PIECES.c.entry_key,
    matches=text("piece_words.vector @@ to_tsquery('simple', :words)"),
    order=literal_column("piece_words.piece_key + 0"),
    newest=3_000 * KEYS_PER_ENTRY,
    insertion="INSERT INTO piece_words (piece_key, entry_key, words, vector) "
    "VALUES (:key, :key / 128, :words, to_tsvector('simple', :words))",
)
