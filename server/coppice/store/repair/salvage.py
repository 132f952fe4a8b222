"""Reads what can be read of a damaged SQLite store, row by row."""

import json
import sqlite3
from bisect import bisect_right, insort
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

from coppice.store.engines.sqlite_file import connect
from coppice.store.repair.damaged_tables import Row, named_entries, row_at, rows
from coppice.store.schema.entry_json import entry_from
from coppice.store.schema.records import NewRecord
from coppice.tokens.size import Size
from coppice.tree.entries import Entry

_BATCH: Final = 500
"""Entries stored at once; as an import does."""
_BATCH_CHARS: Final = 2_000_000
"""Stored at once; as an import does."""
_MOST_TOKENS: Final = 2**40
"""The most tokens of an entry; a larger count is damage, whose sum might not fit a column. 2**63 is
eight million of these."""
_PLACE: Final = ("key", "conversation_key", "parent_key", "run", "depth")
_TEXTS: Final = (
    "workspace_uri",
    "created_at",
    "modified_at",
    "name",
    "parent_conversation_id",
    "source",
    "model",
    "thinking_level",
)
"""The columns of a conversation that are stored again; all are text."""


class Place(NamedTuple):
    """Where an entry belongs: all of its row that is kept in memory."""

    parent_key: int | None
    run: int
    depth: int


@dataclass
class Salvage:
    """The conversations in the database file at `path`, which is only read."""

    path: Path
    losses: list[str] = field(default_factory=list)
    """Sentences about what belongs to no conversation."""

    def conversations(self) -> Iterator["SavedConversation"]:
        """Those that are not deleted, in the order in which they were made; each is read before the next.

        Entries whose conversation cannot be read come in a conversation of their own.
        """
        connection = connect(self.path, busy_seconds=0)
        connection.row_factory = sqlite3.Row
        try:
            yield from self._conversations(connection)
        finally:
            connection.close()

    def _conversations(self, connection: sqlite3.Connection) -> Iterator["SavedConversation"]:
        conversations = {row["key"]: row for row in rows(connection, "conversation")}
        runs = {row["key"]: row for row in rows(connection, "run")}
        named = named_entries(connection)
        places: dict[int, dict[int, Place]] = {}
        for row in rows(connection, "entry", _PLACE):
            place = Place(row["parent_key"], row["run"], row["depth"])
            places.setdefault(row["conversation_key"], {})[row["key"]] = place
        taken: set[str] = set()
        for key in sorted({*conversations, *places, *named}):
            row = conversations.get(key, {})
            if not row:
                row = {"key": key, "id": f"recovered-{key}", "name": "Recovered conversation"}
                self.losses.append(f"the data of a conversation; its entries are in {row['id']}")
            elif row["id"] is None:
                continue
            elif not isinstance(row["id"], str) or row["id"] in taken:
                row["id"] = f"recovered-{key}"
                self.losses.append(f"the id of a conversation, which is now {row['id']}")
            taken.add(row["id"])
            row.update({name: None for name in _TEXTS if not isinstance(row.get(name), str)})
            yield SavedConversation(connection, row, places.pop(key, {}), runs, named.pop(key, {}))


@dataclass
class SavedConversation:
    """A conversation's row and, read one after the other, its entries.

    `places` and `named`, the ids of all its entries, are by the entries' keys. `losses` and `leaf_id` are
    complete when the last of `batches` has been taken: a sentence for each entry that is not whole, and the
    current position.
    """

    connection: sqlite3.Connection
    row: Row
    places: dict[int, Place]
    runs: dict[int, Row]
    named: dict[int, str]
    losses: list[str] = field(default_factory=list)
    leaf_id: str | None = None
    _ids: dict[int, str] = field(default_factory=dict)
    _saved: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    """The depths and keys of the saved entries of each run, in this order."""

    @property
    def source(self) -> dict[str, Any] | None:
        """Where the conversation was imported from; None where that is not readable."""
        return _object(self.row.get("source"))

    def batches(self) -> Iterator[list[NewRecord]]:
        """The entries that can be read, in append order, in pieces that fit in memory. To be called once."""
        batch: list[NewRecord] = []
        length = 0
        for record, chars in self._records():
            batch.append(record)
            length += chars
            if len(batch) >= _BATCH or length >= _BATCH_CHARS:
                yield batch
                batch, length = [], 0
        if batch:
            yield batch

    def _records(self) -> Iterator[tuple[NewRecord, int]]:
        """The entries, and the length of each."""
        taken: set[str] = set()
        for key in sorted(self.places):
            row = row_at(self.connection, "entry", key)
            entry = None if row is None else self._entry(row)
            if row is None or entry is None:
                continue
            entry_id = self._told_apart(entry.id, key, taken)
            parent = self._parent(key)
            parent_id = None if parent is None else self._ids[parent]
            self._ids[key] = entry_id
            place = self.places[key]
            insort(self._saved.setdefault(place.run, []), (place.depth, key))
            entry = entry.model_copy(update={"id": entry_id, "parent_id": parent_id})
            yield NewRecord(entry, _size(row), self._ledger(key)), len(row["body"])
        self._finish()

    def _finish(self) -> None:
        lost = sorted(self.named.keys() - self._ids.keys())
        self.losses += [f"the entry {self.named[key]}" for key in lost]
        leaf = self.row.get("leaf_key")
        if leaf is not None and leaf not in self._ids:
            leaf = max(self._ids, default=None)
            self.losses.append("the current position; the conversation is now at its newest entry")
        self.leaf_id = None if leaf is None else self._ids[leaf]

    def _told_apart(self, entry_id: str, key: int, taken: set[str]) -> str:
        """The id of an entry: a new one where an earlier entry has it already."""
        if entry_id in taken:
            entry_id = f"recovered-{key}"
            self.losses.append(f"the id of an entry with the id of another, now {entry_id}")
        taken.add(entry_id)
        return entry_id

    def _entry(self, row: Row) -> Entry | None:
        body = row["body"]
        for text in (body, str(body)):
            try:
                entry = entry_from(row["id"], None, row["timestamp"], row["type"], text)
            except Exception:  # noqa: BLE001, S112 - a damaged row can hold anything
                continue
            if text is not body:
                self.losses.append(f"bytes of the entry {entry.id}, which are now \N{REPLACEMENT CHARACTER}")
            return entry
        return None

    def _parent(self, key: int) -> int | None:
        """The key of the nearest entry above that was saved; all of those come before."""
        parent, run, depth = self.places[key]
        if parent is None or parent in self._ids:
            return parent
        depth -= 1
        above_run: int | None = run
        while above_run is not None:
            run = above_run
            saved = self._saved.get(run, [])
            if above := bisect_right(saved, depth, key=itemgetter(0)):
                return saved[above - 1][1]
            fork = self.runs.get(run, {"parent_run": None, "fork_depth": 0})
            next_run = fork["parent_run"]
            # A run is made after the one that it forks from.
            above_run = next_run if isinstance(next_run, int) and next_run < run else None
            depth = fork["fork_depth"]
        return None

    def _ledger(self, key: int) -> dict[str, Any] | None:
        row = row_at(self.connection, "compaction", key)
        return None if row is None else _object(row["ledger"])


def _object(text: str | None) -> dict[str, Any] | None:
    try:
        value = json.loads(text or "null")
    except (TypeError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def _size(row: Row) -> Size:
    tokenizer, estimate = row["size_tokenizer"], row["size_estimate"]
    if all(isinstance(size, int) and 0 <= size <= _MOST_TOKENS for size in (tokenizer, estimate)):
        return Size(tokenizer, estimate)
    length = len(str(row["body"]))
    return Size(length // 4, length // 4)
