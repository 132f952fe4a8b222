"""The use cases `coppice/navigate` and `coppice/navigatePreview`."""

import asyncio
from typing import cast

from coppice.errors import CancelledByHookError, CoppiceError, StaleLeafError, SummaryRejectedError
from coppice.service.branches import Departure, adopt_branch, summarize_branch
from coppice.service.context import Context, now
from coppice.service.hooks import NavigationAnswer, both
from coppice.service.jobs import NoProgress, Progress, SharedProgress
from coppice.service.messages.events import Change
from coppice.service.messages.hooks import WillNavigateParams
from coppice.service.messages.navigation import (
    NavigateParams,
    NavigatePreviewParams,
    NavigatePreviewResult,
    NavigateResult,
)
from coppice.service.messages.usage import UsageState
from coppice.service.path_reading import read_path
from coppice.service.server_requests import WILL_NAVIGATE
from coppice.service.usage import usage_state
from coppice.store.records import NewRecord
from coppice.tokens.measuring import size_of_entry
from coppice.tokens.size import Size
from coppice.tree.entries import BranchSummaryEntry, LabelEntry
from coppice.tree.ids import new_entry_id

TITLE = "Summarizing branch"
JOB = "navigation"


class Navigating:
    def __init__(self, context: Context) -> None:
        self._context = context

    async def preview(self, params: NavigatePreviewParams) -> NavigatePreviewResult:
        def read() -> NavigatePreviewResult:
            departure = self._departure(params.conversation_id, params.target_id)
            return NavigatePreviewResult(
                common_ancestor_id=departure.ancestor.id if departure.ancestor else None,
                entries_to_summarize=[row.id for row in departure.rows()],
                tokens=departure.tokens(),
                leaf_id=departure.old_leaf_id,
            )

        return await asyncio.to_thread(read)

    async def navigate(self, params: NavigateParams, progress: Progress) -> NavigateResult:
        """The leaf moves, with the branch summary if one is wanted, or nothing changes."""
        departure = await asyncio.to_thread(self._departure, params.conversation_id, params.target_id)
        if params.target_id == departure.old_leaf_id:
            return NavigateResult(leaf_id=departure.old_leaf_id)
        summarizes = params.summarize and departure.has_something_to_say()
        if not summarizes and not self._context.hooks.are_there(WILL_NAVIGATE):
            self._context.jobs.refuse_if_busy(params.conversation_id)
            return await self._move(params, departure, None)

        async def work(shared: SharedProgress) -> NavigateResult:
            return await self._ask_and_move(params, departure, shared)

        try:
            result = await self._context.jobs.run(
                params.conversation_id,
                JOB,
                title=TITLE,
                progress=progress if summarizes else NoProgress(),
                work=work,
                joinable=False,
            )
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return NavigateResult(leaf_id=departure.old_leaf_id, cancelled=True, aborted=True)
        return cast("NavigateResult", result)

    async def _ask_and_move(
        self, params: NavigateParams, departure: Departure, progress: SharedProgress
    ) -> NavigateResult:
        try:
            asked, summary, warnings = await self._ask_hooks(params, departure, progress)
            if summary is None and params.summarize and departure.has_something_to_say():
                summary, more = await self._summary(asked, departure, progress)
                warnings += more
            result = await self._move(asked, departure, summary)
        except CancelledByHookError as error:
            progress.end(str(error))
            return NavigateResult(leaf_id=departure.old_leaf_id, cancelled=True)
        except asyncio.CancelledError:
            progress.end("Cancelled; nothing was changed")
            raise
        except Exception as error:
            progress.end(str(error) if isinstance(error, CoppiceError) else "The branch was not summarized")
            raise
        progress.end("The branch was summarized")
        return result.model_copy(update={"warnings": warnings if summary is not None else warnings or None})

    async def _ask_hooks(
        self, params: NavigateParams, departure: Departure, progress: SharedProgress
    ) -> tuple[NavigateParams, BranchSummaryEntry | None, list[str]]:
        """The params as the hooks would have them, the summary that one gave, and who was passed over."""
        hooks = self._context.hooks
        if not hooks.are_there(WILL_NAVIGATE):
            return params, None, []
        progress.report("Asking hooks", 2)
        asked = await asyncio.to_thread(_announced, params, departure)
        answer = await hooks.will_navigate(asked, departure.path.settings.hooks.timeout_seconds)
        summary = None
        if given := answer.given:
            try:
                summary = await asyncio.to_thread(adopt_branch, departure, given.hook, given.summary)
            except SummaryRejectedError as error:
                answer.problems.append(hooks.pass_over(given.hook, str(error)))
        return _as_answered(params, answer), summary, answer.problems

    async def _summary(
        self, params: NavigateParams, departure: Departure, progress: SharedProgress
    ) -> tuple[BranchSummaryEntry, tuple[str, ...]]:
        async with self._context.summarizers.of(departure.path.settings) as summarizer:
            return await summarize_branch(
                departure,
                summarizer,
                progress.report,
                instructions=params.instructions,
                replace_instructions=params.replace_instructions,
            )

    async def _move(
        self, params: NavigateParams, departure: Departure, summary: BranchSummaryEntry | None
    ) -> NavigateResult:
        conversation_id = params.conversation_id
        label = (params.label or "").strip()

        def store_move() -> tuple[str | None, UsageState]:
            leaf_id = _store_move(departure, summary, label)
            return leaf_id, usage_state(departure.path.again())

        leaf_id, usage = await self._context.write(conversation_id, store_move)
        changes: list[Change] = ["entries"] if summary is not None else []
        if leaf_id != departure.old_leaf_id:
            changes.append("leaf")
        if label:
            changes.append("labels")
        if changes:
            self._context.announce(conversation_id, leaf_id, *changes)
            self._context.announce_usage(conversation_id, usage)
        return NavigateResult(leaf_id=leaf_id, editor_text=departure.editor_text, summary_entry=summary)

    def _departure(self, conversation_id: str, target_id: str) -> Departure:
        store = self._context.stores.of_conversation(conversation_id)
        settings = self._context.settings.of(store.conversation(conversation_id).workspace_uri)
        return Departure.plan(read_path(store, conversation_id, settings), target_id)


def _announced(params: NavigateParams, departure: Departure) -> WillNavigateParams:
    return WillNavigateParams(
        conversation_id=params.conversation_id,
        target_id=params.target_id,
        old_leaf_id=departure.old_leaf_id,
        common_ancestor_id=departure.ancestor.id if departure.ancestor else None,
        entries_to_summarize=[row.id for row in departure.rows()],
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


def _store_move(departure: Departure, summary: BranchSummaryEntry | None, label: str) -> str | None:
    """Moves the leaf in one transaction with the summary. Refused when somebody moved it meanwhile.

    An empty label is none.
    """
    store, conversation_id, at = departure.path.store, departure.path.conversation.id, now()
    if summary is None:
        store.set_leaf(
            conversation_id,
            departure.new_leaf_id,
            modified_at=at,
            expected_leaf_id=departure.old_leaf_id,
        )
        if label:
            entry = _label(departure.target_id, label, at)
            store.append(conversation_id, [NewRecord(entry, Size())], modified_at=at)
        return departure.new_leaf_id
    records = [NewRecord(summary, size_of_entry(summary))]
    if label:
        records.append(NewRecord(_label(summary.id, label, at), Size()))
    try:
        done = store.append(
            conversation_id,
            records,
            parent_id=departure.new_leaf_id,
            expected_leaf_id=departure.old_leaf_id,
            modified_at=at,
        )
    except StaleLeafError as error:
        raise StaleLeafError(
            "The conversation went on while its branch was being summarized; nothing was changed. "
            "Look at it again before you navigate.",
            **error.data,
        ) from error
    return done.leaf_id


def _label(target_id: str, label: str, at: str) -> LabelEntry:
    return LabelEntry(id=new_entry_id(), parent_id=None, timestamp=at, target_id=target_id, label=label)
