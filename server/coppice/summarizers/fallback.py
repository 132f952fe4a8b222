"""Summarizers in order: when one fails, the next one writes."""

import asyncio
from collections.abc import Sequence
from typing import Final

from coppice.compaction.summarizer import Summarizer, SummaryRequest, WrittenSummary
from coppice.errors import CoppiceError

SECONDS: Final = 300.0  # seconds for a whole summary (guess)


class FallbackSummarizer:
    """Asks each of `summarizers` (name and summarizer) in order until one has written a summary.

    Each but the last has `seconds` for it. The last should be one that cannot fail, the offline summarizer.
    Whoever failed is named in the warnings, with the reason.
    """

    def __init__(self, summarizers: Sequence[tuple[str, Summarizer]], *, seconds: float = SECONDS) -> None:
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
                warnings.append(
                    self._sentence(name, "it took longer than allowed" if late else _reason(error))
                )
                continue
            if written.text.strip():
                return _with_warnings(written, warnings)
            warnings.append(self._sentence(name, "what it wrote was empty"))
        return _with_warnings(await last.summarize(request), warnings)

    @staticmethod
    def _sentence(name: str, reason: str) -> str:
        return f"The summarizer {name} failed: {reason.rstrip('.')}."


def _reason(error: Exception) -> str:
    """The text of an error that may be shown: our own errors hold no secret, others may."""
    if isinstance(error, CoppiceError):
        return str(error)
    return f"an unexpected error ({type(error).__name__})"


def _with_warnings(written: WrittenSummary, earlier: Sequence[str]) -> WrittenSummary:
    return WrittenSummary(written.text, written.summarizer, (*earlier, *written.warnings), written.details)
