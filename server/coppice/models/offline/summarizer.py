"""Summaries without a model."""

import asyncio
from typing import Final

from coppice.compaction.facts.extraction import extract_facts
from coppice.compaction.summarizer import SummaryRequest, WrittenSummary
from coppice.compaction.summary import parse_summary
from coppice.models.offline.drafting import draft_summary
from coppice.models.offline.fitting import fit_draft

NAME: Final = "offline"


class OfflineSummarizer:
    """Summarizes by rules: no network, no key, deterministic, about a second for a million characters."""

    async def summarize(self, request: SummaryRequest) -> WrittenSummary:
        """The summary, never more than `request.max_tokens`. Runs off the event loop; cancelling drops it."""
        return WrittenSummary(await asyncio.to_thread(summarize_offline, request), NAME)


def summarize_offline(request: SummaryRequest) -> str:
    """What `OfflineSummarizer` answers, for callers that are off the event loop already."""
    covered = [*request.history, *request.turn_prefix]
    whole = extract_facts(covered, request.kept, request.previous_summary, request.instructions)
    following = [*request.turn_prefix, *request.kept]
    earlier = extract_facts(request.history, following) if request.turn_prefix else whole
    turn = extract_facts(request.turn_prefix, request.kept) if request.turn_prefix else None
    previous = parse_summary(request.previous_summary or "")
    draft = draft_summary(previous, whole, earlier, turn, [*covered, *request.kept])
    return fit_draft(draft, request)
