"""Long conversations made of a real one's messages, in the store and as Pi's session files.

The messages repeat in their order, aligned at the end, so that conversations of every length end alike:
the same messages after the last compaction, the same branch points. What differs is only what lies
before.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from flat_cost_operations import NOW

from coppice.store.schema.records import NewConversation, NewRecord
from coppice.store.store import Store
from coppice.tokens.measuring import size_of_entry
from coppice.tokens.size import Size
from coppice.tree.entries import ENTRY, CompactionEntry, Entry, MessageEntry

COMPACTION_EVERY: Final = 300
AFTER_COMPACTION: Final = 100
BRANCH_EVERY: Final = 50
BRANCH_OFFSET: Final = 25
ABANDONED_ENTRIES: Final = 5
KEEP_TOKENS: Final = 20_000
_BATCH: Final = 1000


@dataclass(frozen=True)
class Sample:
    """The distinct messages, with their sizes; `origin` says where they come from."""

    entries: list[Entry]
    sizes: list[Size]
    origin: str


def load_sample(shared: Path, examples: Path) -> Sample:
    """The messages of the real session, or where that is missing of the example that ships."""
    real = shared / "data" / "pi-session.jsonl"
    if real.is_file():
        return _sample(real, f"{real.name}, a real session")
    for example in sorted(examples.glob("*.jsonl")):
        return _sample(example, f"{example.name}, an example; the real session is missing")
    raise SystemExit("No session to build from: neither the shared data nor docs/examples is there.")


def _sample(path: Path, origin: str) -> Sample:
    entries: list[Entry] = []
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            data = json.loads(line)
            if data["type"] == "message":
                entries.append(ENTRY.validate_python(data | {"id": "", "parentId": None}))
    return Sample(
        entries, [size_of_entry(entry) for entry in entries], f"{len(entries)} messages of {origin}"
    )


def entry_id(number: int) -> str:
    """Spread like random ids, so that the index of ids is used as in life."""
    return f"{(number + 1) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF:016x}"


def records(sample: Sample, length: int, *, branchy: bool) -> Iterator[NewRecord]:
    """The conversation: a compaction about every 300 entries and, if `branchy`, a branch each 50.

    The branch becomes the main line each time: five entries are abandoned.
    """
    numbers: list[int] = []
    for number in range(length):
        to_end = length - number
        parent = number - 1
        if branchy and to_end % BRANCH_EVERY == BRANCH_OFFSET and number > ABANDONED_ENTRIES:
            parent -= ABANDONED_ENTRIES
        numbers.append(parent)
        above = None if parent < 0 else entry_id(parent)
        if to_end % COMPACTION_EVERY == AFTER_COMPACTION and number > ABANDONED_ENTRIES:
            first_kept = _first_kept(sample, length, numbers)
            yield NewRecord(
                _compaction(number, above, first_kept), Size(1200, 1200), {"read": [], "modified": []}
            )
            continue
        index = -to_end % len(sample.entries)
        update = {"id": entry_id(number), "parent_id": above}
        yield NewRecord(sample.entries[index].model_copy(update=update), sample.sizes[index])


def _first_kept(sample: Sample, length: int, parents: list[int]) -> int:
    """The first user or assistant message that leaves the newest 20,000 tokens."""
    number, kept_tokens = parents[-1], 0
    while parents[number] >= 0:
        index = -(length - number) % len(sample.entries)
        kept_tokens += sample.sizes[index].estimate
        entry = sample.entries[index]
        if (
            kept_tokens >= KEEP_TOKENS
            and isinstance(entry, MessageEntry)
            and entry.message.role != "toolResult"
        ):
            break
        number = parents[number]
    return number


def _compaction(number: int, above: str | None, first_kept: int) -> CompactionEntry:
    return CompactionEntry(
        id=entry_id(number),
        parent_id=above,
        timestamp=NOW,
        summary="## Goal\n" + "The refactoring goes on as agreed. " * 130,
        first_kept_entry_id=entry_id(first_kept),
        tokens_before=150_000,
    )


def build_store(
    url: str, conversation_id: str, made: Iterator[NewRecord], workspace: str = "file:///garden"
) -> None:
    store = Store.open(url, server_id="builder", index_idle_seconds=None)
    new = NewConversation(conversation_id, workspace, NOW)
    with store.importing(new) as writer:
        batch: list[NewRecord] = []
        for record in made:
            batch.append(record)
            if len(batch) == _BATCH:
                writer.add(batch)
                batch = []
        writer.add(batch)
    store.close()


def build_pi_file(path: Path, made: Iterator[NewRecord]) -> None:
    header: dict[str, Any] = {
        "type": "session",
        "version": 3,
        "id": "benchmark",
        "timestamp": NOW,
        "cwd": str(path.parent),
    }
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps(header) + "\n")
        for record in made:
            file.write(json.dumps(record.entry.model_dump(mode="json", by_alias=True)) + "\n")
