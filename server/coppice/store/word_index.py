"""The full-text index: the table `entry_words`, with the words that `index_text` makes of an entry's text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Select,
    TextClause,
    column,
    literal_column,
    select,
    table,
    text,
)

from coppice.store.schema import CONVERSATION, ENTRY_TABLE
from coppice.store.tokenize import Term


@dataclass(frozen=True, slots=True, kw_only=True)
class WordIndex:
    """What the databases do differently. `key` is the entry's, `matches` has a parameter `words`.

    Ordered by `order`, which is by key, a search of everything costs what it finds. With `newest` that is
    too much for a frequent word, and the newest so many keys are looked through first.

    `expression` is a query for a term; `conjunction` and `disjunction` join several. Where a deleted row
    leaves its words in the index, `merging` rewrites a part of it without them.
    """

    definition: Sequence[str]
    table: FromClause
    key: ColumnElement[int]
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
        """Indexes entries: the key of each, and its words."""
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

    def found(self, *columns: ColumnElement[Any]) -> Select[Any]:
        """These columns of the entries that match and of their conversations, newest first."""
        return (
            select(*columns)
            .select_from(
                self.table.join(ENTRY_TABLE, ENTRY_TABLE.c.key == self.key).join(
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
    matches=text("entry_words.words MATCH :words"),
    order=_FTS5.c.rowid,
    insertion="INSERT INTO entry_words (rowid, words) VALUES (:key, :words)",
    # Writes about so many pages a call; 'secure-delete' does not exist before SQLite 3.42.
    merging="INSERT INTO entry_words (entry_words, rank) VALUES ('merge', -200)",
    expression=_phrase,
    conjunction=" AND ",
    disjunction=" OR ",
)

_TSVECTOR: Final = table("entry_words", column("entry_key"))
# Without stopping early: the planner knows too little of words to choose, and would look for a rare one
# through the whole table.
POSTGRES_INDEX: Final = WordIndex(
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
    matches=text("entry_words.words @@ to_tsquery('simple', :words)"),
    order=literal_column("entry_words.entry_key + 0"),
    newest=3_000,
    insertion="INSERT INTO entry_words (entry_key, words) VALUES (:key, to_tsvector('simple', :words))",
    expression=_side_by_side,
    conjunction=" & ",
    disjunction=" | ",
)
