"""The use cases `coppice/compactPreview`, `coppice/compact` and `coppice/cancel`."""

import asyncio
import time
import uuid
from functools import partial
from typing import Any

from coppice.errors import CancelledByHookError, SummaryRejectedError, sentence_of
from coppice.protocol.compaction import (
    CancelParams,
    CancelResult,
    CompactionEnded,
    CompactionReason,
    CompactionStarted,
    CompactionStatus,
    CompactParams,
    CompactPreviewParams,
    CompactPreviewResult,
    CompactResult,
)
from coppice.protocol.hooks import DidCompactParams
from coppice.protocol.notifications import COMPACTION_ENDED, COMPACTION_STARTED
from coppice.protocol.prompt import CompactionUpdate
from coppice.protocol.usage import UsageState
from coppice.service.compaction.ahead import Ahead, ReadySummary
from coppice.service.compaction.compaction_entry import append_at_leaf, check_path, entry_of
from coppice.service.compaction.compaction_hooks import adopted, ask_hooks
from coppice.service.compaction.loss_report import loss_report
from coppice.service.compaction.preparing import Preparation, prepare, preview_of
from coppice.service.compaction.summarizing import FinishedSummary, summarize
from coppice.service.compaction.unused_summaries import Paid, paid
from coppice.service.core.client_turns import JOB as TURN
from coppice.service.core.client_turns import Turns
from coppice.service.core.context import Context, now
from coppice.service.core.progress import JobProgress, Progress
from coppice.service.core.thread_work import ThreadWork, run_in_thread
from coppice.service.core.workers import run_long, run_read
from coppice.service.hooks.hooks import DID_COMPACT
from coppice.service.window.fitting import Fit
from coppice.service.window.usage import usage_state
from coppice.tree.entries import CompactionEntry
from coppice.tree.ids import new_entry_id

TITLE = "Compacting"
JOB = "compaction"
DRAFT_JOB = "compaction draft"


class _Attempt:
    """Notifies that a compaction starts, and how it ended."""

    def __init__(
        self,
        context: Context,
        conversation_id: str,
        reason: CompactionReason,
        progress: JobProgress,
        *,
        quiet: bool,
    ) -> None:
        self._emit = (lambda _method, _params: None) if quiet else context.client.notify
        self._progress = progress
        self._about = {
            "conversation_id": conversation_id,
            "compaction_id": uuid.uuid4().hex,
            "reason": reason,
        }

    def start(self) -> None:
        started = CompactionStarted.model_validate(self._about)
        self._emit(COMPACTION_STARTED, started)
        self._progress.partial(CompactionUpdate(compaction_id=started.compaction_id, status="started"))

    def end(self, message: str, **how: Any) -> None:
        self._progress.end(message)
        ended = CompactionEnded.model_validate(self._about | how)
        self._emit(COMPACTION_ENDED, ended)
        self._progress.partial(
            CompactionUpdate(compaction_id=ended.compaction_id, status=ended.status, entry_id=ended.entry_id)
        )


class Compacting:
    """The use cases `coppice/compact`, `coppice/compactPreview` and `coppice/cancel`."""

    def __init__(self, context: Context, turns: Turns) -> None:
        self._context = context
        self._turns = turns
        self.ahead = Ahead(context)

    async def preview(
        self, params: CompactPreviewParams, progress: Progress | None = None
    ) -> CompactPreviewResult:
        """What a compaction would cut and keep. Stores nothing and asks no model."""

        def read(thread: ThreadWork) -> CompactPreviewResult:
            path = self._context.path(params.conversation_id, params.leaf_id, request=params.settings)
            prepared = prepare(path)
            thread.report("Reading the files", 30)
            return preview_of(prepared)

        result = await run_in_thread(read, progress, title="Looking ahead")
        if progress is not None:
            progress.end(f"{result.messages_to_summarize:,} messages")
        return result

    async def compact(
        self,
        params: CompactParams,
        progress: Progress | JobProgress,
        reason: CompactionReason = "manual",
        fit: Fit | None = None,
    ) -> CompactResult:
        """A compaction that is already running is joined, unless this one asks for something of its own.

        With the progress of the conversation's job, it is a step of that job. A client's turn is asked to end
        before a compaction with the reason `manual`. `fit` is the view that it is to leave; the request that
        failed for an `overflow` is tried again when it does.
        """
        plain = not params.draft and params.summary is None
        if reason == "manual" and not params.draft:
            await self._turns.make_way(params.conversation_id)
        return await self._context.jobs.run(
            params.conversation_id,
            JOB if plain else DRAFT_JOB,
            title=TITLE,
            progress=progress,
            work=partial(self._compact, params, reason, fit),
            joinable=plain,
        )

    async def cancel(self, params: CancelParams) -> CancelResult:
        """Cancels the conversation's job, if there is one, and none that is asked for after this request."""
        cancelled = self._context.jobs.cancel(params.conversation_id)
        await run_read(self._context.stores.of_conversation, params.conversation_id)
        if await self._turns.shared.stop_elsewhere(params.conversation_id):
            cancelled.append(TURN)
        return CancelResult(cancelled=cancelled)

    async def _compact(
        self,
        params: CompactParams,
        reason: CompactionReason,
        fit: Fit | None,
        progress: JobProgress,
    ) -> CompactResult:
        """One compaction; a start and an end are notified for each, but not for a draft."""

        def read() -> Preparation:
            return prepare(self._context.path(params.conversation_id, request=params.settings), fit)

        try:
            prepared = await run_long(read)
        except BaseException as error:
            progress.end(sentence_of(error, "Stopped"))
            raise
        attempt = _Attempt(self._context, params.conversation_id, reason, progress, quiet=params.draft)
        attempt.start()
        try:
            ready = await self._prepared_ahead(params, reason, fit, progress)
            if ready is None:
                await run_read(lambda: check_path(prepared, self._context.path(params.conversation_id)))
            with paid(self._context, params.conversation_id) as own:
                result = await self._summarize_and_store(params, prepared, reason, progress, ready, own=own)
                own.is_taken = not params.draft
        except asyncio.CancelledError:
            attempt.end("Cancelled; nothing was changed", status="cancelled")
            raise
        except Exception as error:
            sentence = sentence_of(error, "The compaction failed")
            attempt.end(sentence, status=_status(error, reason), error=sentence)
            raise
        if not params.draft:
            self.ahead.forget(params.conversation_id, None if result.entry.from_hook else ready)
        before, after = result.tokens_before, result.tokens_after
        attempt.end(
            f"{_short(before)} → {_short(after)} tokens",
            status="completed",
            will_retry=reason == "overflow" and fit is not None and after <= fit.room,
            tokens_before=before,
            tokens_after=after,
            first_kept_entry_id=result.first_kept_entry_id,
            entry_id=result.entry.id,
            from_hook=result.entry.from_hook,
        )
        return result

    async def _prepared_ahead(
        self, params: CompactParams, reason: CompactionReason, fit: Fit | None, progress: JobProgress
    ) -> ReadySummary | None:
        """The summary that was written in the background; None for a compaction with wishes of its own."""
        own = (params.instructions, params.summary, params.settings)
        if reason == "overflow" or params.draft or any(each is not None for each in own):
            return None
        progress.report("Waiting for the summary", 5)
        return await self.ahead.take(params.conversation_id, fit)

    async def _summarize_and_store(
        self,
        params: CompactParams,
        prepared: Preparation,
        reason: CompactionReason,
        progress: JobProgress,
        ready: ReadySummary | None,
        *,
        own: Paid,
    ) -> CompactResult:
        started = time.monotonic()
        hooks = self._context.hooks
        answer = await ask_hooks(self._context, params, prepared, reason, progress.report)
        given = await adopted(hooks, params, prepared, answer)
        if given is None and ready is not None:
            prepared, summary, report = ready.prepared, ready.summary, ready.report
            # Where an error came after it was stored, the summary can be taken again, on another branch.
            changed = {"id": new_entry_id(), "timestamp": now(), "reason": reason}
            entry = ready.entry.model_copy(update=changed)
        else:
            if given is not None:
                prepared, summary = given
            else:
                async with self._context.summarizers.of(prepared.path.settings) as summarizer:
                    own.summarizer = summarizer
                    summary = await summarize(
                        prepared,
                        own,
                        instructions=answer.instructions,
                        edited=params.summary,
                        stage=progress.report,
                    )
            report = await run_long(loss_report, prepared, summary)
            entry = await run_long(entry_of, prepared, summary, reason)
        if not params.draft:
            progress.report("Saving", 95)
            entry = await self._store(prepared, summary, entry, reason)
        return CompactResult(
            entry=entry,
            tokens_before=entry.tokens_before or 0,
            tokens_after=entry.tokens_after or 0,
            first_kept_entry_id=prepared.first_kept.id,
            summarizer=summary.written.summarizer,
            duration_ms=int((time.monotonic() - started) * 1000),
            warnings=[*answer.problems, *summary.written.warnings],
            report=report,
        )

    async def _store(
        self,
        prepared: Preparation,
        summary: FinishedSummary,
        entry: CompactionEntry,
        reason: CompactionReason,
    ) -> CompactionEntry:
        conversation_id = prepared.path.conversation.id

        def append() -> tuple[CompactionEntry, str | None, UsageState]:
            stored, path = append_at_leaf(prepared, summary, entry)
            return stored, path.leaf_id, usage_state(path)

        stored, leaf_id, usage = await self._context.write(conversation_id, append)
        self._context.announce(conversation_id, leaf_id, "entries", "leaf")
        done = DidCompactParams(
            conversation_id=conversation_id,
            reason=reason,
            entry=stored,
            tokens_before=stored.tokens_before or 0,
            tokens_after=stored.tokens_after or 0,
            from_hook=summary.from_hook,
        )
        self._context.hooks.notify(DID_COMPACT, done, self._context.asking(prepared.path))
        self._context.announce_usage(conversation_id, usage)
        return stored


def _status(error: Exception, reason: CompactionReason) -> CompactionStatus:
    if isinstance(error, CancelledByHookError):
        return "cancelled"
    return "skipped" if reason != "manual" and isinstance(error, SummaryRejectedError) else "failed"


def _short(tokens: int) -> str:
    """`142k` for 142,310; small numbers stay whole."""
    return f"{tokens / 1000:.0f}k" if tokens >= 10_000 else f"{tokens:,}"  # noqa: PLR2004 - five digits and up
