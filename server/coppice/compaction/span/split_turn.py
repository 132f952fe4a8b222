"""Summaries of a turn whose early part is summarized while its later part stays in the view."""

from collections.abc import Iterable, Sequence
from typing import Final

from coppice.compaction.asking.summarizer import SummaryRequest
from coppice.compaction.span.serialization import serialize
from coppice.compaction.summary import Summary
from coppice.compaction.text.comparing import normalized
from coppice.compaction.text.names import names_in
from coppice.tokens.counting import CHARS_PER_TOKEN
from coppice.tree.messages import Message

_SHORT_SHARE: Final = 0.3
"""Share of the span up to which a turn's early part is written apart (guess)."""
_MOST_SHARE: Final = 0.8
"""Share of a summary that one of two parts gets at the most (guess)."""
_LONG_TURN_SHARE: Final = 0.5
"""Share that a long turn gets at the least, however much came before: it has the present state (guess)."""
_OLD_WEIGHT: Final = 0.5
"""Of a character of the history against one of the turn: old work is summarized in less detail (guess)."""
_SAME: Final = 0.6
"""Share of the shorter statement's words in the other one, with the same names, that repeats it (guess)."""
_SHORT_CHARS: Final = 2_000
"""Characters of an early part that always fits a few lines (guess)."""


def is_long(request: SummaryRequest) -> bool:
    """Whether the early part of the turn is too much for a few lines of its own: it gets the full format."""
    early = _chars(request.turn_prefix)
    if not early:
        return False
    if not request.history and not request.previous_summary:
        return True
    if early <= _SHORT_CHARS:
        return False
    limit = request.max_turn_prefix_tokens
    before = _chars(request.history)
    return early > _SHORT_SHARE * (early + before) or (limit is not None and early > limit * CHARS_PER_TOKEN)


def turn_share(request: SummaryRequest) -> float:
    """The share of the summary that the turn's early part gets when the history is summarized with it."""
    early = _chars(request.turn_prefix)
    share = early / (early + _OLD_WEIGHT * _chars(request.history))
    least = _LONG_TURN_SHARE if is_long(request) else 1 - _MOST_SHARE
    return min(_MOST_SHARE, max(least, share))


def merged(history: Summary, turn: Summary) -> Summary:
    """The summaries of the history and of the turn's early part as one, by sections.

    What was done and decided is joined without repeats, of which the later part's stays; what is under way,
    blocked and next is the later part's, and the history's only where that has none.
    """
    decided = [f"{each.what} {each.why}" for each in turn.decisions]
    return Summary(
        goal=_joined(history.goal, turn.goal),
        constraints=_joined(history.constraints, turn.constraints),
        done=_joined(history.done, turn.done),
        in_progress=turn.in_progress or history.in_progress,
        blocked=turn.blocked or history.blocked,
        decisions=(
            *(each for each in history.decisions if not _repeats(f"{each.what} {each.why}", decided)),
            *turn.decisions,
        ),
        next_steps=turn.next_steps or history.next_steps,
        context=_joined(history.context, turn.context),
        other=(*history.other, *turn.other),
    )


def _joined(one: Iterable[str], other: Sequence[str]) -> tuple[str, ...]:
    later = tuple(other)
    return tuple(dict.fromkeys([*(text for text in one if not _repeats(text, later)), *later]))


def _repeats(text: str, later: Sequence[str]) -> bool:
    """Whether one of `later` says the same: in the same words, or about the same names in most of them."""
    names, words = set(names_in(text)), set(normalized(text).split())
    for each in later:
        others = set(normalized(each).split())
        most = _SAME * min(len(words), len(others))
        if words == others or (names and names <= set(names_in(each)) and len(words & others) >= most):
            return True
    return False


def _chars(messages: Sequence[Message]) -> int:
    return len(serialize(messages)) if messages else 0
