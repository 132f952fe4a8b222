"""What the requests of a path took."""

from collections.abc import Iterable, Mapping
from typing import Any

from coppice.protocol.usage import Spent, SpentState
from coppice.tree.entries import BranchSummaryEntry, CompactionEntry, Entry, MessageEntry
from coppice.tree.messages import AssistantMessage, UserMessage


def spent_on(path: Iterable[Entry]) -> SpentState:
    """The sums of the requests whose replies and summaries are among the entries of `path`, root first."""
    turn, conversation, compactions = Spent(), Spent(), Spent()
    for entry in path:
        match entry:
            case MessageEntry(message=UserMessage()):
                turn = Spent()
            case MessageEntry(message=AssistantMessage() as reply):
                cost = _of_reply(reply)
                turn, conversation = _sum(turn, cost), _sum(conversation, cost)
            case CompactionEntry() | BranchSummaryEntry():
                compactions = _sum(compactions, _of_summary(entry.details))
            case _:
                pass
    return SpentState(turn=turn, conversation=conversation, compactions=compactions)


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
    )


def _of_summary(details: Any) -> Spent:
    """What a summary's writer recorded; nothing of one that no model wrote."""
    if not isinstance(details, Mapping):
        return Spent()
    tokens = details.get("tokens")
    counts = tokens if isinstance(tokens, Mapping) else {}
    return Spent(
        requests=_count(details.get("requests")),
        input=_count(counts.get("input")),
        output=_count(counts.get("output")),
    )


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _sum(one: Spent, other: Spent) -> Spent:
    return Spent(**{name: getattr(one, name) + getattr(other, name) for name in Spent.model_fields})
