"""Summaries that are written before the threshold is reached, next to the running work."""

import asyncio
import logging
from dataclasses import dataclass
from typing import Final, Literal

from coppice.errors import CoppiceError, sentence_of
from coppice.protocol.compaction import LossReport
from coppice.protocol.notifications import BACKGROUND_COMPACTION_CHANGED, BackgroundCompactionChanged
from coppice.protocol.server_requests import WILL_COMPACT
from coppice.service.compaction.compaction_entry import entry_of, view_after
from coppice.service.compaction.loss_report import loss_report
from coppice.service.compaction.preparing import Preparation, prepare
from coppice.service.compaction.summarizing import FinishedSummary, summarize
from coppice.service.compaction.unused_summaries import count_unused, paid
from coppice.service.core.context import Context
from coppice.service.core.conversation_path import ConversationPath
from coppice.service.core.progress import Progress
from coppice.service.core.summarizers import answers_side_by_side
from coppice.service.core.workers import run_long, run_read
from coppice.service.window.fitting import Fit
from coppice.tree.entries import CompactionEntry

TITLE: Final = "Compacting in the background"
JOB: Final = "background compaction"
REASON: Final = "threshold"
"""Why a compaction is made that takes the summary, unless a person asks for it before."""
BEGIN_SHARE: Final = 0.8
"""Of the threshold. What is left, 36,000 tokens of the default window, is several requests of a turn."""

_log: Final = logging.getLogger(__name__)

Status = Literal["writing", "ready"]


@dataclass(frozen=True, slots=True)
class ReadySummary:
    """All of a compaction that does not depend on what was appended since."""

    prepared: Preparation
    summary: FinishedSummary
    report: LossReport
    entry: CompactionEntry


@dataclass(frozen=True, slots=True)
class _Draft:
    """A summary that is being written, is ready, or is of no use; the leaf and the newest compaction of its
    path.
    """

    task: asyncio.Task[ReadySummary]
    leaf_id: str
    compaction_key: int | None

    @property
    def status(self) -> Status | None:
        """None for one that failed or was cancelled."""
        if not self.task.done():
            return "writing"
        return None if self.task.cancelled() or self.task.exception() is not None else "ready"


class Ahead:
    """At most one summary a conversation between two compactions, in memory until it is taken."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._drafts: dict[str, _Draft] = {}
        # By conversation, the newest compactions of the paths for which a summary was begun.
        self._begun: dict[str, set[int | None]] = {}
        self._left: set[str] = set()
        self._moved: set[str] = set()
        self._looking: dict[str, asyncio.Task[None]] = {}
        self._announced: dict[str, Status] = {}
        context.after_deleting.append(self._forget_all)
        context.after_moving.append(self._look_again)

    def may_begin(self, path: ConversationPath) -> bool:
        """Whether the summary of the next compaction may be begun, which is once between two compactions.

        Not where the settings have it off, where hooks are asked before a compaction, and where the model is
        one that may answer one request at a time.
        """
        if path.end is None or not path.settings.compaction.background:
            return False
        if self._context.hooks.are_there(WILL_COMPACT) or not answers_side_by_side(path.settings):
            return False
        return path.end.compaction_key not in self._begun.get(path.conversation.id, ())

    def begin(self, path: ConversationPath, fit: Fit) -> None:
        """Begins to write the summary of the next compaction, where it may be begun."""
        if path.end is None or not self.may_begin(path):
            return
        conversation_id = path.conversation.id
        self.forget(conversation_id)
        task = self._context.jobs.run_background(conversation_id, JOB, self._write(path, fit))
        self._begun.setdefault(conversation_id, set()).add(path.end.compaction_key)
        self._drafts[conversation_id] = _Draft(task, path.end.id, path.end.compaction_key)
        self._announce(conversation_id)
        task.add_done_callback(lambda _: self._announce(conversation_id))

    async def take(self, conversation_id: str, fit: Fit | None) -> ReadySummary | None:
        """The summary, for the compaction that is due now; one that is being written is waited for.

        None where there is none, and where it is of no use any more: the path is another one, was compacted,
        has other settings, or would still not fit. A caller that is cancelled ends the writing.
        """
        draft = self._drafts.get(conversation_id)
        if draft is None:
            return None
        try:
            if not await run_read(self._may_be_used, conversation_id, draft):
                return None
            ready = await draft.task
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if caller is not None and caller.cancelling():
                draft.task.cancel()
                raise
            return None
        except Exception as error:  # noqa: BLE001 - whatever it was, the compaction that is due writes its own
            _log.warning(
                "The summary in the background is not used: %s", sentence_of(error, type(error).__name__)
            )
            return None
        return ready if await run_long(self._is_of_use, conversation_id, draft, ready, fit) else None

    def status(self, conversation_id: str) -> Status | None:
        """What there is for the next compaction; None also where that is of no use on the current path."""
        draft = None if conversation_id in self._left else self._drafts.get(conversation_id)
        return None if draft is None else draft.status

    def forget(self, conversation_id: str, taken: ReadySummary | None = None) -> None:
        """Ends the writing and forgets what was written; what it took is counted, unless it is `taken`."""
        draft = self._drop(conversation_id)
        if draft is not None and draft.status == "ready" and (ready := draft.task.result()) is not taken:
            count_unused(self._context, conversation_id, ready.summary.written)

    def _drop(self, conversation_id: str) -> _Draft | None:
        self._left.discard(conversation_id)
        draft = self._drafts.pop(conversation_id, None)
        if draft is not None:
            draft.task.cancel()
        self._announce(conversation_id)
        return draft

    def _forget_all(self, conversation_id: str) -> None:
        self._begun.pop(conversation_id, None)
        self._drop(conversation_id)
        self._context.unused_summaries.pop(conversation_id, None)

    def _look_again(self, conversation_id: str) -> None:
        """Looks whether the conversation is still, or again, on the path of its summary."""
        if conversation_id not in self._drafts:
            return
        self._moved.add(conversation_id)
        if conversation_id not in self._looking:
            task = self._looking[conversation_id] = asyncio.create_task(self._look(conversation_id))
            task.add_done_callback(lambda _: self._looking.pop(conversation_id))

    async def _look(self, conversation_id: str) -> None:
        while conversation_id in self._moved:
            self._moved.discard(conversation_id)
            draft = self._drafts.get(conversation_id)
            if draft is None:
                return
            try:
                may_be_used = await run_read(self._may_be_used, conversation_id, draft)
            except CoppiceError as error:
                _log.debug("Whether a summary can still be used is not known: %s", error)
                return
            if self._drafts.get(conversation_id) is draft:
                (self._left.discard if may_be_used else self._left.add)(conversation_id)
                self._announce(conversation_id)

    def _announce(self, conversation_id: str) -> None:
        """Notifies the client where it does not have the status yet."""
        status = self.status(conversation_id)
        if status == self._announced.get(conversation_id):
            return
        if status is None:
            del self._announced[conversation_id]
        else:
            self._announced[conversation_id] = status
        changed = BackgroundCompactionChanged(conversation_id=conversation_id, status=status)
        self._context.client.notify(BACKGROUND_COMPACTION_CHANGED, changed)

    async def _write(self, path: ConversationPath, fit: Fit) -> ReadySummary:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - it is one
        progress: Progress = self._context.progress_of(task)
        progress.begin(TITLE)
        ending = "Stopped; the conversation is compacted when the threshold is reached"
        try:
            prepared = await run_long(prepare, path, fit)
            with paid(self._context, path.conversation.id) as own:
                async with self._context.summarizers.of(path.settings) as own.summarizer:
                    summary = await summarize(
                        prepared, own, instructions=None, edited=None, stage=progress.report
                    )
                report = await run_long(loss_report, prepared, summary)
                entry = await run_long(entry_of, prepared, summary, REASON)
                own.is_taken = True
            ending = "The summary is ready for the next compaction"
            return ReadySummary(prepared, summary, report, entry)
        finally:
            progress.end(ending)

    def _may_be_used(self, conversation_id: str, draft: _Draft) -> bool:
        return _is_of_path(self._context.path(conversation_id), draft)

    def _is_of_use(self, conversation_id: str, draft: _Draft, ready: ReadySummary, fit: Fit | None) -> bool:
        path = self._context.path(conversation_id)
        if not _is_of_path(path, draft) or path.settings != ready.prepared.path.settings:
            return False
        assert path.end is not None  # noqa: S101 - the draft is of its path
        return fit is None or view_after(ready.prepared, ready.summary, path.end) <= fit.room


def _is_of_path(path: ConversationPath, draft: _Draft) -> bool:
    """Whether the path goes on from where the summary was begun, and was not compacted since."""
    if path.end is None or path.end.compaction_key != draft.compaction_key:
        return False
    return path.contains(draft.leaf_id)
