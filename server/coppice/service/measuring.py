"""A path against a model's window: how big its view is, and the least it can come down to."""

from collections.abc import Sequence
from dataclasses import dataclass

from coppice.compaction.sizes import fitted_sizes
from coppice.recovery.floor import Floor, View
from coppice.service.fitting import Pinned, floor_of, least_tokens, tail_start
from coppice.service.path_reading import Path
from coppice.service.usage import Counter, context_tokens, counted_tokens
from coppice.store.records import EntryRow
from coppice.tokens.measuring import size_of_message
from coppice.tree.entries import Entry, MessageEntry
from coppice.tree.messages import AssistantMessage, Message
from coppice.tree.view import message_of


@dataclass(frozen=True, slots=True)
class Measured:
    """`tokens` is the size of the next request, with what is known to be sent beside the view."""

    view: View
    floor: Floor
    tokens: int


def measure(
    path: Path, context_window: int, *, beside: int | None = None, known_beside: int = 0, prompt: int = 0
) -> Measured:
    """Reads the store: its cost is that of reading the view's tail.

    `beside` is what is known to be sent beside the view; by default what a provider counted more than we do,
    and at least `known_beside`. `prompt` is the size of a message that is yet to come.
    """
    counter = Counter(path.settings)
    counted = counted_tokens(path, counter)
    if beside is None:
        beside = max(known_beside, context_tokens(path, counter)[0] - counted)
    sizes = fitted_sizes(path.settings.compaction, context_window)
    rows = _rows(path)
    kept = open_rows(path, rows)
    unsent = sum(counter.tokens(row.size) for row in rows[len(kept) :] if row.type == "message")
    tokens = max(0, counted - unsent)
    return Measured(
        View(tokens=tokens, window=sizes.window, threshold=sizes.threshold),
        _floor(path, kept, counter, beside + prompt),
        tokens + beside + prompt,
    )


def open_rows(path: Path, rows: Sequence[EntryRow]) -> Sequence[EntryRow]:
    """The view's `rows` without failed replies at the end: the next request stands in their place."""
    last = len(rows)
    for index in range(len(rows) - 1, -1, -1):
        row = rows[index]
        if row.type != "message":
            continue
        if row.role != "assistant" or not _failed(path.store.entry(path.conversation.id, row.id)):
            break
        last = index
    return rows[:last]


def pins_of(path: Path, counter: Counter) -> list[Pinned]:
    """The pinned entries of the whole path with their sizes out of their places. Reads the store."""
    if path.end is None:
        return []
    return [Pinned(depth, counter.pinned_tokens([entry])) for depth, entry in path.store.pins(path.end)]


def _rows(path: Path) -> Sequence[EntryRow]:
    if path.end is None:
        return []
    return path.store.rows(path.end, path.first_depth, path.end.depth)


def _floor(path: Path, rows: Sequence[EntryRow], counter: Counter, beside: int) -> Floor:
    tokens = [counter.tokens(row.size) for row in rows]
    tail = tail_start(rows, tokens)
    summary = counter.tokens(path.compaction.size) if path.compaction is not None else 0
    return floor_of(
        rows,
        tokens,
        tail=tail,
        least_of_tail=_least_of_tail(path, rows, tail, counter),
        pins=pins_of(path, counter),
        summary=summary,
        beside=beside,
    )


def _least_of_tail(path: Path, rows: Sequence[EntryRow], tail: int, counter: Counter) -> int:
    if path.end is None or not rows:
        return 0
    pinned = {entry.id for _, entry in path.store.pins(path.end)}
    entries = path.entries(rows[tail].depth, rows[-1].depth)
    messages: list[tuple[Message, bool]] = [
        (said, entry.id in pinned)
        for entry in entries
        if (said := message_of(entry)) is not None and not _failed(entry)
    ]
    return least_tokens(messages, lambda message: counter.tokens(size_of_message(message)))


def _failed(entry: Entry) -> bool:
    if not isinstance(entry, MessageEntry) or not isinstance(entry.message, AssistantMessage):
        return False
    return entry.message.failed
