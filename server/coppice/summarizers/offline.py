"""Narratives without a model: quotations of the conversation in the sections of the format."""

import asyncio
from typing import Any, Final

from coppice.compaction.asking.summarizer import SummaryRequest, WrittenSummary, cautious
from coppice.compaction.facts.ledger import LedgerBuilder, brought_up_to_date
from coppice.compaction.summary import Summary
from coppice.compaction.text.sentences import clip, one_line, whole_sentences
from coppice.compaction.writing.document import narrative_in
from coppice.compaction.writing.narrative import Narrative, offline_narrative
from coppice.compaction.writing.references import entries_in, short_ids
from coppice.compaction.writing.state_lines import state_lines
from coppice.protocol.ledger import WorkLedger
from coppice.tokens.budget import leading

NAME: Final = "offline"
_TURN_SHARE: Final = 0.15
"""Share of a summary that the early part of a turn gets (as Pi gives it half of the reserve at most)."""
_REQUEST_CHARS: Final = 600  # characters of each line about the early part of a turn


class OfflineSummarizer:
    """Summarizes by rules: no network, no key, the same text every time."""

    async def summarize(self, request: SummaryRequest) -> WrittenSummary:
        """The narrative, of at most `request.max_tokens`. Runs off the event loop; cancelling drops it."""
        narrative = await asyncio.to_thread(_narrative, request)
        warnings: tuple[str, ...] = ()
        if request.instructions and not narrative.matches:
            warnings = ("Nothing in the summarized messages matches the focus that was asked for.",)
        details: dict[str, Any] = {"focusMatches": narrative.matches} if request.instructions else {}
        return WrittenSummary(narrative.text, NAME, warnings=warnings, details=details)


def summarize_offline(request: SummaryRequest) -> str:
    """What `OfflineSummarizer` answers, for callers that are off the event loop already."""
    return _narrative(request).text


def ledger_for(request: SummaryRequest) -> WorkLedger:
    """The ledger that a request comes with, or the one of its messages and its previous summary, as of the
    end of what the model will still see.
    """
    if request.ledger is not None:
        return request.ledger
    before = WorkLedger(earlier=narrative_in(request.previous_summary or ""))
    builder = LedgerBuilder(before, request.root).add_messages([*request.history, *request.turn_prefix])
    return brought_up_to_date(builder.ledger, request.kept_messages, request.root)


def turn_by_rule(request: SummaryRequest) -> Summary:
    """The early part of a turn in labelled lines, as a model is asked for it."""
    limit = min(request.max_tokens, request.target_tokens or request.max_tokens)
    budget = min(int(_TURN_SHARE * limit), request.max_turn_prefix_tokens or limit)
    ledger = LedgerBuilder(root=request.root).add_messages(request.turn_prefix).ledger
    asked = [f"Request: {whole_sentences(each.text, _REQUEST_CHARS)}" for each in ledger.messages[:1]]
    doing = [f"Doing: {clip(one_line(each.text), _REQUEST_CHARS)}" for each in ledger.quotations[-1:]]
    done = [f"Done: {line.removeprefix('- ')}" for line in state_lines(ledger.state, {})]
    count = cautious(request.count_tokens)
    return Summary(turn=tuple(leading([*asked, *doing, *done], budget, lambda line: count(f"- {line}\n"))))


def _narrative(request: SummaryRequest) -> Narrative:
    ledger = ledger_for(request)
    return offline_narrative(
        ledger,
        ledger.state,
        limit=min(request.max_tokens, request.target_tokens or request.max_tokens),
        count=cautious(request.count_tokens),
        focus=request.instructions,
        references=short_ids(entries_in(ledger)) if request.references else {},
    )
