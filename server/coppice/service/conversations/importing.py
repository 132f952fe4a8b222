"""Taking an imported session's entries into the store, with sizes, file ledgers and short fields."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

from coppice.formats.session import SessionHeader, check_number_of_entries
from coppice.service.core.context import now
from coppice.service.core.conversation_path import ConversationPath
from coppice.service.core.thread_work import ThreadWork
from coppice.settings import Settings
from coppice.store.schema.records import ConversationRecord, NewConversation, NewRecord
from coppice.store.store import Store
from coppice.store.tree.extending import ExtendWriter
from coppice.store.tree.importing import ImportWriter
from coppice.tokens.measuring import size_of_entry
from coppice.tree.entries import (
    MAX_ID_CHARS,
    MAX_NAME_CHARS,
    MAX_TIME_CHARS,
    CompactionEntry,
    ContextEditEntry,
    Entry,
    MessageEntry,
)

_ID_FIELDS: Final = ("id", "parent_id", "first_kept_entry_id", "target_id", "from_id")
_MAX_TEXT_CHARS: Final = 4096
"""Characters of a folder or of a session's id: PATH_MAX of Linux."""

BATCH: Final = 500  # entries a transaction: some three megabytes of the store
BATCH_TOKENS: Final = 500_000
"""By estimate: about two million characters."""


READINGS: Final = 2
"""How often a session file is read: once for its structure, once for its entries."""


def taken_over(entry: Entry, time: str) -> Entry:
    """`entry`; where an id of it is too long, with a digest of the id, and with `time` for such a time.

    Without the state of a workspace: a client that recorded none would offer to restore what a file names.
    """
    changed: dict[str, object] = {}
    for name in _ID_FIELDS:
        text = getattr(entry, name, None)
        if isinstance(text, str) and len(text) > MAX_ID_CHARS:
            changed[name] = short_id(text)
    if isinstance(entry, ContextEditEntry):
        changed["cleared"] = [short_id(each) for each in entry.cleared]
    if short_time(entry.timestamp) is None:
        changed["timestamp"] = time
    if isinstance(entry, MessageEntry) and getattr(entry.message, "workspace_state", None) is not None:
        changed["message"] = entry.message.model_copy(update={"workspace_state": None})
    return entry.model_copy(update=changed) if changed else entry


def short_id(entry_id: str | None) -> str | None:
    """The id, or a digest of one that is too long: the same for every reference to the entry."""
    if entry_id is None or len(entry_id) <= MAX_ID_CHARS:
        return entry_id
    return blake2b(entry_id.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def short_time(time: str | None) -> str | None:
    """The time; None for what is too long to be one."""
    return None if time is None or len(time) > MAX_TIME_CHARS else time


def short_text(text: str | None) -> str | None:
    """The beginning of a text."""
    return None if text is None else text[:_MAX_TEXT_CHARS]


def conversation_of_session(
    header: SessionHeader, conversation_id: str, workspace_uri: str, **origin: str | None
) -> NewConversation:
    """The conversation that a session becomes; `origin` says where the session came from."""
    source = {
        "format": header.format,
        **origin,
        "cwd": short_text(header.cwd),
        "header": header.extra,
    }
    return NewConversation(
        id=conversation_id,
        workspace_uri=workspace_uri,
        created_at=short_time(header.created_at) or now(),
        name=None if header.name is None else header.name[:MAX_NAME_CHARS],
        source={key: value for key, value in source.items() if value is not None},
    )


@dataclass
class ReadingProgress:
    """How far an import has come, by the bytes of its file that were read."""

    thread: ThreadWork
    _percentage: int = 0

    def on_read(self, read: int, size: int) -> None:
        """See `OnRead`. Raises StoppedError when the import was cancelled."""
        self.thread.check()
        percentage = min(read * 100 // max(READINGS * size, 1), 99)
        if percentage > self._percentage:
            self._percentage = percentage
            self.thread.report("Reading", percentage)

    def report(self, stage: str) -> None:
        """Reports `stage` with the percentage reached. Raises StoppedError like `on_read`."""
        self.thread.report(stage, self._percentage)


@dataclass
class Intake:
    """Stores entries in batches, as they come; memory holds one batch, bounded in number and in size."""

    store: Store
    writer: ImportWriter
    conversation: NewConversation
    settings: Settings
    reading: ReadingProgress
    count: int = 0
    _batch: list[NewRecord] = field(default_factory=list)
    _batch_tokens: int = 0

    def take(self, entries: Iterable[Entry]) -> None:
        """Stores all of them, parents before children. Raises ImportFailedError when they are too many."""
        for original in entries:
            check_number_of_entries(self.count + len(self._batch) + 1)
            entry = taken_over(original, self.conversation.created_at)
            ledger = None
            if isinstance(entry, CompactionEntry):
                self._flush()
                ledger = ledger_at(self.store, self.writer, self.conversation, entry, self.settings)
            size = size_of_entry(entry)
            self._batch.append(NewRecord(entry, size, ledger))
            self._batch_tokens += size.estimate
            if len(self._batch) >= BATCH or self._batch_tokens >= BATCH_TOKENS:
                self._flush()
        self._flush()

    def _flush(self) -> None:
        if self._batch:
            self.writer.add(self._batch)
            self.count += len(self._batch)
            self._batch.clear()
            self._batch_tokens = 0
            self.reading.report(f"{self.count:,} entries")


def ledger_at(
    store: Store,
    writer: ImportWriter | ExtendWriter,
    conversation: NewConversation,
    entry: CompactionEntry,
    settings: Settings,
) -> dict[str, object] | None:
    """The files of the path up to where the compaction cut, as our own compactions store them."""
    if entry.parent_id is None:
        return None
    end = writer.end(entry.parent_id)
    compaction = store.compaction(end)
    path = ConversationPath(store, _as_record(conversation), end, compaction, settings)
    kept_depth = store.ancestor_depth(end, entry.first_kept_entry_id) if entry.first_kept_entry_id else None
    ledger = path.ledger_here((end.depth + 1 if kept_depth is None else kept_depth) - 1)
    if not ledger.histories:
        ledger.add_lists(entry.details, entry.id)
    return ledger.to_json()


def _as_record(new: NewConversation) -> ConversationRecord:
    return ConversationRecord(
        id=new.id,
        workspace_uri=new.workspace_uri,
        created_at=new.created_at,
        modified_at=new.created_at,
        leaf_id=None,
        entry_count=0,
        source=new.source,
    )
