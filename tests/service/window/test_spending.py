"""What the requests of a path took, in all and by model."""

from typing import Any

import pytest

from coppice.compaction.asking.summarizer import WrittenSummary
from coppice.protocol.usage import Spent
from coppice.service.window.spending import spent_on
from coppice.tree.entries import BranchSummaryEntry, CompactionEntry, Entry, MessageEntry
from coppice.tree.messages import AssistantMessage, RequestTimes, Usage, UserMessage

_TIME = "2026-01-01T08:00:00.000Z"


def _message(number: int, message: Any) -> Entry:
    return MessageEntry(id=f"e{number}", parent_id=None, timestamp=_TIME, message=message)


def _reply(number: int, model: str | None, provider: str | None = "openai") -> Entry:
    return _message(
        number,
        AssistantMessage(
            content=[],
            provider=provider,
            model=model,
            usage=Usage(input=10, output=number, cache_read=5),
            milliseconds=RequestTimes(first_token=1, whole=7),
        ),
    )


def _summary(number: int, details: Any, model: str | None = None) -> Entry:
    about = {"id": f"e{number}", "parent_id": None, "timestamp": _TIME, "summary": "", "details": details}
    return BranchSummaryEntry(**about, from_id="x", model=model) if number % 2 else CompactionEntry(**about)


def test_each_model_has_its_part_of_every_sum() -> None:
    written = {
        "requests": 2,
        "tokens": {"input": 100, "output": 20, "cacheRead": 60, "cacheWrite": 30},
        "milliseconds": {"firstToken": 2, "whole": 9},
    }
    earlier = {"requests": 1, "tokens": {"input": 10, "output": 2}, "summarizer": "small"}
    spent = spent_on(
        [
            _message(0, UserMessage(content="a")),
            _reply(1, "large"),
            _reply(2, "small"),
            _summary(4, {**written, "summarizer": "small"}),
            _message(5, UserMessage(content="b")),
            _reply(6, "small"),
            _reply(7, "large", "gateway"),
            _reply(8, "small"),
            _summary(9, written, model="other"),
            _summary(10, earlier),
        ],
        [f"e{number}" for number in range(11)],
    )
    parts = [
        (each.provider, each.model, each.turn.output, each.conversation.output, each.compactions.output)
        for each in spent.models
    ]
    assert parts == [
        ("openai", "large", 0, 1, 0),
        ("openai", "small", 14, 16, 0),
        ("gateway", "large", 7, 7, 0),
        (None, "small", 0, 0, 22),
        (None, "other", 0, 0, 20),
    ]
    assert (spent.turn.output, spent.conversation.output, spent.compactions.output) == (21, 24, 42)
    assert spent.conversation == Spent(
        requests=5, input=75, output=24, cache_read=25, milliseconds=35, first_token_milliseconds=5
    )
    assert spent.compactions == Spent(
        requests=5,
        input=210,
        output=42,
        cache_read=120,
        cache_write=60,
        milliseconds=18,
        first_token_milliseconds=4,
    )


@pytest.mark.parametrize("details", [None, [], "x", {"requests": True}, {"summarizer": "offline"}])
def test_what_took_nothing_is_no_part(details: Any) -> None:
    path = [_message(0, AssistantMessage(content=[], model="m")), _summary(1, details), _summary(2, details)]
    spent = spent_on(path, [each.id for each in path])
    assert spent.models == []
    assert spent.turn == spent.conversation == spent.compactions == spent.whole == Spent()


def test_the_whole_has_every_branch_and_what_was_not_taken_and_copies_once() -> None:
    def at(second: int, entry: Entry) -> Entry:
        return entry.model_copy(update={"timestamp": f"2026-01-01T08:00:{second:02}.000Z"})

    took = {"requests": 1, "tokens": {"input": 50, "output": 8}}
    unused = [WrittenSummary("", "small", details=took)] * 2
    elsewhere = [at(1, _reply(1, "large")), at(2, _summary(4, {**took, "summarizer": "small"}))]
    reply = at(3, _reply(16, "large"))
    assert isinstance(reply, MessageEntry)
    assert isinstance(reply.message, AssistantMessage)
    uncounted = reply.message.model_copy(update={"usage": Usage(input=0, output=0)})
    copies: list[Entry] = [reply.model_copy(update={"id": "copy", "message": uncounted})]
    copies += [each.model_copy(update={"id": f"copy{each.id}"}) for each in elsewhere]
    other = reply.message.model_copy(update={"usage": Usage(input=1, output=32)})
    same_time = reply.model_copy(update={"id": "other", "message": other})
    spent = spent_on([*elsewhere, reply, same_time, *copies], ["copy"], unused)
    assert (spent.conversation.requests, spent.conversation.output) == (1, 0)
    assert (spent.whole.requests, spent.whole.output) == (6, 1 + 8 + 16 + 32 + 2 * 8)
    assert (spent.unused.requests, spent.unused.output, spent.unused.input) == (2, 16, 100)
    parts = [(each.model, each.whole.output, each.unused.output) for each in spent.models]
    assert parts == [("large", 49, 0), ("small", 24, 16)]
