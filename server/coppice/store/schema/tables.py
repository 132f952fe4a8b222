"""The tables. One schema for SQLite and PostgreSQL.

Entries are immutable and keyed in append order, so that a parent's key is always smaller than its
children's. The row holds what a reader needs without walking to the root: the run and the depth
(see runs.py), the path's totals, the newest compaction, the newest valid usage.
"""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Identity,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from coppice.store.schema.column_types import ANY_TEXT

METADATA: Final = MetaData()

# SQLite gives rowids to INTEGER PRIMARY KEY alone.
KEY: Final = BigInteger().with_variant(Integer, "sqlite")

VERSION_TABLE: Final = Table(
    "coppice_schema",
    METADATA,
    Column("version", Integer, nullable=False),
)

UNINDEXED: Final = text("id IS NOT NULL AND entry_count > indexed_count")

# A conversation without an id is invisible: an import under way while `import_seen` (seconds since 1970)
# is fresh, else garbage for purging.py. `workspace` is the canonical form of `workspace_uri`.
# `turn_holder` names the server that runs a turn, which it renewed at `turn_seen` (seconds since 1970), and
# `turn_stop` that it is asked to stop; see turns.py.
# Of its entries the first `indexed_count`, up to `indexed_key`, are in the full-text index; see indexing.py.
# With an `indexed_count` of -1 it is garbage whose words alone are left.
# `model` is the name of the configured model that was chosen for it, `thinking_level` the level.
CONVERSATION: Final = Table(
    "conversation",
    METADATA,
    Column("key", KEY, Identity(), primary_key=True),
    Column("id", ANY_TEXT, unique=True),
    Column("workspace", ANY_TEXT, nullable=False),
    Column("workspace_uri", ANY_TEXT, nullable=False),
    Column("created_at", ANY_TEXT, nullable=False),
    Column("modified_at", ANY_TEXT, nullable=False),
    Column("leaf_key", KEY),
    Column("entry_count", KEY, nullable=False, default=0),
    Column("name", Text),
    Column("first_message", Text),
    Column("parent_conversation_id", ANY_TEXT),
    Column("source", Text),
    Column("import_seen", KEY),
    Column("indexed_count", KEY, nullable=False, server_default="0"),
    Column("indexed_key", KEY, nullable=False, server_default="0"),
    Column("turn_holder", ANY_TEXT),
    Column("turn_seen", KEY),
    Column("turn_stop", Boolean),
    Column("model", Text),
    Column("thinking_level", Text),
    Index("conversation_by_time", "modified_at", "key"),
    Index("conversation_by_workspace", "workspace", "modified_at", "key"),
    sqlite_autoincrement=True,
)
UNINDEXED_INDEX: Final = Index("conversation_behind_index", CONVERSATION.c.key, sqlite_where=UNINDEXED)
"""`store.postgres` adds its own condition: to name it here would load that dialect for SQLite too."""

# The columns `jump_*` describe the ancestor run that runs.py jumps to.
RUN: Final = Table(
    "run",
    METADATA,
    Column("key", KEY, Identity(), primary_key=True),
    Column("conversation_key", KEY, ForeignKey("conversation.key"), nullable=False),
    Column("parent_run", KEY),
    Column("fork_depth", KEY, nullable=False),
    Column("run_depth", KEY, nullable=False),
    Column("jump_run", KEY),
    Column("jump_depth", KEY, nullable=False),
    Column("jump_start", KEY, nullable=False),
    Column("jump_exit", KEY, nullable=False),
    Column("annotation", Boolean, nullable=False),
    Index("run_by_conversation", "conversation_key", "parent_run"),
    Index("run_by_fork", "parent_run", "fork_depth"),
    sqlite_autoincrement=True,
)

# `body` is the entry's JSON without the properties that have columns. It is the last column, so that
# SQLite does not read its overflow pages when a row is read without it.
ENTRY_TABLE: Final = Table(
    "entry",
    METADATA,
    Column("key", KEY, Identity(), primary_key=True),
    Column("conversation_key", KEY, ForeignKey("conversation.key"), nullable=False),
    Column("id", ANY_TEXT, nullable=False),
    Column("parent_key", KEY, ForeignKey("entry.key")),
    Column("run", KEY, ForeignKey("run.key"), nullable=False),
    Column("depth", KEY, nullable=False),
    Column("type", Text, nullable=False),
    Column("role", Text),
    Column("timestamp", ANY_TEXT, nullable=False),
    Column("size_tokenizer", KEY, nullable=False),
    Column("size_estimate", KEY, nullable=False),
    Column("total_tokenizer", KEY, nullable=False),
    Column("total_estimate", KEY, nullable=False),
    Column("compaction_key", KEY),
    Column("usage_tokens", KEY),
    Column("since_usage_tokenizer", KEY, nullable=False),
    Column("since_usage_estimate", KEY, nullable=False),
    Column("saved_tokenizer", KEY, nullable=False, server_default="0"),
    Column("saved_estimate", KEY, nullable=False, server_default="0"),
    Column("preview", Text, nullable=False),
    Column("body", Text, nullable=False),
    UniqueConstraint("conversation_key", "id", name="entry_id"),
    Index("entry_by_append", "conversation_key", "key"),
    Index("entry_by_run", "run", "depth"),
    Index("entry_by_parent", "parent_key"),
    sqlite_autoincrement=True,
)

COMPACTION: Final = Table(
    "compaction",
    METADATA,
    Column("entry_key", KEY, primary_key=True, autoincrement=False),
    Column("conversation_key", KEY, ForeignKey("conversation.key"), nullable=False),
    Column("kept_depth", KEY, nullable=False),
    Column("first_kept_entry_id", ANY_TEXT),
    Column("before_kept_tokenizer", KEY, nullable=False),
    Column("before_kept_estimate", KEY, nullable=False),
    Column("ledger", Text),
    Index("compaction_by_conversation", "conversation_key"),
)

LABEL: Final = Table(
    "label",
    METADATA,
    Column("entry_key", KEY, primary_key=True, autoincrement=False),
    Column("conversation_key", KEY, ForeignKey("conversation.key"), nullable=False),
    Column("label", Text, nullable=False),
    Index("label_by_conversation", "conversation_key"),
)

PIN: Final = Table(
    "pin",
    METADATA,
    Column("entry_key", KEY, primary_key=True, autoincrement=False),
    Column("conversation_key", KEY, ForeignKey("conversation.key"), nullable=False),
    Index("pin_by_conversation", "conversation_key"),
)

# The nodes of the folded tree listing, a row for each reason an entry is one; see landmarks.py.
LANDMARK: Final = Table(
    "landmark",
    METADATA,
    Column("entry_key", KEY, primary_key=True, autoincrement=False),
    Column("reason", Text, primary_key=True),
    Column("conversation_key", KEY, ForeignKey("conversation.key"), nullable=False),
    Column("run", KEY, nullable=False),
    Column("depth", KEY, nullable=False),
    Index("landmark_by_append", "conversation_key", "entry_key"),
    Index("landmark_by_run", "run", "depth"),
)

# The change log of the servers on the same store; see changes.py. `made_at` is in seconds since 1970.
CHANGE: Final = Table(
    "change",
    METADATA,
    Column("key", KEY, Identity(), primary_key=True),
    Column("conversation_id", ANY_TEXT, nullable=False),
    Column("origin", ANY_TEXT, nullable=False),
    Column("kinds", Text, nullable=False),
    Column("made_at", KEY, nullable=False),
    sqlite_autoincrement=True,
)
