"""Summaries that were written and not taken: what they took, for as long as the server runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from coppice.compaction.asking.summarizer import Summarizer, SummaryRequest, WrittenSummary
from coppice.service.core.context import Context


@dataclass(slots=True)
class Paid:
    """A summarizer whose summary is paid for, whether or not it is taken."""

    summarizer: Summarizer | None = None
    written: WrittenSummary | None = None
    is_taken: bool = False

    async def summarize(self, request: SummaryRequest) -> WrittenSummary:
        """What the summarizer writes."""
        assert self.summarizer is not None  # noqa: S101 - set by whoever asks
        self.written = await self.summarizer.summarize(request)
        return self.written


@contextmanager
def paid(context: Context, conversation_id: str) -> Iterator[Paid]:
    """Counts the summary as unused where it is not taken when the block ends, by an error for one."""
    summary = Paid()
    try:
        yield summary
    finally:
        if summary.written is not None and not summary.is_taken:
            count_unused(context, conversation_id, summary.written)


def count_unused(context: Context, conversation_id: str, written: WrittenSummary) -> None:
    """Keeps how the summary came about, not its text."""
    context.unused_summaries.setdefault(conversation_id, []).append(replace(written, text=""))
