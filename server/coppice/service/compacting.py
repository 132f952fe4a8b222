"""The use cases `coppice/compactPreview`, `coppice/compact` and `coppice/cancel`."""

import asyncio
import time
import uuid
from typing import Any, cast

from coppice.errors import CancelledByHookError, CoppiceError, StaleLeafError, SummaryRejectedError
from coppice.service.compaction_hooks import adopted, ask_hooks
from coppice.service.context import Context, now
from coppice.service.fitting import Fit
from coppice.service.jobs import Progress, SharedProgress
from coppice.service.losses import loss_report
from coppice.service.messages.compaction import (
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
from coppice.service.messages.prompt import CompactionUpdate
from coppice.service.messages.usage import UsageState
from coppice.service.path_reading import read_path
from coppice.service.preparing import Preparation, prepare, preview_of
from coppice.service.span_requests import by_hook, signed
from coppice.service.summarizing import FinishedSummary, summarize
from coppice.service.turns import Turns
from coppice.service.usage import usage_state
from coppice.store.records import NewRecord
from coppice.tree.entries import CompactionEntry
from coppice.tree.ids import new_entry_id

STARTED = "coppice/compactionStarted"
ENDED = "coppice/compactionEnded"
TITLE = "Compacting"
JOB = "compaction"
DRAFT_JOB = "compaction draft"
_COMMIT_TRIES = 5


class _Attempt:
    """Tells that a compaction starts, and how it ended."""

    def __init__(
        self,
        context: Context,
        conversation_id: str,
        reason: CompactionReason,
        progress: SharedProgress,
        *,
        quiet: bool,
    ) -> None:
        self._emit = (lambda _method, _params: None) if quiet else context.emit
        self._progress = progress
        self._about = {
            "conversation_id": conversation_id,
            "compaction_id": uuid.uuid4().hex,
            "reason": reason,
        }

    def start(self) -> None:
        started = CompactionStarted.model_validate(self._about)
        self._emit(STARTED, started)
        self._progress.partial(CompactionUpdate(compaction_id=started.compaction_id, status="started"))

    def end(self, message: str, **how: Any) -> None:
        self._progress.end(message)
        ended = CompactionEnded.model_validate(self._about | how)
        self._emit(ENDED, ended)
        self._progress.partial(
            CompactionUpdate(compaction_id=ended.compaction_id, status=ended.status, entry_id=ended.entry_id)
        )


class Compacting:
    def __init__(self, context: Context, turns: Turns) -> None:
        self._context = context
        self._turns = turns

    async def preview(self, params: CompactPreviewParams) -> CompactPreviewResult:
        def read() -> CompactPreviewResult:
            return preview_of(self._prepare(params.conversation_id, params.settings, params.leaf_id))

        return await asyncio.to_thread(read)

    async def compact(
        self,
        params: CompactParams,
        progress: Progress,
        reason: CompactionReason = "manual",
        fit: Fit | None = None,
    ) -> CompactResult:
        """A compaction that is already running is joined, unless this one asks for something of its own.

        A client's turn is asked to make way for one that somebody asked for. `fit` is what it shall leave.
        """

        async def work(shared: SharedProgress) -> CompactResult:
            return await self.attempt(params, reason, shared, fit)

        plain = not params.draft and params.summary is None
        if reason == "manual" and not params.draft:
            await self._turns.make_way(params.conversation_id)
        result = await self._context.jobs.run(
            params.conversation_id,
            JOB if plain else DRAFT_JOB,
            title=TITLE,
            progress=progress,
            work=work,
            joinable=plain,
        )
        return cast("CompactResult", result)

    async def cancel(self, params: CancelParams) -> CancelResult:
        await asyncio.to_thread(self._context.stores.of_conversation, params.conversation_id)
        return CancelResult(cancelled=self._context.jobs.cancel(params.conversation_id))

    async def attempt(
        self,
        params: CompactParams,
        reason: CompactionReason,
        progress: SharedProgress,
        fit: Fit | None = None,
        retry_below: int | None = None,
    ) -> CompactResult:
        """One compaction, within a job; announced once and ended once, but for a draft, which is neither.

        A request that failed is tried again when the view is left with at most `retry_below` tokens.
        """
        try:
            prepared = await asyncio.to_thread(
                self._prepare, params.conversation_id, params.settings, fit=fit
            )
        except BaseException as error:
            progress.end(str(error) if isinstance(error, CoppiceError) else "Stopped")
            raise
        attempt = _Attempt(self._context, params.conversation_id, reason, progress, quiet=params.draft)
        attempt.start()
        try:
            result = await self._summarize_and_store(params, prepared, reason, progress)
        except asyncio.CancelledError:
            attempt.end("Cancelled; nothing was changed", status="cancelled")
            raise
        except Exception as error:
            said = str(error) if isinstance(error, CoppiceError) else "The compaction failed"
            attempt.end(said, status=_status(error, reason), error=said)
            raise
        before, after = result.tokens_before, result.tokens_after
        attempt.end(
            f"{_short(before)} → {_short(after)} tokens",
            status="completed",
            will_retry=retry_below is not None and after <= retry_below,
            tokens_before=before,
            tokens_after=after,
            first_kept_entry_id=result.first_kept_entry_id,
            entry_id=result.entry.id,
        )
        return result

    async def _summarize_and_store(
        self,
        params: CompactParams,
        prepared: Preparation,
        reason: CompactionReason,
        progress: SharedProgress,
    ) -> CompactResult:
        started = time.monotonic()
        hooks = self._context.hooks
        answer = await ask_hooks(hooks, params, prepared, reason, progress.report)
        if given := await adopted(hooks, params, prepared, answer):
            prepared, summary = given
        else:
            async with self._context.summarizers.of(prepared.path.settings) as summarizer:
                summary = await summarize(
                    prepared,
                    summarizer,
                    instructions=answer.instructions,
                    edited=params.summary,
                    stage=progress.report,
                )
        entry = _entry(prepared, summary, reason)
        report = await asyncio.to_thread(loss_report, prepared, summary)
        if not params.draft:
            progress.report("Saving", 95)
            entry = await self._store(prepared, summary, entry)
        return CompactResult(
            entry=entry,
            tokens_before=prepared.tokens_before,
            tokens_after=summary.tokens_after,
            first_kept_entry_id=prepared.first_kept.id,
            summarizer=summary.written.summarizer,
            duration_ms=int((time.monotonic() - started) * 1000),
            warnings=[*answer.problems, *summary.written.warnings],
            report=report,
        )

    async def _store(
        self, prepared: Preparation, summary: FinishedSummary, entry: CompactionEntry
    ) -> CompactionEntry:
        conversation_id = prepared.path.conversation.id

        def append() -> tuple[CompactionEntry, str | None, UsageState]:
            stored, leaf_id = _append_behind(prepared, summary, entry)
            return stored, leaf_id, usage_state(prepared.path.again())

        stored, leaf_id, usage = await self._context.write(conversation_id, append)
        self._context.announce(conversation_id, leaf_id, "entries", "leaf")
        self._context.announce_usage(conversation_id, usage)
        return stored

    def _prepare(
        self,
        conversation_id: str,
        overrides: dict[str, Any] | None,
        leaf_id: str | None = None,
        fit: Fit | None = None,
    ) -> Preparation:
        store = self._context.stores.of_conversation(conversation_id)
        workspace = store.conversation(conversation_id).workspace_uri
        settings = self._context.settings.of(workspace, overrides)
        return prepare(read_path(store, conversation_id, settings, leaf_id), fit)


def _append_behind(
    prepared: Preparation, summary: FinishedSummary, entry: CompactionEntry
) -> tuple[CompactionEntry, str | None]:
    """Appends the compaction at the leaf, which may have grown meanwhile, but not moved elsewhere."""
    store, conversation_id = prepared.path.store, prepared.path.conversation.id
    for remaining in reversed(range(_COMMIT_TRIES)):
        end = store.end(conversation_id)
        moved = end is None or store.ancestor_depth(end, prepared.end.id) is None
        if end is None or moved or end.compaction_key != prepared.end.compaction_key:
            raise StaleLeafError(
                "The conversation moved on to another branch or was compacted elsewhere while it was being "
                "summarized; nothing was changed. Compact it again if it is still too long.",
                leafId=end.id if end is not None else None,
            )
        record = NewRecord(entry, summary.size, summary.ledger.to_json())
        try:
            done = store.append(
                conversation_id, [record], expected_leaf_id=end.id, modified_at=entry.timestamp
            )
        except StaleLeafError:
            if not remaining:
                raise
            continue
        stored = store.entry(conversation_id, entry.id)
        return cast("CompactionEntry", stored), done.leaf_id
    raise AssertionError  # pragma: no cover - the last try returns or raises


def _entry(prepared: Preparation, summary: FinishedSummary, reason: str) -> CompactionEntry:
    entry = CompactionEntry(
        id=new_entry_id(),
        parent_id=prepared.end.id,
        timestamp=now(),
        summary=summary.text,
        first_kept_entry_id=prepared.first_kept.id,
        tokens_before=prepared.tokens_before,
        tokens_after=summary.tokens_after,
        reason=reason,
        details={
            **summary.written.details,
            **summary.ledger.details(),
            "summarizer": summary.written.summarizer,
        },
    )
    return by_hook(entry) if summary.from_hook else signed(entry, summary.written)


def _status(error: Exception, reason: CompactionReason) -> CompactionStatus:
    if isinstance(error, CancelledByHookError):
        return "cancelled"
    return "skipped" if reason != "manual" and isinstance(error, SummaryRejectedError) else "failed"


def _short(tokens: int) -> str:
    """`142k` for 142,310; small numbers stay whole."""
    return f"{tokens / 1000:.0f}k" if tokens >= 10_000 else f"{tokens:,}"  # noqa: PLR2004 - five digits and up
