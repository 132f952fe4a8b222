"""What the requests of a path and of its conversation took."""

from collections.abc import Collection, Iterable, Mapping
from functools import reduce
from typing import Any

from coppice.compaction.asking.summarizer import WrittenSummary
from coppice.protocol.usage import Spent, SpentByModel, SpentState
from coppice.tree.entries import BranchSummaryEntry, CompactionEntry, Entry, MessageEntry
from coppice.tree.messages import AssistantMessage, UserMessage

_Model = tuple[str | None, str | None]
"""What a reply records of its provider and its model."""
_Parts = dict[_Model, Spent]


def spent_on(
    entries: Iterable[Entry], path: Collection[str], unused_summaries: Iterable[WrittenSummary] = ()
) -> SpentState:
    """The sums of the requests whose replies and summaries are among the `entries` of a conversation.

    These come in the order in which they were appended; those of the ids `path` are on the path.
    """
    turn: _Parts = {}
    conversation: _Parts = {}
    compactions: _Parts = {}
    whole: _Parts = {}
    unused: _Parts = {}
    copies: set[int] = set()
    for entry in entries:
        on_path = entry.id in path
        if on_path and isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage):
            turn = {}
        if (took := _taken_by(entry)) is None:
            continue
        of, cost, content = took
        if on_path:
            for parts in (turn, conversation) if isinstance(entry, MessageEntry) else (compactions,):
                _add(parts, of, cost)
        # What an undo stored again has the time and content of what was there before, and its counts or none.
        same = hash((entry.timestamp, repr(content)))
        counted = hash((same, cost.input, cost.output))
        if counted not in copies and (cost.input + cost.output > 0 or same not in copies):
            _add(whole, of, cost)
        copies |= {same, counted}
    for written in unused_summaries:
        for parts in (whole, unused):
            _add(parts, (None, written.summarizer), _of_summary(written.details))
    sums = {"turn": turn, "conversation": conversation, "compactions": compactions}
    sums |= {"whole": whole, "unused": unused}
    return SpentState(
        **{name: reduce(_sum, parts.values(), Spent()) for name, parts in sums.items()},
        models=[
            SpentByModel(
                provider=of[0], model=of[1], **{name: parts.get(of, Spent()) for name, parts in sums.items()}
            )
            for of in conversation | compactions | whole
        ],
    )


def _taken_by(entry: Entry) -> tuple[_Model, Spent, object] | None:
    """Of a reply or a summary who wrote it, what its requests took, and its content."""
    match entry:
        case MessageEntry(message=AssistantMessage() as reply):
            return (reply.provider, reply.model), _of_reply(reply), reply.content
        case CompactionEntry() | BranchSummaryEntry():
            return (None, _writer(entry)), _of_summary(entry.details), entry.summary
        case _:
            return None


def _add(parts: _Parts, of: _Model, cost: Spent) -> None:
    if cost != Spent():
        parts[of] = _sum(parts.get(of, Spent()), cost)


def _writer(entry: CompactionEntry | BranchSummaryEntry) -> str | None:
    """The model that wrote a summary."""
    named = entry.details.get("summarizer") if isinstance(entry.details, Mapping) else None
    return named if isinstance(named, str) else entry.model


def _of_reply(reply: AssistantMessage) -> Spent:
    usage, times = reply.usage, reply.milliseconds
    if usage is None and times is None:
        return Spent()
    return Spent(
        requests=1,
        input=usage.request_tokens if usage else 0,
        output=usage.output if usage else 0,
        cache_read=(usage.cache_read or 0) if usage else 0,
        cache_write=(usage.cache_write or 0) if usage else 0,
        milliseconds=times.whole if times else 0,
        first_token_milliseconds=times.first_token if times else 0,
    )


def _of_summary(details: Any) -> Spent:
    """What a summary's writer recorded; nothing of one that no model wrote."""
    if not isinstance(details, Mapping):
        return Spent()
    tokens, times = details.get("tokens"), details.get("milliseconds")
    return Spent(
        requests=_count(details, "requests"),
        input=_count(tokens, "input"),
        output=_count(tokens, "output"),
        cache_read=_count(tokens, "cacheRead"),
        cache_write=_count(tokens, "cacheWrite"),
        milliseconds=_count(times, "whole"),
        first_token_milliseconds=_count(times, "firstToken"),
    )


def _count(counts: Any, name: str) -> int:
    value = counts.get(name) if isinstance(counts, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _sum(one: Spent, other: Spent) -> Spent:
    return Spent(**{name: getattr(one, name) + getattr(other, name) for name in Spent.model_fields})
