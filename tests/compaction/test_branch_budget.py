"""What fits the budget of an abandoned branch's summary."""

from talk import user

from coppice.compaction.span.branch_budget import MINIMUM_TOKENS, within_budget
from coppice.tokens.measuring import size_of_message
from coppice.tree.messages import Message


def size_of(message: Message) -> int:
    return size_of_message(message).estimate


def test_a_message_that_does_not_fit_takes_half_of_what_is_left() -> None:
    old, newest = user("first"), user("word " * 10_000)
    first, last = within_budget([newest, old], 1_000, size_of)
    assert first == old
    assert 300 < size_of(last) <= 500


def test_nothing_follows_when_too_little_is_left() -> None:
    short = user("word " * MINIMUM_TOKENS)
    size = size_of(short)
    assert within_budget([short, short], size + MINIMUM_TOKENS, size_of)[1] == short
    assert within_budget([short, short], size + MINIMUM_TOKENS - 1, size_of) == [short]
