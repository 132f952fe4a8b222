"""A path against a model's window: how big its view is, and the least it can come down to."""

from collections.abc import Callable, Sequence

from coppice.compaction.span.cut import find_cut, is_in_context
from coppice.compaction.span.sizes import Sizes, fitted_sizes
from coppice.recovery.request_size import LEAST_SUMMARY, RequestSize
from coppice.recovery.truncation import LEAST_LIMIT, truncated
from coppice.service.core.conversation_path import ConversationPath
from coppice.service.window.fitting import Pinned, pinned_before
from coppice.service.window.usage import (
    Counter,
    context_tokens,
    counted_tokens,
    provider_edits_context,
)
from coppice.store.schema.records import EntryRow
from coppice.tokens.measuring import size_of_message
from coppice.tree.entries import Entry, reply_of
from coppice.tree.messages import Message, ToolResultMessage
from coppice.tree.view import message_of


def measure(
    path: ConversationPath,
    context_window: int,
    *,
    overhead_tokens: int | None = None,
    known_overhead_tokens: int = 0,
    prompt: int = 0,
    stated_window: int | None = None,
) -> RequestSize:
    """Reads the store: its cost is that of reading the view's tail.

    `overhead_tokens` is what is known to be sent with the view; by default what a provider counted more than
    we do, and at least `known_overhead_tokens`. `prompt` is the size of a message that is yet to come.
    `stated_window` is the window that is set, where `context_window` was concluded from a refusal.
    """
    counter = Counter(path.settings)
    counted = counted_tokens(path, counter)
    tokens_by_usage, source = context_tokens(path, counter)
    if source == "usage" and provider_edits_context(path.settings):
        counted = min(counted, max(0, tokens_by_usage - known_overhead_tokens))
    if overhead_tokens is None:
        overhead_tokens = max(known_overhead_tokens, tokens_by_usage - counted)
    rows: Sequence[EntryRow] = []
    if path.end is not None:
        rows = open_rows(path, path.store.rows(path.end, path.first_depth, path.end.depth))
    tokens = [counter.tokens(row.size) for row in rows]
    tail, pins = tail_start(rows, tokens), pins_of(path, counter)
    return measured_of(
        counted,
        fitted_sizes(path.settings.compaction, context_window),
        rows,
        tokens,
        pins,
        tail=tail,
        least_of_tail=_least_of_tail(path, rows[tail:], tokens[tail:], pins, counter),
        summary=counter.tokens(path.compaction.size) if path.compaction is not None else 0,
        overhead_tokens=overhead_tokens + prompt,
        stated_window=stated_window or context_window,
    )


def measured_of(
    view_tokens: int,
    sizes: Sizes,
    rows: Sequence[EntryRow],
    tokens: Sequence[int],
    pins: Sequence[Pinned],
    *,
    tail: int,
    least_of_tail: int,
    summary: int,
    overhead_tokens: int,
    stated_window: int,
) -> RequestSize:
    """The request that sends the view of `rows`, which begins with a summary of that size.

    `least_of_tail` is `least_tokens` of the messages from index `tail` on.
    """
    before = sum(size for row, size in zip(rows[:tail], tokens[:tail], strict=True) if is_in_context(row))
    return RequestSize(
        view_tokens=view_tokens,
        window=sizes.window,
        threshold=sizes.threshold,
        overhead_tokens=overhead_tokens,
        pinned=pinned_before(rows[tail].depth, pins) if rows else 0,
        tail=least_of_tail,
        summary=min(LEAST_SUMMARY, before + summary) if before else summary,
        stated_window=stated_window,
    )


def tail_start(rows: Sequence[EntryRow], tokens: Sequence[int]) -> int:
    """The index of the newest entry that a cut is possible before; 0 where there is none."""
    cut = find_cut(rows, tokens, 1)
    return cut.first_kept if cut is not None else 0


def least_tokens(
    messages: Sequence[tuple[Message, int, bool]], count_tokens: Callable[[Message], int]
) -> int:
    """The size of a tail with its tool results at their shortest; the ones marked true are not cut.

    Each message comes with its size.
    """
    newest = max(
        (place for place, (message, _, _) in enumerate(messages) if isinstance(message, ToolResultMessage)),
        default=-1,
    )
    total = 0
    for place, (message, size, fixed) in enumerate(messages):
        least = size
        if isinstance(message, ToolResultMessage) and not fixed:
            short = truncated(message, LEAST_LIMIT if place == newest else 0)
            least = size if short is message else min(size, count_tokens(short))
        total += least
    return total


def open_rows(path: ConversationPath, rows: Sequence[EntryRow]) -> Sequence[EntryRow]:
    """The view's `rows` without failed replies at the end: the next request replaces them."""
    last = len(rows)
    for index in range(len(rows) - 1, -1, -1):
        row = rows[index]
        if row.type != "message":
            continue
        if row.role != "assistant" or not _is_failed_reply(path.store.entry(path.conversation.id, row.id)):
            break
        last = index
    return rows[:last]


def pins_of(path: ConversationPath, counter: Counter) -> list[Pinned]:
    """The pinned entries of the whole path with their sizes out of their places. Reads the store."""
    if path.end is None:
        return []
    return [Pinned(depth, counter.pinned_tokens([entry])) for depth, entry in path.store.pins(path.end)]


def _least_of_tail(
    path: ConversationPath,
    rows: Sequence[EntryRow],
    tokens: Sequence[int],
    pins: Sequence[Pinned],
    counter: Counter,
) -> int:
    if not rows:
        return 0
    pinned = {pin.depth for pin in pins}
    entries = path.entries(rows[0].depth, rows[-1].depth)
    messages = [
        (message, size, depth in pinned)
        for depth, (entry, size) in enumerate(zip(entries, tokens, strict=True), rows[0].depth)
        if (message := message_of(entry)) is not None and not _is_failed_reply(entry)
    ]
    return least_tokens(messages, lambda message: counter.tokens(size_of_message(message)))


def _is_failed_reply(entry: Entry) -> bool:
    return (reply := reply_of(entry)) is not None and reply.failed
