"""The use case `coppice/summarize`: a summary of any part of a path, stored nowhere."""

import asyncio

from coppice.compaction.span.sizes import fitted_sizes
from coppice.errors import (
    NothingToCompactError,
    ResultTooLargeError,
    SummaryRejectedError,
    UnknownEntryError,
    sentence_of,
)
from coppice.protocol.navigation import SummarizeParams, SummarizeResult
from coppice.service.branches.branch_switch import message_to_summarize
from coppice.service.compaction.summary_parts import SummaryTask, summary_task, watched, with_parts
from coppice.service.core.context import Context
from coppice.service.core.conversation_path import MOST_READ_TOKENS, ConversationPath
from coppice.service.core.progress import JobProgress, Progress
from coppice.service.core.workers import run_long, run_read
from coppice.service.window.usage import Counter
from coppice.tokens.counting import CHARS_PER_TOKEN

TITLE = "Summarizing"
JOB = "summary"


class Spans:
    """The use case `coppice/summarize`."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def summarize(self, params: SummarizeParams, progress: Progress) -> SummarizeResult:
        """Writes a summary of a span and stores nothing."""

        async def work(shared: JobProgress) -> SummarizeResult:
            try:
                result = await self._summarize(params, shared)
            except asyncio.CancelledError:
                shared.end("Cancelled")
                raise
            except Exception as error:
                shared.end(sentence_of(error, "The summary failed"))
                raise
            shared.end(f"{result.tokens:,} tokens")
            return result

        return await self._context.jobs.run(
            params.conversation_id, JOB, title=TITLE, progress=progress, work=work, joinable=False
        )

    async def _summarize(self, params: SummarizeParams, progress: JobProgress) -> SummarizeResult:
        progress.report("Reading the conversation", 5)
        path = await run_read(self._context.path, params.conversation_id, params.leaf_id)
        task = await run_long(_span_task, path, params)
        async with self._context.summarizers.of(path.settings) as summarizer:
            written = await summarizer.summarize(watched(task.request, progress.report))
        if not written.text.strip():
            raise SummaryRejectedError("The summary came out empty. Ask for it again.")
        text = with_parts(written.text, task.parts.text)
        return SummarizeResult(
            summary=text,
            details={**task.files.details(), **written.details},
            tokens=task.request.count_tokens(text),
            summarizer=written.summarizer,
            warnings=list(written.warnings),
        )


def _span_task(path: ConversationPath, params: SummarizeParams) -> SummaryTask:
    first, last = _depths(path, params)
    _check_size(path, params)
    all_messages = map(message_to_summarize, path.entries(first, last))
    messages = [message for message in all_messages if message is not None]
    if not messages:
        raise NothingToCompactError("There are no messages there; there is nothing to summarize.")
    settings = path.settings
    limit = fitted_sizes(settings.compaction, settings.model.context_window).max_summary
    return summary_task(
        messages,
        path.ledger_of(first, last),
        limit=limit,
        counter=Counter(settings),
        instructions=params.instructions,
    )


def _check_size(path: ConversationPath, params: SummarizeParams) -> None:
    totals = [
        end.total.estimate if (end := path.to(entry_id).end) is not None else 0
        for entry_id in (params.from_id, params.to_id or path.leaf_id)
    ]
    tokens = totals[1] - (totals[0] if params.from_id is not None else 0)
    if tokens > MOST_READ_TOKENS:
        raise ResultTooLargeError(
            f"The span has about {tokens:,} tokens, more than is read at once. Name a shorter one.",
            tokens=tokens,
            limit=MOST_READ_TOKENS * CHARS_PER_TOKEN,
        )


def _depths(path: ConversationPath, params: SummarizeParams) -> tuple[int, int]:
    """The depths of the first and the last entry of the span."""
    if path.end is None:
        raise NothingToCompactError("The conversation is empty; there is nothing to summarize.")
    first = 0 if params.from_id is None else _depth(path, params.from_id)
    last = path.end.depth if params.to_id is None else _depth(path, params.to_id)
    if first > last:
        raise UnknownEntryError(
            "`fromId` comes after `toId` on the path; exchange them.",
            fromId=params.from_id,
            toId=params.to_id,
        )
    return first, last


def _depth(path: ConversationPath, entry_id: str) -> int:
    depth = path.depth_of(entry_id)
    if depth is None:
        raise UnknownEntryError(
            f"The entry {entry_id[:80]!r} is not on the path. Give the leaf of the branch it is on.",
            entryId=entry_id,
        )
    return depth
