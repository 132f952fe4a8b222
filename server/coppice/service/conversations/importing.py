"""Taking an imported session's entries into the store, with sizes and file ledgers."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from coppice.formats.session import check_number_of_entries
from coppice.service.conversations.short_fields import with_short_fields
from coppice.service.core.conversation_path import ConversationPath
from coppice.service.core.thread_work import ThreadWork
from coppice.settings import Settings
from coppice.store.schema.records import ConversationRecord, NewConversation, NewRecord
from coppice.store.store import Store
from coppice.store.tree.extending import ExtendWriter
from coppice.store.tree.importing import ImportWriter
from coppice.tokens.measuring import size_of_entry
from coppice.tree.entries import CompactionEntry, Entry

BATCH: Final = 500  # entries a transaction: some three megabytes of the store
BATCH_TOKENS: Final = 500_000
"""By estimate: about two million characters."""


READINGS: Final = 2
"""How often a session file is read: once for its structure, once for its entries."""


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
            entry = with_short_fields(original, self.conversation.created_at)
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
    ledger = path.ledger((end.depth + 1 if kept_depth is None else kept_depth) - 1)
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
