"""Offline summaries, computed in a process of their own."""

import asyncio
from dataclasses import replace
from typing import Final

from coppice.compaction.asking.summarizer import SummaryRequest, WrittenSummary
from coppice.service.core.worker_process import call_in_process, estimated_tokens
from coppice.service.core.workers import run_long
from coppice.summarizers.offline import OfflineSummarizer

_WRITER: Final = OfflineSummarizer()


class ProcessSummarizer:
    """Has the offline summarizer write in another process, except about little text."""

    async def summarize(self, request: SummaryRequest) -> WrittenSummary:
        """Raises WorkTooLongError. Cancelling ends the process."""
        if request.ledger is not None:
            # All that is computed then depends on the facts.
            request = replace(request, history=(), turn_prefix=(), kept=())
        return await run_long(_summarized, replace(request, report=_ignore))


def _summarized(request: SummaryRequest) -> WrittenSummary:
    parts = [*request.history, *request.turn_prefix, *request.kept, *filter(None, [request.ledger])]
    return call_in_process(estimated_tokens(parts), _written, request)


def _written(request: SummaryRequest) -> WrittenSummary:
    return asyncio.run(_WRITER.summarize(request))


def _ignore(doing: str, share: float) -> None:
    del doing, share
