"""The use case `coppice/summarize`: a summary of any part of a path, stored nowhere."""

import asyncio
from typing import cast

from coppice.compaction.sizes import fitted_sizes
from coppice.compaction.summarizer import SummaryRequest
from coppice.errors import CoppiceError, NothingToCompactError, SummaryRejectedError, UnknownEntryError
from coppice.files.ledger import Ledger
from coppice.service.branches import told_by
from coppice.service.context import Context
from coppice.service.jobs import Progress, SharedProgress
from coppice.service.messages.navigation import SummarizeParams, SummarizeResult
from coppice.service.path_reading import Path, read_path
from coppice.service.span_requests import span_request, watched, with_blocks
from coppice.service.usage import Counter

TITLE = "Summarizing"
JOB = "summary"


class Spans:
    def __init__(self, context: Context) -> None:
        self._context = context

    async def summarize(self, params: SummarizeParams, progress: Progress) -> SummarizeResult:
        async def work(shared: SharedProgress) -> SummarizeResult:
            try:
                result = await self._summarize(params, shared)
            except asyncio.CancelledError:
                shared.end("Cancelled")
                raise
            except Exception as error:
                shared.end(str(error) if isinstance(error, CoppiceError) else "The summary failed")
                raise
            shared.end(f"{result.tokens:,} tokens")
            return result

        result = await self._context.jobs.run(
            params.conversation_id, JOB, title=TITLE, progress=progress, work=work, joinable=False
        )
        return cast("SummarizeResult", result)

    async def _summarize(self, params: SummarizeParams, progress: SharedProgress) -> SummarizeResult:
        progress.report("Reading the conversation", 5)
        path = await asyncio.to_thread(self._path, params)
        request, ledger, blocks = await asyncio.to_thread(_request, path, params)
        async with self._context.summarizers.of(path.settings) as summarizer:
            written = await summarizer.summarize(watched(request, progress.report))
        if not written.text.strip():
            raise SummaryRejectedError("The summary came out empty. Ask for it again.")
        text = with_blocks(written.text, blocks)
        return SummarizeResult(
            summary=text,
            details={**ledger.details(), **written.details},
            tokens=request.count_tokens(text),
            summarizer=written.summarizer,
            warnings=list(written.warnings),
        )

    def _path(self, params: SummarizeParams) -> Path:
        store = self._context.stores.of_conversation(params.conversation_id)
        settings = self._context.settings.of(store.conversation(params.conversation_id).workspace_uri)
        return read_path(store, params.conversation_id, settings, params.leaf_id)


def _request(path: Path, params: SummarizeParams) -> tuple[SummaryRequest, Ledger, str]:
    first, last = _depths(path, params)
    messages = [said for entry in path.entries(first, last) if (said := told_by(entry)) is not None]
    if not messages:
        raise NothingToCompactError("Nothing was said there; there is nothing to summarize.")
    settings = path.settings
    limit = fitted_sizes(settings.compaction, settings.model.context_window).max_summary
    counter = Counter(settings)
    ledger = path.ledger_of(first, last)
    request, blocks = span_request(
        messages, ledger, limit=limit, counter=counter, instructions=params.instructions
    )
    return request, ledger, blocks


def _depths(path: Path, params: SummarizeParams) -> tuple[int, int]:
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


def _depth(path: Path, entry_id: str) -> int:
    assert path.end is not None  # noqa: S101 - an empty path was refused before
    depth = path.store.ancestor_depth(path.end, entry_id)
    if depth is None:
        raise UnknownEntryError(
            f"The entry {entry_id[:80]!r} is not on the path. Give the leaf of the branch it is on.",
            entryId=entry_id,
        )
    return depth
