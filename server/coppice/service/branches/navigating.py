"""The use cases `coppice/navigate` and `coppice/navigatePreview`."""

import asyncio
from functools import partial

from coppice.compaction.span.serialization import serialize
from coppice.errors import CancelledByHookError, StaleLeafError, SummaryRejectedError, sentence_of
from coppice.protocol.hooks import DidNavigateParams, WillNavigateParams
from coppice.protocol.navigation import (
    NavigateParams,
    NavigatePreviewParams,
    NavigatePreviewResult,
    NavigateResult,
)
from coppice.protocol.notifications import DID_NAVIGATE, Change
from coppice.protocol.server_requests import WILL_NAVIGATE
from coppice.protocol.usage import UsageState
from coppice.service.branches.branch_switch import (
    BranchSwitch,
    adopt_branch,
    message_to_summarize,
    summarize_branch,
)
from coppice.service.branches.labels_and_pins import label_entry
from coppice.service.core.client_turns import Turns
from coppice.service.core.context import Context, now
from coppice.service.core.progress import JobProgress, LateProgress, Progress
from coppice.service.core.worker_process import call_in_process
from coppice.service.core.workers import run_long
from coppice.service.hooks.hooks import NavigationAnswer, both
from coppice.service.window.usage import usage_state
from coppice.store.schema.records import NewRecord
from coppice.tokens.measuring import size_of_entry
from coppice.tokens.size import Size
from coppice.tree.entries import BranchSummaryEntry

TITLE = "Summarizing branch"
JOB = "navigation"


class Navigating:
    """The use cases `coppice/navigate` and `coppice/navigatePreview`."""

    def __init__(self, context: Context, turns: Turns) -> None:
        self._context = context
        self._turns = turns

    async def preview(self, params: NavigatePreviewParams) -> NavigatePreviewResult:
        """What a navigation would leave. Stores nothing and asks no model."""

        def read() -> NavigatePreviewResult:
            branch_switch = self._plan_switch(params.conversation_id, params.target_id)
            return NavigatePreviewResult(
                common_ancestor_id=branch_switch.ancestor.id if branch_switch.ancestor else None,
                entries_to_summarize=[row.id for row in branch_switch.rows()],
                tokens=branch_switch.tokens(),
                leaf_id=branch_switch.old_leaf_id,
            )

        return await run_long(read)

    async def navigate(self, params: NavigateParams, progress: Progress) -> NavigateResult:
        """The leaf moves, with the branch summary if one is wanted, or nothing changes."""
        branch_switch = await run_long(self._plan_switch, params.conversation_id, params.target_id)
        if params.target_id == branch_switch.old_leaf_id:
            return NavigateResult(leaf_id=branch_switch.old_leaf_id)
        await self._turns.shared.refuse_elsewhere(params.conversation_id)
        summarizes = params.summarize and branch_switch.has_content()
        if not summarizes and not self._context.hooks.are_there(WILL_NAVIGATE):
            self._context.jobs.refuse_if_busy(params.conversation_id)
            return await self._move(params, branch_switch, None)

        try:
            return await self._context.jobs.run(
                params.conversation_id,
                JOB,
                title=TITLE,
                progress=progress if summarizes else LateProgress(progress),
                work=partial(self._ask_and_move, params, branch_switch),
                joinable=False,
            )
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return NavigateResult(leaf_id=branch_switch.old_leaf_id, cancelled=True, aborted=True)

    async def _ask_and_move(
        self, params: NavigateParams, branch_switch: BranchSwitch, progress: JobProgress
    ) -> NavigateResult:
        try:
            asked, summary, warnings = await self._ask_hooks(params, branch_switch, progress)
            if summary is None and params.summarize and branch_switch.has_content():
                async with self._context.summarizers.of(branch_switch.path.settings) as summarizer:
                    summary, more = await summarize_branch(branch_switch, summarizer, asked, progress.report)
                warnings += more
            result = await self._move(asked, branch_switch, summary)
        except CancelledByHookError as error:
            progress.end(str(error))
            return NavigateResult(leaf_id=branch_switch.old_leaf_id, cancelled=True)
        except asyncio.CancelledError:
            progress.end("Cancelled; nothing was changed")
            raise
        except Exception as error:
            progress.end(sentence_of(error, "The branch was not summarized"))
            raise
        progress.end("The branch was summarized" if summary is not None else "No summary was written")
        return result.model_copy(update={"warnings": warnings if summary is not None else warnings or None})

    async def _ask_hooks(
        self, params: NavigateParams, branch_switch: BranchSwitch, progress: JobProgress
    ) -> tuple[NavigateParams, BranchSummaryEntry | None, list[str]]:
        """The params as the hooks would have them, the summary that one gave, and who was passed over."""
        hooks = self._context.hooks
        if not hooks.are_there(WILL_NAVIGATE):
            return params, None, []
        asked = await run_long(_announced, params, branch_switch)
        asking = self._context.asking(branch_switch.path, lambda waiting: progress.report(waiting, 2))
        answer = await hooks.will_navigate(asked, asking)
        summary = None
        if given := answer.given:
            try:
                summary = await run_long(
                    adopt_branch, branch_switch, params.branch_files or (), given.hook, given.summary
                )
            except SummaryRejectedError as error:
                answer.problems.append(hooks.pass_over(given.hook, str(error)))
        return _as_answered(params, answer), summary, answer.problems

    async def _move(
        self, params: NavigateParams, branch_switch: BranchSwitch, summary: BranchSummaryEntry | None
    ) -> NavigateResult:
        conversation_id = params.conversation_id
        label = (params.label or "").strip()

        def store_move() -> tuple[str | None, UsageState]:
            leaf_id = _store_move(branch_switch, summary, label)
            return leaf_id, usage_state(branch_switch.path.to())

        leaf_id, usage = await self._context.write(conversation_id, store_move)
        changes: list[Change] = ["entries"] if summary is not None else []
        if leaf_id != branch_switch.old_leaf_id:
            changes.append("leaf")
        if label:
            changes.append("labels")
        if changes:
            self._context.announce(conversation_id, leaf_id, *changes)
            self._context.announce_usage(conversation_id, usage)
        if leaf_id != branch_switch.old_leaf_id:
            moved = DidNavigateParams(
                conversation_id=conversation_id,
                old_leaf_id=branch_switch.old_leaf_id,
                leaf_id=leaf_id,
                summary_entry=summary,
                from_hook=summary is not None and summary.from_hook is True,
            )
            self._context.did(DID_NAVIGATE, moved, branch_switch.path)
        return NavigateResult(leaf_id=leaf_id, editor_text=branch_switch.editor_text, summary_entry=summary)

    def _plan_switch(self, conversation_id: str, target_id: str) -> BranchSwitch:
        return BranchSwitch.plan(self._context.path(conversation_id), target_id)


def _announced(params: NavigateParams, branch_switch: BranchSwitch) -> WillNavigateParams:
    """What hooks are given. Reads the store."""
    entries = branch_switch.newest_entries()
    return WillNavigateParams(
        conversation_id=params.conversation_id,
        target_id=params.target_id,
        old_leaf_id=branch_switch.old_leaf_id,
        common_ancestor_id=branch_switch.ancestor.id if branch_switch.ancestor else None,
        entries_to_summarize=[row.id for row in branch_switch.rows()],
        entries=entries,
        text=call_in_process(serialize, [each for each in map(message_to_summarize, entries) if each]),
        user_wants_summary=params.summarize,
    )


def _as_answered(params: NavigateParams, answer: NavigationAnswer) -> NavigateParams:
    """What the hooks want added; whoever navigates has named the branch better than they can."""
    replaces = answer.replace_instructions
    instructions = answer.instructions if replaces else both(params.instructions, answer.instructions)
    return params.model_copy(
        update={
            "instructions": instructions,
            "replace_instructions": params.replace_instructions or replaces,
            "label": params.label or answer.label,
        }
    )


def _store_move(branch_switch: BranchSwitch, summary: BranchSummaryEntry | None, label: str) -> str | None:
    """Moves the leaf in one transaction with the summary. Refused when somebody moved it meanwhile.

    An empty label is none.
    """
    store, conversation_id, at = branch_switch.path.store, branch_switch.path.conversation.id, now()
    if summary is None:
        store.set_leaf(
            conversation_id,
            branch_switch.new_leaf_id,
            modified_at=at,
            expected_leaf_id=branch_switch.old_leaf_id,
        )
        if label:
            entry = label_entry(branch_switch.target_id, label, timestamp=at)
            store.append(conversation_id, [NewRecord(entry, Size())], modified_at=at)
        return branch_switch.new_leaf_id
    records = [NewRecord(summary, size_of_entry(summary))]
    if label:
        records.append(NewRecord(label_entry(summary.id, label, timestamp=at), Size()))
    try:
        done = store.append(
            conversation_id,
            records,
            parent_id=branch_switch.new_leaf_id,
            expected_leaf_id=branch_switch.old_leaf_id,
            modified_at=at,
        )
    except StaleLeafError as error:
        raise StaleLeafError(
            "The conversation went on while its branch was being summarized; nothing was changed. "
            "Look at it again before you navigate.",
            **error.data,
        ) from error
    return done.leaf_id
