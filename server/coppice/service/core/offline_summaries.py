"""Offline summaries, computed in a process of their own."""

import asyncio
from dataclasses import replace
from typing import Final

from coppice.compaction.asking.summarizer import SummaryRequest, WrittenSummary, without_progress
from coppice.service.core.computing import in_process
from coppice.summarizers.offline import OfflineSummarizer

_WRITER: Final = OfflineSummarizer()


class ProcessSummarizer:
    """Has the offline summarizer write in another process, except about little text."""

    async def summarize(self, request: SummaryRequest) -> WrittenSummary:
        """Raises WorkTooLongError. Cancelling ends the process."""
        if request.ledger is not None:
            # All that is computed then depends on the facts.
            request = replace(request, history=(), turn_prefix=(), kept_messages=())
        return await in_process(_written, without_progress(request))


def _written(request: SummaryRequest) -> WrittenSummary:
    return asyncio.run(_WRITER.summarize(request))
