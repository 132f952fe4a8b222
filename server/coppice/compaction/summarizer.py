"""What whoever writes a summary is given, and gives."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from coppice.tree.messages import Message

CountTokens = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """A span of a conversation to summarize, oldest message first.

    `history` is summarized in the structured format. `turn_prefix` is the early part of a turn whose later
    part stays in the view; its summary goes under the split-turn rule. `kept` is what stays in the view
    behind the span: it needs no summary, but tells what the work is about now. `previous_summary` covers
    everything before `history` and is always carried forward. `max_tokens` bounds the whole text, counted
    with `count_tokens`; the file blocks are not part of it.
    """

    history: Sequence[Message]
    turn_prefix: Sequence[Message]
    kept: Sequence[Message]
    previous_summary: str | None
    instructions: str | None
    max_tokens: int
    count_tokens: CountTokens
    modified_files: Sequence[str] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class WrittenSummary:
    """A summary's text in the structured format, without file blocks, and how it came about.

    `summarizer` names who wrote it: `offline`, or the provider and model. `warnings` are sentences for a
    person, about who failed before. `details` are JSON values that the stored entry keeps: chunks, tokens,
    what was repaired.
    """

    text: str
    summarizer: str
    warnings: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)


class Summarizer(Protocol):
    """Writes summaries."""

    async def summarize(self, request: SummaryRequest) -> WrittenSummary:
        """Cancellable. Raises ModelFailedError or SummaryRejectedError when no summary came about."""
        ...
