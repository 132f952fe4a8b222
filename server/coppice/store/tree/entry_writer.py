"""Inserts entries into the tree and updates the rows that depend on them.

One `EntryWriter` serves one transaction: `place` works in memory and reads what it needs, `flush`
writes.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

from sqlalchemy import Connection, bindparam, insert, select

from coppice.errors import UnknownEntryError
from coppice.store.engines.prepared import execute
from coppice.store.schema.entry_json import showable, storable
from coppice.store.schema.records import NewRecord, PathEnd
from coppice.store.schema.tables import COMPACTION, ENTRY_TABLE
from coppice.store.tree import landmarks
from coppice.store.tree.labels_and_pins import LabelsAndPins
from coppice.store.tree.path_ends import find_end
from coppice.store.tree.run_writer import RunWriter
from coppice.store.tree.runs import is_on_path
from coppice.tokens.size import Size
from coppice.tree.entries import (
    MAX_NAME_CHARS,
    CompactionEntry,
    ContextEditEntry,
    Entry,
    LabelEntry,
    MessageEntry,
    PinEntry,
    SessionInfoEntry,
)
from coppice.tree.messages import AssistantMessage, UserMessage
from coppice.tree.preview import preview_of

_MOST_TOKENS: Final = 2**53 - 1
"""A larger count of a provider is invalid, and would not fit the column."""


class EntryWriter:
    """Places new entries of one conversation, which take their `keys` in order.

    `leaf_run` is the row of `OPEN_RUN` for the run of the leaf, where it has been read.

    Attributes:
        first_message: the preview of the first user message placed.
        names: the newest name given; empty when none was.
        kinds: what changed, as `coppice/conversationChanged` names it.
    """

    def __init__(
        self,
        connection: Connection,
        conversation: int,
        conversation_id: str,
        keys: Iterable[int],
        leaf_run: Sequence[Any] | None = None,
    ) -> None:
        self._connection = connection
        self._conversation = conversation
        self._conversation_id = conversation_id
        self._keys = iter(keys)
        self._placed: dict[str, PathEnd] = {}
        self._entries: list[dict[str, Any]] = []
        self._compactions: list[dict[str, Any]] = []
        self._cuts: list[PathEnd] = []
        self._runs = RunWriter(connection, conversation, leaf_run)
        self._labels_and_pins = LabelsAndPins(connection, conversation, self._runs)
        self.first_message: str | None = None
        self.names: list[str | None] = []
        self.kinds: set[str] = set()

    def find(self, entry_id: str) -> PathEnd | None:
        """The path to an entry, stored or placed."""
        placed = self._placed.get(entry_id)
        if placed is not None:
            return placed
        return find_end(self._connection, self._conversation, self._conversation_id, entry_id)

    def on_path(self, entry: PathEnd, end: PathEnd | None) -> bool:
        """Whether `entry` lies on the path to `end`, which may be placed but not yet stored."""
        if end is None:
            return False
        return is_on_path(self._connection, (entry.run, entry.depth), (end.run, end.depth))

    def place(
        self, record: NewRecord, body: str, parent: PathEnd | None, *, annotation: bool, lenient: bool = False
    ) -> PathEnd:
        """Adds an entry below `parent`: on the path, or as an `annotation` of it.

        Raises:
            UnknownEntryError: a label or pin has a target that does not exist, unless `lenient`.
        """
        entry, size = record.entry, record.size
        context_size = Size() if isinstance(entry, CompactionEntry) else size
        key = next(self._keys)
        before = Size() if parent is None else parent.total
        saved = _saved_by(entry, parent)
        usage, since = _usage_at(entry, size - saved, parent)
        end = PathEnd(
            conversation_id=self._conversation_id,
            key=key,
            id=entry.id,
            run=self._runs.run_for(parent, annotation=annotation),
            depth=0 if parent is None else parent.depth + 1,
            type=entry.type,
            total=before + context_size,
            compaction_key=_compaction_at(entry, key, parent),
            usage_tokens=usage,
            since_usage=since,
            saved=_saved_at(entry, saved, parent),
        )
        preview = showable(preview_of(entry))
        self._entries.append(self._row(record, body, preview, parent, end))
        self.kinds.add("entries")
        self._note(record, preview, parent, end, lenient=lenient)
        self._placed[entry.id] = end
        return end

    def flush(self) -> None:
        """Writes everything that was placed."""
        if len(self._entries) == 1:
            execute(self._connection, _INSERT_ENTRY, self._entries[0])
        elif self._entries:
            self._connection.execute(_INSERT_ENTRY, self._entries)
        if self._compactions:
            self._connection.execute(_INSERT_COMPACTION, self._compactions)
            cuts = [(end.key, end.run, end.depth) for end in self._cuts]
            landmarks.add(self._connection, self._conversation, landmarks.COMPACTION_REASON, cuts)
        self._runs.flush()
        self._labels_and_pins.flush()
        self._entries, self._compactions, self._cuts = [], [], []

    def _row(
        self, record: NewRecord, body: str, preview: str, parent: PathEnd | None, end: PathEnd
    ) -> dict[str, Any]:
        entry = record.entry
        return {
            "key": end.key,
            "conversation_key": self._conversation,
            "id": entry.id,
            "parent_key": None if parent is None else parent.key,
            "run": end.run,
            "depth": end.depth,
            "type": entry.type,
            "role": entry.message.role if isinstance(entry, MessageEntry) else None,
            "timestamp": entry.timestamp,
            "size_tokenizer": record.size.tokenizer,
            "size_estimate": record.size.estimate,
            "total_tokenizer": end.total.tokenizer,
            "total_estimate": end.total.estimate,
            "compaction_key": end.compaction_key,
            "usage_tokens": end.usage_tokens,
            "since_usage_tokenizer": end.since_usage.tokenizer,
            "since_usage_estimate": end.since_usage.estimate,
            "saved_tokenizer": end.saved.tokenizer,
            "saved_estimate": end.saved.estimate,
            "preview": preview,
            "body": body,
        }

    def _note(
        self, record: NewRecord, preview: str, parent: PathEnd | None, end: PathEnd, *, lenient: bool
    ) -> None:
        """Records the changes of an entry to rows outside the tree."""
        match record.entry:
            case MessageEntry(message=UserMessage()) if self.first_message is None:
                self.first_message = preview
            case CompactionEntry():
                self._note_compaction(record, record.entry.first_kept_entry_id, parent, end)
            case LabelEntry(target_id=target_id, label=label):
                if target := self._target(target_id, lenient=lenient):
                    self._labels_and_pins.label(target, label)
                    self.kinds.add("labels")
            case PinEntry(target_id=target_id, pinned=pinned):
                if target := self._target(target_id, lenient=lenient):
                    self._labels_and_pins.pin(target, pinned=pinned)
                    self.kinds.add("pins")
            case SessionInfoEntry(name=name):
                self.names = [None if name is None else showable(name[:MAX_NAME_CHARS])]
                self.kinds.add("name")
            case _:
                pass

    def _target(self, target_id: str, *, lenient: bool) -> PathEnd | None:
        target = self.find(target_id)
        if target is None and not lenient:
            raise UnknownEntryError("The entry to mark is not in this conversation.", entryId=target_id)
        return target

    def _note_compaction(
        self, record: NewRecord, first_kept: str | None, parent: PathEnd | None, end: PathEnd
    ) -> None:
        first_kept_end = None if first_kept is None else self.find(first_kept)
        if first_kept_end is not None and not self.on_path(first_kept_end, parent):
            first_kept_end = None
        if first_kept_end is not None:
            size = Size() if first_kept_end.type == "compaction" else self._size(first_kept_end)
            kept_depth, before = first_kept_end.depth, first_kept_end.total - size
        else:
            kept_depth, before = end.depth + 1, end.total
        ledger = record.ledger
        self._cuts.append(end)
        self._compactions.append(
            {
                "entry_key": end.key,
                "conversation_key": self._conversation,
                "kept_depth": kept_depth,
                "first_kept_entry_id": None if first_kept_end is None else first_kept_end.id,
                "before_kept_tokenizer": before.tokenizer,
                "before_kept_estimate": before.estimate,
                "ledger": None if ledger is None else storable(json.dumps(ledger, ensure_ascii=False)),
            }
        )

    def _size(self, end: PathEnd) -> Size:
        if end.id in self._placed:
            self.flush()
        return Size(*self._connection.execute(_SIZE, {"entry": end.key}).one())


def _compaction_at(entry: Entry, key: int, parent: PathEnd | None) -> int | None:
    if isinstance(entry, CompactionEntry):
        return key
    return None if parent is None else parent.compaction_key


def _saved_by(entry: Entry, parent: PathEnd | None) -> Size:
    """What a context edit saves, at most what earlier ones left of the path."""
    if not isinstance(entry, ContextEditEntry) or parent is None:
        return Size()
    left = parent.total - parent.saved
    return Size(min(entry.saved.tokenizer, left.tokenizer), min(entry.saved.estimate, left.estimate))


def _saved_at(entry: Entry, saved: Size, parent: PathEnd | None) -> Size:
    if isinstance(entry, CompactionEntry) or parent is None:
        return Size()
    return parent.saved + saved


def _usage_at(entry: Entry, size: Size, parent: PathEnd | None) -> tuple[int | None, Size]:
    """The newest valid provider count at `entry`, and the size of what came after it."""
    if isinstance(entry, CompactionEntry):
        return None, Size()
    if isinstance(entry, MessageEntry) and isinstance(entry.message, AssistantMessage):
        usage = entry.message.usage
        if usage is not None and not entry.message.failed and usage.context_tokens > 0:
            return min(usage.context_tokens, _MOST_TOKENS), Size()
    if parent is None or parent.usage_tokens is None:
        return None, Size()
    return parent.usage_tokens, parent.since_usage + size


_INSERT_ENTRY: Final = insert(ENTRY_TABLE)
_INSERT_COMPACTION: Final = insert(COMPACTION)
_SIZE: Final = select(ENTRY_TABLE.c.size_tokenizer, ENTRY_TABLE.c.size_estimate).where(
    ENTRY_TABLE.c.key == bindparam("entry")
)
