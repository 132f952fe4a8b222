"""Copying a part of a path: into a new conversation, or onto a branch of the same one."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from coppice.store.reader import StoreReader
from coppice.store.schema.records import NewRecord, PathEnd
from coppice.tokens.measuring import size_of_entry
from coppice.tokens.size import Size
from coppice.tree.entries import (
    METADATA_TYPES,
    CompactionEntry,
    ContextEditEntry,
    Entry,
    LabelEntry,
    MessageEntry,
    PinEntry,
)
from coppice.tree.ids import new_entry_id
from coppice.tree.messages import AssistantMessage, Message, Usage

BATCH: Final = 500
"""Entries that are read and written at once. A cancel is noticed between two batches."""
COPIED_METADATA: Final = ("file_activity", "custom")
"""Metadata that is copied as it was recorded. Of labels and pins what holds now is copied."""


def path_batches(store: StoreReader, end: PathEnd, first: int = 0) -> Iterator[list[NewRecord]]:
    """The entries from depth `first` to the path's end as records, in batches, oldest first."""
    for start in range(first, end.depth + 1, BATCH):
        last = min(start + BATCH - 1, end.depth)
        pairs = zip(store.entries(end, start, last), store.rows(end, start, last), strict=True)
        yield [_record(store, end.conversation_id, entry, row.size) for entry, row in pairs]


def labels_and_pins(store: StoreReader, end: PathEnd, first: int = 0) -> list[LabelEntry | PinEntry]:
    """The labels and pins that the entries from depth `first` on bear now, as new entries at the end.

    They have every property of the entries that set them, also those that we do not know.
    """
    return [
        entry.model_copy(update={"id": new_entry_id(), "parent_id": end.id})
        for depth, entry in store.labels_and_pins(end)
        if depth >= first
    ]


def replayed(
    store: StoreReader,
    end: PathEnd,
    above: int,
    changed: Mapping[str, Message] = MappingProxyType({}),
    on_batch: Callable[[], None] = lambda: None,
) -> list[NewRecord]:
    """What follows depth `above` on the path, as new entries to append elsewhere, in order.

    The metadata attached to an entry follows it, and that of the one at `above` comes first; labels and pins
    come last. Ids are new, and references among the entries are changed to them. Up to the next compaction
    the providers' counts are zero: they counted a view that the copies are not seen in. `changed` holds
    messages that replace others, by the old ids of their entries. `on_batch` is called after some hundred
    entries each and may raise to stop.
    """
    attached: dict[int, list[Entry]] = defaultdict(list)
    for depth, entry in store.attached(end, above, end.depth, COPIED_METADATA):
        attached[depth].append(entry)
    records = _unsized(attached[above])
    for number, batch in enumerate(path_batches(store, end, above + 1)):
        on_batch()
        for depth, record in enumerate(batch, above + 1 + number * BATCH):
            if record.entry.type not in METADATA_TYPES or record.entry.type in COPIED_METADATA:
                records.append(_changed(record, changed))
            records += _unsized(attached[depth])
    return _uncounted(_with_new_ids([*records, *_unsized(labels_and_pins(store, end, above + 1))]))


def _record(store: StoreReader, conversation_id: str, entry: Entry, size: Size) -> NewRecord:
    ledger = None
    if isinstance(entry, CompactionEntry):
        here = store.end(conversation_id, entry.id)
        ledger = store.stored_ledger(here) if here is not None else None
    return NewRecord(entry, size, ledger)


def _unsized(entries: Iterable[Entry]) -> list[NewRecord]:
    return [NewRecord(entry, Size()) for entry in entries]


def _with_new_ids(records: Sequence[NewRecord]) -> list[NewRecord]:
    ids = {record.entry.id: new_entry_id() for record in records}
    return [replace(record, entry=_renamed(record.entry, ids)) for record in records]


def _changed(record: NewRecord, changed: Mapping[str, Message]) -> NewRecord:
    message = changed.get(record.entry.id)
    if message is None or not isinstance(record.entry, MessageEntry):
        return record
    entry = record.entry.model_copy(update={"message": message})
    return replace(record, entry=entry, size=size_of_entry(entry))


def _renamed(entry: Entry, ids: dict[str, str]) -> Entry:
    changes: dict[str, str] = {"id": ids[entry.id]}
    match entry:
        case CompactionEntry(first_kept_entry_id=str() as first_kept) if first_kept in ids:
            changes["first_kept_entry_id"] = ids[first_kept]
        case ContextEditEntry():
            cleared = [ids.get(each, each) for each in entry.cleared]
            return entry.model_copy(update={**changes, "cleared": cleared})
        case LabelEntry() | PinEntry() if entry.target_id in ids:
            changes["target_id"] = ids[entry.target_id]
        case _:
            pass
    return entry.model_copy(update=changes)


def _uncounted(records: Sequence[NewRecord]) -> list[NewRecord]:
    uncounted = list(records)
    for index, record in enumerate(uncounted):
        match record.entry:
            case CompactionEntry():
                break
            case MessageEntry(message=AssistantMessage(usage=Usage() as usage) as reply):
                none = Usage.model_validate(_zeroed(usage.model_dump(by_alias=True)))
                message = reply.model_copy(update={"usage": none})
                uncounted[index] = replace(record, entry=record.entry.model_copy(update={"message": message}))
            case _:
                pass
    return uncounted


def _zeroed(value: Any) -> Any:
    """Numbers as 0, all else as it is: what was spent, was spent by the original."""
    match value:
        case bool():
            return value
        case int() | float():
            return 0
        case dict():
            return {key: _zeroed(item) for key, item in value.items()}
        case _:
            return value
