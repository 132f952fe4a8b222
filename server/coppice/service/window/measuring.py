"""A path against a model's window: how big its view is, and the least it can come down to."""

from collections.abc import Sequence
from dataclasses import dataclass

from coppice.compaction.sizes import fitted_sizes
from coppice.recovery.floor import Floor, View
from coppice.service.core.conversation_path import ConversationPath
from coppice.service.window.fitting import Pinned, floor_of, least_tokens, tail_start
from coppice.service.window.usage import Counter, context_tokens, counted_tokens
from coppice.store.records import EntryRow
from coppice.tokens.measuring import size_of_message
from coppice.tree.entries import Entry, reply_of
from coppice.tree.messages import Message
from coppice.tree.view import message_of


@dataclass(frozen=True, slots=True)
class Measured:
    """`tokens` is the size of the next request, with what is known to be sent with the view."""

    view: View
    floor: Floor
    tokens: int


def measure(
    path: ConversationPath,
    context_window: int,
    *,
    overhead_tokens: int | None = None,
    known_overhead_tokens: int = 0,
    prompt: int = 0,
) -> Measured:
    """Reads the store: its cost is that of reading the view's tail.

    `overhead_tokens` is what is known to be sent with the view; by default what a provider counted more than
    we do, and at least `known_overhead_tokens`. `prompt` is the size of a message that is yet to come.
    """
    counter = Counter(path.settings)
    counted = counted_tokens(path, counter)
    if overhead_tokens is None:
        overhead_tokens = max(known_overhead_tokens, context_tokens(path, counter)[0] - counted)
    sizes = fitted_sizes(path.settings.compaction, context_window)
    kept = open_rows(path, _rows(path))
    return Measured(
        View(tokens=counted, window=sizes.window, threshold=sizes.threshold),
        _floor(path, kept, counter, overhead_tokens + prompt),
        counted + overhead_tokens + prompt,
    )


def open_rows(path: ConversationPath, rows: Sequence[EntryRow]) -> Sequence[EntryRow]:
    """The view's `rows` without failed replies at the end: the next request replaces them."""
    last = len(rows)
    for index in range(len(rows) - 1, -1, -1):
        row = rows[index]
        if row.type != "message":
            continue
        if row.role != "assistant" or not is_failed_reply(path.store.entry(path.conversation.id, row.id)):
            break
        last = index
    return rows[:last]


def pins_of(path: ConversationPath, counter: Counter) -> list[Pinned]:
    """The pinned entries of the whole path with their sizes out of their places. Reads the store."""
    if path.end is None:
        return []
    return [Pinned(depth, counter.pinned_tokens([entry])) for depth, entry in path.store.pins(path.end)]


def _rows(path: ConversationPath) -> Sequence[EntryRow]:
    if path.end is None:
        return []
    return path.store.rows(path.end, path.first_depth, path.end.depth)


def _floor(path: ConversationPath, rows: Sequence[EntryRow], counter: Counter, overhead_tokens: int) -> Floor:
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
        overhead_tokens=overhead_tokens,
    )


def _least_of_tail(path: ConversationPath, rows: Sequence[EntryRow], tail: int, counter: Counter) -> int:
    if path.end is None or not rows:
        return 0
    pinned = {entry.id for _, entry in path.store.pins(path.end)}
    entries = path.entries(rows[tail].depth, rows[-1].depth)
    messages: list[tuple[Message, bool]] = [
        (message, entry.id in pinned)
        for entry in entries
        if (message := message_of(entry)) is not None and not is_failed_reply(entry)
    ]
    return least_tokens(messages, lambda message: counter.tokens(size_of_message(message)))


def is_failed_reply(entry: Entry) -> bool:
    """Whether the entry is a model's reply that broke off."""
    return (reply := reply_of(entry)) is not None and reply.failed
