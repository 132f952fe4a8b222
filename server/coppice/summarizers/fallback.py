"""Summarizers in order: when one fails, the next one writes."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from coppice.compaction.asking.summarizer import Summarizer, SummaryRequest, WrittenSummary
from coppice.errors import sentence_of


class FallbackSummarizer:
    """Asks each of `summarizers` (name and summarizer) in order until one has written a summary.

    Each but the last has `seconds` for it. The last should be one that cannot fail, the offline summarizer.
    Whoever failed is named in the warnings, with the reason.
    """

    def __init__(self, summarizers: Sequence[tuple[str, Summarizer]], *, seconds: float) -> None:
        if not summarizers:
            raise ValueError("At least one summarizer is needed.")
        self._summarizers = tuple(summarizers)
        self._seconds = seconds

    async def summarize(self, request: SummaryRequest) -> WrittenSummary:
        """The first summary that comes about. Raises what the last one raised. Cancelling stops at once."""
        warnings: list[str] = []
        *earlier, (_, last) = self._summarizers
        for name, summarizer in earlier:
            try:
                async with asyncio.timeout(self._seconds) as limit:
                    written = await summarizer.summarize(request)
            except Exception as error:  # noqa: BLE001 - whatever fails, the next one writes
                late = isinstance(error, TimeoutError) and limit.expired()
                reason = (
                    "it took longer than allowed"
                    if late
                    else sentence_of(error, f"an unexpected error ({type(error).__name__})")
                )
            else:
                if written.text.strip():
                    return replace(written, warnings=(*warnings, *written.warnings))
                reason = "what it wrote was empty"
            warnings.append(f"The summarizer {name} failed: {reason.rstrip('.')}.")
        written = await last.summarize(request)
        return replace(written, warnings=(*warnings, *written.warnings))
