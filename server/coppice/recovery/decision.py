"""What to do when a model request did not fit: compact, truncate, try again, or report why nothing helps.

A state machine without side effects. `overflowed` begins a round, and each step it asks for comes back
through `compacted`, `gave_up_compacting` or `looked_for_results`, until it asks for another try or fails.
Every step is bounded, so every round ends, and so does every row of rounds without a successful reply.
"""

from dataclasses import dataclass, replace
from typing import Final, Literal

from coppice.recovery.request_size import RequestSize
from coppice.recovery.truncation import LEAST_CHARS

MOST_COMPACTIONS: Final = 3  # for one overflow: as many as OpenClaw tries

Strategy = Literal["compacted", "truncated"]


@dataclass(frozen=True, slots=True)
class State:
    """What was tried since the last successful reply. `stuck` once a compaction gained nothing."""

    attempt: int = 0
    compactions: int = 0
    stuck: bool = False
    why_stuck: str | None = None
    truncated: int = 0
    left_out: int = 0
    tokens: int = 0
    strategy: Strategy | None = None


@dataclass(frozen=True, slots=True)
class Compact:
    """Compact, keeping half as much as configured for each of `halvings`."""

    halvings: int


@dataclass(frozen=True, slots=True)
class Truncate:
    """Cut the tool results that are too long, alone or together."""


@dataclass(frozen=True, slots=True)
class Retry:
    """The request is worth another try. `message` is for a person, if not empty."""

    strategy: Strategy
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Fail:
    """Nothing more can be done; `message` is the reason, with numbers, and what a person can do."""

    message: str


Decision = Compact | Truncate | Retry | Fail


def overflowed(state: State, measured: RequestSize) -> tuple[State, Decision]:
    """The model refused the view as too long. Begins a round."""
    again = replace(state, attempt=state.attempt + 1, tokens=measured.view_tokens, strategy=None)
    least = measured.least_request if state.attempt > 0 else measured.least_view
    return again, _ending(again, measured) if least >= measured.window else _next_step(again, measured)


def compacted(state: State, measured: RequestSize) -> tuple[State, Decision]:
    """A compaction was stored, and `measured` is what it left."""
    gained = measured.view_tokens < state.tokens
    after = replace(
        state,
        compactions=state.compactions + 1,
        stuck=state.stuck or not gained,
        tokens=measured.view_tokens,
        strategy="compacted" if gained else state.strategy,
    )
    return after, _next_step(after, measured)


def gave_up_compacting(state: State, measured: RequestSize, why: str) -> tuple[State, Decision]:
    """There was nothing to compact, or no summary that would have helped."""
    after = replace(state, stuck=True, why_stuck=why)
    return after, _next_step(after, measured)


def looked_for_results(
    state: State, measured: RequestSize, count: int, left_out: int = 0
) -> tuple[State, Decision]:
    """`count` tool results were cut, `left_out` of them to nothing; `measured` is the request after that."""
    gained = count > 0 and measured.view_tokens < state.tokens
    after = replace(
        state,
        truncated=state.truncated + count,
        left_out=state.left_out + left_out,
        tokens=measured.view_tokens,
        strategy="truncated" if gained else state.strategy,
    )
    return after, _ending(after, measured)


def _next_step(state: State, measured: RequestSize) -> Decision:
    if state.strategy is not None and measured.view_tokens <= measured.target:
        return _ending(state, measured)
    if not state.stuck and state.compactions < MOST_COMPACTIONS:
        return Compact(halvings=state.compactions)
    if not state.truncated:
        return Truncate()
    return _ending(state, measured)


def left_out_sentence(count: int) -> str | None:
    """A sentence that not even the smallest result fits, if any were left out."""
    if not count:
        return None
    were = "was" if count == 1 else "were"
    return (
        f"{_several(count, 'tool result')} {were} left out altogether: with {LEAST_CHARS:,} characters of "
        "each the conversation does not fit the window."
    )


def _ending(state: State, measured: RequestSize) -> Retry | Fail:
    """Another try, where something was gained and the request is smaller than the window now."""
    if state.strategy is not None and measured.fits:
        sentences = [left_out_sentence(state.left_out), _overhead_sentence(measured)]
        return Retry(state.strategy, " ".join(filter(None, sentences)) or None)
    tried = [
        state.compactions and _several(state.compactions, "compaction"),
        state.truncated and f"{_several(state.truncated, 'tool result')} cut",
    ]
    done = " and ".join(each for each in tried if each)
    reasons = [
        measured.size,
        f"Tried: {done}." if done else "Nothing was changed: nothing could be made shorter.",
        left_out_sentence(state.left_out),
        state.why_stuck,
        measured.describe(),
        measured.suggest(),
    ]
    return Fail(" ".join(filter(None, reasons)))


def _overhead_sentence(measured: RequestSize) -> str | None:
    if measured.least_request < measured.window:
        return None
    return (
        f"By the provider's count about {measured.overhead_tokens:,} of {measured.window:,} tokens go to "
        "what is sent besides the conversation. If the next try fails too, send a shorter system prompt "
        "or fewer tools."
    )


def _several(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
