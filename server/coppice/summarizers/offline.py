"""Summaries without a model: the ledger written out."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from coppice.compaction.asking.summarizer import SummaryRequest, WrittenSummary, cautious
from coppice.compaction.ledger.builder import LedgerBuilder, ledger_of
from coppice.compaction.ledger.current import settled_by
from coppice.compaction.ledger.fitting import chosen_lines, fitted, focus_words, matches_focus, summary_of
from coppice.compaction.ledger.line import Line
from coppice.compaction.ledger.lines import lines_of
from coppice.compaction.ledger.references import entries_in, short_ids
from coppice.compaction.old_summaries import notes_of
from coppice.compaction.summary import Summary
from coppice.compaction.summary_parser import parse_summary
from coppice.protocol.ledger import WorkLedger

NAME: Final = "offline"
_TURN_SHARE: Final = 0.15
"""Share of a summary that the early part of a turn gets (as Pi gives it half of the reserve at most)."""
_TURN_ORDER: Final = ("goal", "done", "decisions", "context", "in_progress", "blocked", "next_steps")
_TURN_LABELS: Final = {"goal": "Request", "in_progress": "Doing", "blocked": "Error", "next_steps": "Next"}


class OfflineSummarizer:
    """Summarizes by rules: no network, no key, the same text every time."""

    async def summarize(self, request: SummaryRequest) -> WrittenSummary:
        """The summary, never more than `request.max_tokens`. Runs off the event loop; cancelling drops it."""
        text, found = await asyncio.to_thread(_written, request)
        warnings: tuple[str, ...] = ()
        if request.instructions and not found:
            warnings = ("Nothing in the summarized messages matches the focus that was asked for.",)
        details: dict[str, Any] = {"focusMatches": found} if request.instructions else {}
        return WrittenSummary(text, NAME, warnings=warnings, details=details)


def summarize_offline(request: SummaryRequest) -> str:
    """What `OfflineSummarizer` answers, for callers that are off the event loop already."""
    return _written(request)[0]


def ledger_for(request: SummaryRequest) -> WorkLedger:
    """The ledger that a request comes with, or the one of its messages and its previous summary."""
    ledger = request.ledger
    if ledger is None:
        before = WorkLedger(notes=notes_of(parse_summary(request.previous_summary or "")))
        ledger = LedgerBuilder(before).add_messages([*request.history, *request.turn_prefix]).ledger
    return settled_by(ledger, request.kept, request.root)


def _written(request: SummaryRequest) -> tuple[str, int]:
    """The text, and how many of its lines match the focus."""
    count = cautious(request.count_tokens)
    ledger = ledger_for(request)
    lines = lines_of(ledger)
    references = short_ids(entries_in(ledger)) if request.references else {}
    limit = min(request.max_tokens, request.target_tokens or request.max_tokens)
    shown: list[Line] = []

    def render(chosen: Sequence[Line]) -> str:
        shown[:] = chosen
        return summary_of(chosen, references).render()

    text = fitted(lines, limit, count, render, request.instructions)
    wanted = focus_words(request.instructions)
    return text, sum(matches_focus(line.text, wanted) for line in shown)


def turn_by_rule(request: SummaryRequest) -> Summary:
    """The early part of a turn in labelled lines, as a model is asked for it."""
    limit = min(request.max_tokens, request.target_tokens or request.max_tokens)
    budget = min(int(_TURN_SHARE * limit), request.max_turn_prefix_tokens or limit)
    own = [line for line in lines_of(ledger_of(request.turn_prefix)) if line.section != "constraints"]
    chosen = chosen_lines(own, budget, cautious(request.count_tokens))
    chosen.sort(key=lambda line: (_TURN_ORDER.index(line.section), line.order))
    return Summary(turn=tuple(f"{_TURN_LABELS.get(line.section, 'Done')}: {line.text}" for line in chosen))
