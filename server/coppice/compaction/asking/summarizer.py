"""What whoever writes a summary is given, and gives."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from coppice.protocol.ledger import WorkLedger
from coppice.tokens.counting import CHARS_PER_TOKEN
from coppice.tree.messages import Message

CountTokens = Callable[[str], int]
Kind = Literal["history", "branch"]
OnProgress = Callable[[str, float], None]
"""Called with what is being done, for a person, and the share of the summary that is there, 0 to 1."""


def _ignore(message: str, share: float) -> None:
    """Reports to nobody."""
    del message, share


def cautious(count_tokens: CountTokens) -> CountTokens:
    """Counts by `count_tokens` or as a quarter of the characters, whichever is more.

    What fits by this count fits whoever counts, with a tokenizer or by estimate.
    """
    return lambda text: max(count_tokens(text), -(-len(text) // CHARS_PER_TOKEN))


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """A span of a conversation to summarize, oldest message first.

    `history` is summarized in the structured format. `turn_prefix` is the early part of a turn whose later
    part stays in the view; its summary goes under the split-turn rule. `kept_messages` stay in the view after
    the span: they need no summary, but show what the work is about now. `previous_summary` covers everything
    before `history` and is always carried forward. `max_tokens` bounds the whole text, counted with
    `count_tokens`; the file blocks are not part of it. `max_turn_prefix_tokens` bounds the part about
    `turn_prefix` within it; None leaves that to the summarizer.

    `root` is the folder that paths are relative to in `ledger`.

    `target_tokens` is the length to aim at within `max_tokens`. `ledger` is that of everything that is
    covered, as of the end of `kept_messages`; None leaves it to be computed from the messages. With
    `references` statements may end in the id of the entry that they are based on.

    `kind` is `branch` for the summary of a branch that is left. `instructions` are the user's focus; with
    `replace_instructions` they take the place of the built-in ones. `report` is called on the event loop; a
    share may be smaller than an earlier one, when more turns out to be to do.
    """

    history: Sequence[Message]
    turn_prefix: Sequence[Message]
    kept_messages: Sequence[Message]
    previous_summary: str | None
    instructions: str | None
    max_tokens: int
    count_tokens: CountTokens
    modified_files: Sequence[str] = field(default_factory=tuple)
    max_turn_prefix_tokens: int | None = None
    target_tokens: int | None = None
    ledger: WorkLedger | None = None
    references: bool = False
    root: str | None = None
    kind: Kind = "history"
    replace_instructions: bool = False
    report: OnProgress = _ignore


def without_progress(request: SummaryRequest) -> SummaryRequest:
    """The request as another process can be given it."""
    return replace(request, report=_ignore)


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
