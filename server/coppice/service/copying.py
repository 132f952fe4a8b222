"""Copying a part of a path: into a new conversation, or onto a branch of the same one."""

from collections.abc import Iterator, Sequence

from coppice.store.records import NewRecord, PathEnd
from coppice.store.store import Store
from coppice.tokens.measuring import size_of_entry
from coppice.tree.entries import CompactionEntry, Entry
from coppice.tree.ids import new_entry_id

BATCH = 500


def path_batches(store: Store, end: PathEnd, first: int = 0) -> Iterator[list[NewRecord]]:
    """The entries from depth `first` to the path's end as records, in batches, oldest first."""
    for start in range(first, end.depth + 1, BATCH):
        entries = store.entries(end, start, min(start + BATCH - 1, end.depth))
        yield [_record(store, end.conversation_id, entry) for entry in entries]


def with_new_ids(records: Sequence[NewRecord]) -> list[NewRecord]:
    """The records under new ids; what they say of each other follows, what they say of others stays."""
    ids = {record.entry.id: new_entry_id() for record in records}
    return [NewRecord(_renamed(record.entry, ids), record.size, record.ledger) for record in records]


def _record(store: Store, conversation_id: str, entry: Entry) -> NewRecord:
    ledger = None
    if isinstance(entry, CompactionEntry):
        here = store.end(conversation_id, entry.id)
        stored = store.compaction(here) if here is not None else None
        ledger = stored.ledger if stored is not None else None
    return NewRecord(entry, size_of_entry(entry), ledger)


def _renamed(entry: Entry, ids: dict[str, str]) -> Entry:
    changes: dict[str, str] = {"id": ids[entry.id]}
    if isinstance(entry, CompactionEntry) and entry.first_kept_entry_id in ids:
        changes["first_kept_entry_id"] = ids[entry.first_kept_entry_id]
    return entry.model_copy(update=changes)
